import { Inject, Injectable } from '@nestjs/common';
import type { NamespaceFacts } from '@rookery/api-v4';
import type { JsonPage, JsonPageRow, PageRequest, Viewer } from '@rookery/kernel';
import { jsonPageOf, NotFound } from '@rookery/kernel';
import { Database, CachedStatements, ListQuery, statement } from '@rookery/persistence';
import type { DeclaredStatement, SqlDraft, Parent, Statement } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { unreachableLabelsSql } from '../../planning/labels/labelling/label-filter';
import type { LabelReach } from '../../planning/labels/labelling/label-filter';
import { jsonArraySql } from '../../base/noteables/json.shape';
import type { ShapeSql } from '../../base/noteables/json.shape';
import { createNoteableReader, canReadFeature } from '../../base/noteables/reader';
import type { ParentFacts } from '../../base/noteables/reader';
import { labelOrMilestoneAppliesSql } from '../../base/noteables/reach-sql';
import { removeMatchedIssueSearch, issueFilters } from './listing/issue-filter';
import type { IssueFilter } from './listing/issue-filter';
import { needsStrayLabelsForIssues, composeIssuePageStatementName, issueSorting } from './listing/issue-order';
import type { IssueOrder } from './listing/issue-order';
import { wordSearchSql } from './listing/issue-search';
import type { WordSearch } from './listing/issue-search';
import { issueKind } from './issue.kind';
import { issueTextBytesSql, issueDetailShape, issueShape } from './issue.shape';

/** Facts of an issue's project that queries and permissions need. Any ProjectScope fits. */
export type IssueProject = ParentFacts &
  Extract<Parent, { readonly kind: 'project' }> & { readonly namespace: Pick<NamespaceFacts, 'plan'> };

/** Parameters of every statement here. `groups` are the ids of the ancestor groups, from the root down. */
export interface IssueReaderParams {
  readonly project: number;
  readonly viewer: number | null;
  readonly is_member: boolean;
  readonly reads_confidential: boolean;
  readonly reads_internal: boolean;
  readonly full_path: string;
  readonly groups: readonly number[];
  readonly is_admin: boolean;
  readonly is_external: boolean;
}

type IssueStatement = DeclaredStatement<IssueReaderParams & { readonly iid: number }, { readonly json: string }>;

const READER = {
  viewer: ':viewer::bigint',
  isMember: ':is_member::boolean',
  readsConfidential: ':reads_confidential::boolean',
};
const READS_INTERNAL = ':reads_internal::boolean';
const FULL_PATH = ':full_path::text';
const GROUPS = ':groups::bigint[]';
const PERSON = { user: READER.viewer, isAdmin: ':is_admin::boolean', isExternal: ':is_external::boolean' };
const HERE = { project: ':project::bigint', above: GROUPS };
const VISIBLE = issueKind.visibleSql(READER);
const LABELS: LabelReach = { type: 'Issue', ...HERE, strays: '(select strays.ids from strays)' };
const STRAYS = `strays as materialized (select ${unreachableLabelsSql(HERE)} as ids)`;
const REACH = { person: PERSON, labels: LABELS, milestones: labelOrMilestoneAppliesSql('m', HERE) };
const FILTERS = issueFilters(REACH);

const HERE_ALONE = '(select :project::bigint as project_id) a';
/** Two ways to find issues by words: few matches are looked up by id; for many, the list is scanned in its order. */
const wordSearchAlternativesSql = ({ areFew, hasThem }: WordSearch): [each: string, part: string][] => [
  [`(select * from found where ${areFew}) f`, '(select * from issues own where own.id = f.issue_id) i'],
  [
    `(select 1 where not ${areFew}) f`,
    `(select * from issues own where own.project_id = :project::bigint and ${hasThem}) i`,
  ],
];

/** Reads issues of a project; each statement leaves out issues that the viewer may not see. */
@Injectable()
export class IssuesQueries {
  private readonly listed: { readonly plain: ShapeSql; readonly labelled: ShapeSql };
  private readonly kept = new CachedStatements();
  private readonly one: IssueStatement;
  private readonly written: IssueStatement;

