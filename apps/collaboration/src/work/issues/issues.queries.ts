import { Inject, Injectable } from '@nestjs/common';
import type { NamespaceFacts } from '@rookery/api-v4';
import type { JsonPage, JsonPageRow, PageRequest, Viewer } from '@rookery/kernel';
import { jsonPageOf, NotFound } from '@rookery/kernel';
import { Database, KeptStatements, ListQuery } from '@rookery/persistence';
import type { Draft, Parent, Statement } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { straysSql } from '../../planning/labels/labelling/label-filter';
import type { LabelReach } from '../../planning/labels/labelling/label-filter';
import { arraySql } from '../../base/noteables/json.shape';
import type { WrittenShape } from '../../base/noteables/json.shape';
import { readerOf, reads } from '../../base/noteables/reader';
import type { ParentFacts } from '../../base/noteables/reader';
import { reachedSql } from '../../base/noteables/reach-sql';
import { beyondWords, issueFilters } from './listing/issue-filter';
import type { IssueFilter } from './listing/issue-filter';
import { looksForStrays, pageName, sorting } from './listing/issue-order';
import type { IssueOrder } from './listing/issue-order';
import { foundByWords } from './listing/issue-search';
import type { FoundByWords } from './listing/issue-search';
import { issueKind } from './issue.kind';
import { issueBytes, issueDetailShape, issueShape } from './issue.shape';

/** What must be known of the project of an issue. Shape: any ProjectScope. */
export type IssueProject = ParentFacts &
  Extract<Parent, { readonly kind: 'project' }> & { readonly namespace: Pick<NamespaceFacts, 'plan'> };

// The first values of every statement here.
const READER = { viewer: '$2::bigint', isMember: '$3::boolean', readsConfidential: '$4::boolean' };
const READS_INTERNAL = '$5::boolean';
const FULL_PATH = '$6::text';
const GROUPS = '$7::bigint[]';
const PERSON = { user: READER.viewer, isAdmin: '$8::boolean', isExternal: '$9::boolean' };
const HERE = { project: '$1::bigint', above: GROUPS };
const VISIBLE = issueKind.visibleSql(READER);
const LABELS: LabelReach = { type: 'Issue', ...HERE, strays: '(select strays.ids from strays)' };
const STRAYS = `strays as materialized (select ${straysSql(HERE)} as ids)`;
const REACH = { person: PERSON, labels: LABELS, milestones: reachedSql('m', HERE) };
const FILTERS = issueFilters(REACH);

const HERE_ALONE = '(select $1::bigint as project_id) a';
/** Issues that have the words: few are looked up, of many the list is walked in its order. */
const waysOf = ({ areFew, hasThem }: FoundByWords): [each: string, part: string][] => [
  [`(select * from found where ${areFew}) f`, '(select * from issues own where own.id = f.issue_id) i'],
  [`(select 1 where not ${areFew}) f`, `(select * from issues own where own.project_id = $1::bigint and ${hasThem}) i`],
];

/** Reading issues of a project; rows that the reader may not see are left out by the statement itself. */
@Injectable()
export class IssuesQueries {
  private readonly listed: { readonly plain: WrittenShape; readonly labelled: WrittenShape };
  private readonly kept = new KeptStatements();
  private readonly oneSql: string;

  constructor(
    private readonly database: Database,
    @Inject(platformSettings.token) platform: SettingsOf<typeof platformSettings>,
  ) {
    const project = { fullPath: FULL_PATH, above: GROUPS };
    const sql = { externalUrl: platform.externalUrl, ...project, readsInternal: READS_INTERNAL, person: PERSON };
    this.listed = { plain: issueShape.over(sql), labelled: issueShape.over({ ...sql, withLabelDetails: true }) };
    const detail = issueDetailShape.over({ ...sql, viewer: READER.viewer });
    this.oneSql = `select ${detail.sql} as json from issues i where i.project_id = $1::bigint and i.iid = $10::bigint`;
  }

  /**
   * Shape: the issue as one JSON object.
   * Errors: NotFound when there is none that the viewer may see.
   */
  async find(viewer: Viewer, project: IssueProject, iid: number): Promise<string> {
    const { values, readsIssues } = readerValues(viewer, project);
    if (!readsIssues) throw new NotFound('Issue');
    return this.single('issues_one', `${this.oneSql} and ${VISIBLE}`, [...values, iid]);
  }

  /**
   * The answer to a write that was just allowed; shown even to somebody who could not ask for it, for instance a
   * stranger who opened a confidential issue.
   */
  async answer(viewer: Viewer, project: IssueProject, iid: number): Promise<string> {
    const { values } = readerValues(viewer, project);
    return this.single('issues_written', this.oneSql, [...values, iid]);
  }

  /** One statement: a count that stops past COUNT_LIMIT, and the page, cut by an index where the order has one. */
  async page(
    viewer: Viewer,
    project: IssueProject,
    filter: IssueFilter,
    order: IssueOrder,
    page: PageRequest,
  ): Promise<JsonPage> {
    const { values, readsIssues } = readerValues(viewer, project);
    if (!readsIssues) return { json: '[]', total: 0, hasNext: false };
    const [row] = await this.database.run<JsonPageRow>(this.pageStatement(values, filter, order, page));
    return jsonPageOf(page, row!);
  }

  pageStatement(values: readonly unknown[], filter: IssueFilter, order: IssueOrder, page: PageRequest): Statement {
    const kept = pageName('page', filter, order, page);
    return this.kept.statement(kept.name, [...values, ...kept.values], (): Draft => {
      const parts = { name: 'issues', from: 'issues i', carries: 'i.*', bytes: issueBytes(order), values };
      const list = new ListQuery<never>(parts);
      const words = foundByWords(filter, list.bind, HERE_ALONE);
      list
        .where('i.project_id = $1::bigint')
        .where(VISIBLE)
        .narrow(FILTERS, words ? beyondWords(filter) : filter)
        .orderBy(sorting(order, REACH));
      if (words) list.amongEach(...waysOf(words));
      const before = [...(looksForStrays(filter, order) ? [STRAYS] : []), ...(words ? [words.with] : [])];
      return list.json(page, {
        ...(before.length > 0 ? { with: before.join(', ') } : {}),
        rows: (...rows) => arraySql(this.shown(order), ...rows),
      });
    });
  }

  private shown({ withLabelDetails }: IssueOrder): WrittenShape {
    return withLabelDetails === true ? this.listed.labelled : this.listed.plain;
  }

  private async single(name: string, text: string, values: readonly unknown[]): Promise<string> {
    const statement = this.kept.statement(name, values, () => ({ text, values }));
    const [row] = await this.database.run<{ json: string }>(statement);
    if (!row) throw new NotFound('Issue');
    return row.json;
  }
}

/** The first nine values of every statement here. */
function readerValues(viewer: Viewer, project: IssueProject): { values: unknown[]; readsIssues: boolean } {
  const reader = readerOf(viewer, project);
  const { viewerId, isMember, readsConfidential, readsInternal } = reader;
  const access = [viewerId, isMember, readsConfidential, readsInternal];
  const place = [project.fullPath, project.namespace.traversalIds];
  const values = [project.id, ...access, ...place, viewer.isAdmin, viewer.isExternal];
  return { values, readsIssues: reads('issues', project, reader) };
}
