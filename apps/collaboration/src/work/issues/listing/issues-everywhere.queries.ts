import { Inject, Injectable } from '@nestjs/common';
import type { GroupScope } from '@rookery/api-v4';
import { Directory, withinGroupSql } from '@rookery/directory';
import type { JsonPage, JsonPageRow, PageRequest, SignedInViewer, Viewer } from '@rookery/kernel';
import { jsonPageOf, NotFound } from '@rookery/kernel';
import { Database, CachedStatements, ListQuery, statement } from '@rookery/persistence';
import type { Bind, DeclaredStatement, SqlDraft, Statement } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { unreachableLabelsSql } from '../../../planning/labels/labelling/label-filter';
import { projectAccessRowSql } from '../../../base/noteables/access-sql';
import { jsonArraySql } from '../../../base/noteables/json.shape';
import type { ShapeSql } from '../../../base/noteables/json.shape';
import { canReadNoteableRowSql } from '../../../base/noteables/noteable-kinds';
import { labelOrMilestoneAppliesSql } from '../../../base/noteables/reach-sql';
import { issueKind } from '../issue.kind';
import { issueTextBytesSql, issueDetailShape, issueShape } from '../issue.shape';
import { removeMatchedIssueSearch, issueFilters } from './issue-filter';
import type { IssueFilter, ReachSql } from './issue-filter';
import { needsStrayLabelsForIssues, composeIssuePageStatementName, issueSorting } from './issue-order';
import type { IssueOrder } from './issue-order';
import { wordSearchSql } from './issue-search';
import type { WordSearch } from './issue-search';

/** Scope of a list: a group with its subgroups, or null for the whole instance. */
export interface IssuePlaces {
  readonly group: Pick<GroupScope, 'id' | 'traversalIds'> | null;
  /** Excludes issues of archived projects. */
  readonly nonArchived: boolean;
}

/** Parameters of every statement here. `group` are the ids from the root down to the group, if there is one. */
export interface IssuesEverywhereParams {
  readonly viewer: number | null;
  readonly is_admin: boolean;
  readonly is_external: boolean;
  readonly group?: readonly number[];
}

const PERSON = { user: ':viewer::bigint', isAdmin: ':is_admin::boolean', isExternal: ':is_external::boolean' };
const ABOVE_GROUP = ':group::bigint[]';
/**
 * SQL expressions for labels and milestones that a project can use. `alias` is a row with the columns of a project.
 */
const labelAndMilestoneReachSql = (alias: string): ReachSql => {
  const project = { project: `${alias}.project_id`, above: `${alias}.traversal_ids` };
  return {
    person: PERSON,
    labels: { type: 'Issue', ...project, strays: `${alias}.strays` },
    milestones: labelOrMilestoneAppliesSql('m', project),
  };
};
const STRAYS = `, ${unreachableLabelsSql({ project: 'a.project_id', above: 'a.traversal_ids' })} as strays`;
const FILTERS = issueFilters(labelAndMilestoneReachSql('a'));
const ORDER = labelAndMilestoneReachSql('i');
/** FROM item of a project's issues with `furtherColumns` of the project. `condition` is SQL on the alias `own`. */
const projectIssuesSql = (furtherColumns = '', condition = 'own.project_id = a.project_id'): string =>
  `(select own.*, a.full_path, a.traversal_ids, a.reads_internal, a.seen_as${furtherColumns} from issues own where ${condition}) i`;
/**
 * Two ways to find issues by words: few matches are looked up by id; for many, the issues of each project are scanned
 * in the list's order.
 */
const wordSearchAlternativesSql = (
  { areFew, hasThem }: WordSearch,
  furtherColumns: string,
): [each: string, part: string][] => [
  [
    `(select a.*, f.issue_id from found f join read a on a.project_id = f.project_id where ${areFew}) a`,
    projectIssuesSql(furtherColumns, 'own.id = a.issue_id and own.project_id = a.project_id'),
  ],
  [
    `(select * from read where not ${areFew}) a`,
    projectIssuesSql(furtherColumns, `own.project_id = a.project_id and ${hasThem}`),
  ],
];

/**
 * Lists issues of many projects. Access is computed once per project; the first issues of each are read by its index.
 * Source: reference work-tracking 9.1; docs/performance.md 5.1.
 */