  constructor(
    private readonly database: Database,
    @Inject(platformSettings.token) platform: SettingsOf<typeof platformSettings>,
  ) {
    const project = { fullPath: FULL_PATH, above: GROUPS };
    const sql = { externalUrl: platform.externalUrl, ...project, readsInternal: READS_INTERNAL, person: PERSON };
    this.listed = { plain: issueShape.toSql(sql), labelled: issueShape.toSql({ ...sql, withLabelDetails: true }) };
    const detail = issueDetailShape.toSql({ ...sql, viewer: READER.viewer });
    const oneSql = `select ${detail.sql} as json from issues i where i.project_id = :project::bigint and i.iid = :iid::bigint`;
    this.one = statement('issues_one', () => `${oneSql} and ${VISIBLE}`);
    this.written = statement('issues_written', () => oneSql);
  }

  /** Returns one issue as JSON text. Errors: NotFound if the viewer sees no such issue. */
  async findIssue(viewer: Viewer, project: IssueProject, iid: number): Promise<string> {
    const { values, readsIssues } = readerValues(viewer, project);
    if (!readsIssues) throw new NotFound('Issue');
    return this.queryIssueJson(this.one, values, iid);
  }

  /**
   * Returns an issue as JSON text after a permitted write, even to a viewer who may not read it. An example is a caller
   * without a role who opened a confidential issue.
   */
  async answer(viewer: Viewer, project: IssueProject, iid: number): Promise<string> {
    const { values } = readerValues(viewer, project);
    return this.queryIssueJson(this.written, values, iid);
  }

  /**
   * Returns a page of issues with one statement: a count that stops past COUNT_LIMIT, and the rows, by an index if the
   * order has one.
   */
  async list(
    viewer: Viewer,
    project: IssueProject,
    filter: IssueFilter,
    order: IssueOrder,
    page: PageRequest,
  ): Promise<JsonPage> {
    const { values, readsIssues } = readerValues(viewer, project);
    if (!readsIssues) return { json: '[]', total: 0, hasNext: false };
    const [row] = await this.database.run(this.pageStatement(values, filter, order, page));
    return jsonPageOf(page, row!);
  }

  pageStatement(
    values: IssueReaderParams,
    filter: IssueFilter,
    order: IssueOrder,
    page: PageRequest,
  ): Statement<JsonPageRow> {
    const kept = composeIssuePageStatementName('page', filter, order, page);
    return this.kept.findOrCompose(kept.name, { ...values, ...kept.values }, (): SqlDraft => {
      const parts = { name: 'issues', from: 'issues i', carries: 'i.*', bytes: issueTextBytesSql(order), values };
      const list = new ListQuery<never>(parts);
      const words = wordSearchSql(filter, list.bind, HERE_ALONE);
      list
        .where('i.project_id = :project::bigint')
        .where(VISIBLE)
        .narrow(FILTERS, words ? removeMatchedIssueSearch(filter) : filter)
        .orderBy(issueSorting(order, REACH));
      if (words) list.fromEach(...wordSearchAlternativesSql(words));
      const before = [...(needsStrayLabelsForIssues(filter, order) ? [STRAYS] : []), ...(words ? [words.with] : [])];
      return list.jsonSql(page, {
        ...(before.length > 0 ? { with: before.join(', ') } : {}),
        rows: (...rows) => jsonArraySql(this.chooseShape(order), ...rows),
      });
    });
  }

  private chooseShape({ withLabelDetails }: IssueOrder): ShapeSql {
    return withLabelDetails === true ? this.listed.labelled : this.listed.plain;
  }

  private async queryIssueJson(query: IssueStatement, values: IssueReaderParams, iid: number): Promise<string> {
    const [row] = await this.database.run(query, { ...values, iid });
    if (!row) throw new NotFound('Issue');
    return row.json;
  }
}

function readerValues(viewer: Viewer, project: IssueProject): { values: IssueReaderParams; readsIssues: boolean } {
  const reader = createNoteableReader(viewer, project);
  const values = {
    project: project.id,
    viewer: reader.viewerId,
    is_member: reader.isMember,
    reads_confidential: reader.readsConfidential,
    reads_internal: reader.readsInternal,
    full_path: project.fullPath,
    groups: project.namespace.traversalIds,
    is_admin: viewer.isAdmin,
    is_external: viewer.isExternal,
  };
  return { values, readsIssues: canReadFeature('issues', project, reader) };
}