@Injectable()
export class IssuesEverywhereQueries {
  private readonly kept = new CachedStatements();
  private readonly listed: { readonly plain: ShapeSql; readonly labelled: ShapeSql };
  private readonly one: DeclaredStatement<
    IssuesEverywhereParams & { readonly issue: number },
    { readonly json: string }
  >;

  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    const rows = { fullPath: 'i.full_path', above: 'i.traversal_ids', readsInternal: 'i.reads_internal' };
    const sql = { externalUrl, ...rows, seenAs: 'i.seen_as', person: PERSON };
    this.listed = { plain: issueShape.toSql(sql), labelled: issueShape.toSql({ ...sql, withLabelDetails: true }) };
    const detail = issueDetailShape.toSql({ ...sql, viewer: PERSON.user });
    const oneSql = `select ${detail.sql} as json from issues found
      cross join lateral (select access.*, access.full_path as seen_as from ${projectAccessRowSql('found.project_id', PERSON)} access) a
      cross join lateral ${projectIssuesSql()} where found.id = :issue::bigint and i.id = found.id
        and ${canReadNoteableRowSql(issueKind, 'a', PERSON.user)}`;
    this.one = statement('issues_by_id', () => oneSql);
  }

  /** Returns one issue by its id, as JSON text. Errors: NotFound if the viewer sees no such issue. */
  async findIssue(viewer: SignedInViewer, id: number): Promise<string> {
    await this.directory.requireFresh(viewer);
    const [row] = await this.database.run(this.one, { ...viewerValues(viewer), issue: id });
    if (!row) throw new NotFound('Issue');
    return row.json;
  }

  async list(
    viewer: Viewer,
    places: IssuePlaces,
    filter: IssueFilter,
    order: IssueOrder,
    page: PageRequest,
  ): Promise<JsonPage> {
    await this.directory.requireFresh(viewer);
    const values = { ...viewerValues(viewer), ...(places.group && { group: places.group.traversalIds }) };
    const [row] = await this.database.run(this.pageStatement(values, places, filter, order, page));
    return jsonPageOf(page, row!);
  }

  pageStatement(
    values: IssuesEverywhereParams,
    places: IssuePlaces,
    filter: IssueFilter,
    order: IssueOrder,
    page: PageRequest,
  ): Statement<JsonPageRow> {
    // Only lists of groups are usually unfiltered, so only they keep a prepared statement.
    const kept = composeIssuePageStatementName('group', filter, order, page);
    const name = places.group && places.nonArchived ? kept.name : null;
    return this.kept.findOrCompose(name, { ...values, ...kept.values }, (): SqlDraft => {
      const list = new ListQuery<never>({
        name: 'issues',
        from: 'issues i',
        carries: 'i.*',
        bytes: issueTextBytesSql(order),
        values,
      });
      const isEverywhere = !places.group && includesAllAuthorsAndAssignees(filter);
      const words = wordSearchSql(filter, list.bind, isEverywhere ? null : 'read a');
      list
        .where(canReadNoteableRowSql(issueKind, 'a', PERSON.user))
        .narrow(FILTERS, words ? removeMatchedIssueSearch(filter) : filter)
        .orderBy(issueSorting(order, ORDER));
      const [strays, more] = needsStrayLabelsForIssues(filter, order) ? [STRAYS, ', a.strays'] : ['', ''];
      const candidates = issueCandidateProjectsSql(places, filter, list.bind);
      const read = `read as materialized (${projectsWithReadableIssuesSql(places, candidates, strays)})`;
      const ways: [string, string][] = words
        ? wordSearchAlternativesSql(words, more)
        : [['read a', projectIssuesSql(more)]];
      return list.fromEach(...ways).jsonSql(page, {
        with: words ? `${read}, ${words.with}` : read,
        rows: (...rows) =>
          jsonArraySql(order.withLabelDetails === true ? this.listed.labelled : this.listed.plain, ...rows),
      });
    });
  }
}

function viewerValues({ userId, isAdmin, isExternal }: Viewer): IssuesEverywhereParams {
  return { viewer: userId, is_admin: isAdmin, is_external: isExternal };
}

/** Query for the candidate projects whose issues the viewer reads, with `furtherColumns` of each. */
function projectsWithReadableIssuesSql(
  { group, nonArchived }: IssuePlaces,
  candidatesSql: string,
  furtherColumns: string,
): string {
  // References are relative to the group: an issue of one of its own projects is named by the project's path alone.
  const own = `a.traversal_ids = ${ABOVE_GROUP}`;
  const seenAs = group ? `case when ${own} then a.path else a.full_path end` : 'a.full_path';
  return `select a.*, ${seenAs} as seen_as${furtherColumns} from (${candidatesSql}) used
    join directory_projects living on living.id = used.project_id${nonArchived ? ' and not living.archived' : ''}
    cross join lateral ${projectAccessRowSql('used.project_id', PERSON)} a where a.reads_issues`;
}

/** Checks whether a list includes issues of all authors and assignees. */
function includesAllAuthorsAndAssignees({ scope = 'all', people }: IssueFilter): boolean {
  return scope === 'all' && typeof people?.assignee?.id !== 'number' && people?.author?.id === undefined;
}

/** Query for the candidate projects. It has the column `project_id`, without duplicates. */
function issueCandidateProjectsSql({ group }: IssuePlaces, { scope, people }: IssueFilter, bind: Bind): string {
  if (group) {
    const within = withinGroupSql({ namespace: 'home', traversalIds: ABOVE_GROUP });
    return `select p.id as project_id from directory_namespaces home
      join directory_projects p on p.namespace_id = home.id where ${within}`;
  }
  const assignee =
    typeof people?.assignee?.id === 'number' ? `${bind(people.assignee.id, 'assignee')}::bigint` : undefined;
  if (scope === 'assigned_to_me' || assignee !== undefined) {
    return `select distinct own.project_id from issue_assignees s join issues own on own.id = s.issue_id
      where s.user_id = ${assignee ?? PERSON.user}`;
  }
  const author = people?.author?.id === undefined ? undefined : `${bind(people.author.id, 'author')}::bigint`;
  if (scope === 'created_by_me' || author !== undefined) {
    return `select distinct own.project_id from issues own where own.author_id = ${author ?? PERSON.user}`;
  }
  return 'select p.id as project_id from directory_projects p';
}
