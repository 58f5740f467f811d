import { Inject, Injectable } from '@nestjs/common';
import type { GroupScope } from '@rookery/api-v4';
import { Directory, withinGroupSql } from '@rookery/directory';
import type { JsonPage, JsonPageRow, PageRequest, Viewer } from '@rookery/kernel';
import { jsonPageOf } from '@rookery/kernel';
import { Database, CachedStatements, ListQuery } from '@rookery/persistence';
import type { Bind, SqlDraft, Statement } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { projectAccessRowSql } from '../../../base/noteables/access-sql';
import { jsonArraySql } from '../../../base/noteables/json.shape';
import type { ShapeSql } from '../../../base/noteables/json.shape';
import { labelOrMilestoneAppliesSql } from '../../../base/noteables/reach-sql';
import { unreachableLabelsSql } from '../../../planning/labels/labelling/label-filter';
import type { ReachSql } from '../../issues/listing/issue-filter';
import { mergeRequestTextBytesSql, mergeRequestShape, simpleMergeRequestShape } from '../merge-request.shape';
import { mergeRequestFilters, toMergeRequestLabelReach } from './merge-request-filter';
import type { MergeRequestFilter } from './merge-request-filter';
import {
  mergeRequestSorting,
  needsStrayLabelsForMergeRequests,
  composeMergeRequestPageStatementName,
} from './merge-request-order';
import type { MergeRequestOrder } from './merge-request-order';

/** Scope of a list: a group with its subgroups, or null for the whole instance. */
export interface MergeRequestPlaces {
  readonly group: Pick<GroupScope, 'id' | 'traversalIds'> | null;
  /** Excludes merge requests of archived projects. */
  readonly nonArchived: boolean;
}

/** Parameters of every statement here. `group` are the ids from the root down to the group, if there is one. */
export interface MergeRequestsEverywhereParams {
  readonly viewer: number | null;
  readonly is_admin: boolean;
  readonly is_external: boolean;
  readonly group?: readonly number[];
}

const PERSON = { user: ':viewer::bigint', isAdmin: ':is_admin::boolean', isExternal: ':is_external::boolean' };
const ABOVE_GROUP = ':group::bigint[]';
/** SQL expressions for labels and milestones that a project can use. `alias` is a row with the columns of a project. */
const labelAndMilestoneReachSql = (alias: string): ReachSql => {
  const project = { project: `${alias}.project_id`, above: `${alias}.traversal_ids` };
  return {
    person: PERSON,
    labels: toMergeRequestLabelReach({ ...project, strays: `${alias}.strays` }),
    milestones: labelOrMilestoneAppliesSql('m', project),
  };
};
const STRAYS = `, ${unreachableLabelsSql({ project: 'a.project_id', above: 'a.traversal_ids' })} as strays`;
const FILTERS = mergeRequestFilters(labelAndMilestoneReachSql('a'));
const ORDER = labelAndMilestoneReachSql('i');

/**
 * Lists merge requests of many projects. Access is computed once per project; the first merge requests of each are read
 * by its index. Source: reference repositories 8.7; docs/performance.md 5.1.
 */
@Injectable()
export class MergeRequestsEverywhereQueries {
  private readonly kept = new CachedStatements();
  private readonly listed: Readonly<Record<'plain' | 'labelled' | 'simple', ShapeSql>>;

  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    const rows = { fullPath: 'i.full_path', above: 'i.traversal_ids', readsInternal: 'i.reads_internal' };
    const sql = { externalUrl, ...rows, seenAs: 'i.seen_as', person: PERSON };
    this.listed = {
      plain: mergeRequestShape.toSql(sql),
      labelled: mergeRequestShape.toSql({ ...sql, withLabelDetails: true }),
      simple: simpleMergeRequestShape.toSql(sql),
    };
  }

  async list(
    viewer: Viewer,
    places: MergeRequestPlaces,
    filter: MergeRequestFilter,
    order: MergeRequestOrder,
    page: PageRequest,
  ): Promise<JsonPage> {
    await this.directory.requireFresh(viewer);
    const person = { viewer: viewer.userId, is_admin: viewer.isAdmin, is_external: viewer.isExternal };
    const values = { ...person, ...(places.group && { group: places.group.traversalIds }) };
    const [row] = await this.database.run(this.pageStatement(values, places, filter, order, page));
    return jsonPageOf(page, row!);
  }

  pageStatement(
    values: MergeRequestsEverywhereParams,
    places: MergeRequestPlaces,
    filter: MergeRequestFilter,
    order: MergeRequestOrder,
    page: PageRequest,
  ): Statement<JsonPageRow> {
    // Only lists of groups are usually unfiltered, so only they keep a prepared statement.
    const name =
      places.group && places.nonArchived ? composeMergeRequestPageStatementName('group', filter, order, page) : null;
    return this.kept.findOrCompose(name, values, (): SqlDraft => {
      const parts = {
        name: 'merge_requests',
        from: 'merge_requests i',
        carries: 'i.*',
        bytes: mergeRequestTextBytesSql(order),
      };
      const list = new ListQuery<never>({ ...parts, values })
        .narrow(FILTERS, filter)
        .orderBy(mergeRequestSorting(order, ORDER));
      const [strays, more] = needsStrayLabelsForMergeRequests(filter, order) ? [STRAYS, ', a.strays'] : ['', ''];
      const used = mergeRequestCandidateProjectsSql(places, filter, list.bind);
      const own = `(select own.*, a.full_path, a.traversal_ids, a.reads_internal, a.seen_as${more}
        from merge_requests own where own.project_id = a.project_id) i`;
      return list.fromEach(['read a', own]).jsonSql(page, {
        with: `read as materialized (${projectsWithReadableMergeRequestsSql(places, used, strays)})`,
        rows: (...rows) => jsonArraySql(this.chooseShape(order), ...rows),
      });
    });
  }

  private chooseShape({ withLabelDetails, isSimple }: MergeRequestOrder): ShapeSql {
    if (isSimple === true) return this.listed.simple;
    return withLabelDetails === true ? this.listed.labelled : this.listed.plain;
  }
}

/** Query for the candidate projects whose merge requests the viewer reads, with `furtherColumns` of each. */
function projectsWithReadableMergeRequestsSql(
  { group, nonArchived }: MergeRequestPlaces,
  candidatesSql: string,
  furtherColumns: string,
): string {
  // References are relative to the group: one of its own projects is named by the project's path alone.
  const seenAs = group ? `case when a.traversal_ids = ${ABOVE_GROUP} then a.path else a.full_path end` : 'a.full_path';
  return `select a.*, ${seenAs} as seen_as${furtherColumns} from (${candidatesSql}) used
    join directory_projects living on living.id = used.project_id${nonArchived ? ' and not living.archived' : ''}
    cross join lateral ${projectAccessRowSql('used.project_id', PERSON)} a where a.reads_merge_requests`;
}

/** Query for the candidate projects. It has the column `project_id`, without duplicates. */
function mergeRequestCandidateProjectsSql(
  { group }: MergeRequestPlaces,
  filter: MergeRequestFilter,
  bind: Bind,
): string {
  if (group) {
    const within = withinGroupSql({ namespace: 'home', traversalIds: ABOVE_GROUP });
    return `select p.id as project_id from directory_namespaces home
      join directory_projects p on p.namespace_id = home.id where ${within}`;
  }
  const { scope, people = {} } = filter;
  const user = (id: unknown, name: string): string | null =>
    typeof id === 'number' ? `${bind(id, name)}::bigint` : null;
  const assignee = scope === 'assigned_to_me' ? PERSON.user : user(people.assignee?.id, 'assignee');
  if (assignee !== null) return projectsWithAssignedUserSql('merge_request_assignees', assignee);
  const reviewer = scope === 'reviews_for_me' ? PERSON.user : user(people.reviewer?.id, 'reviewer');
  if (reviewer !== null) return projectsWithAssignedUserSql('merge_request_reviewers', reviewer);
  const author = scope === 'created_by_me' ? PERSON.user : user(people.author?.id, 'author');
  if (author !== null) return `select distinct own.project_id from merge_requests own where own.author_id = ${author}`;
  return 'select p.id as project_id from directory_projects p';
}

function projectsWithAssignedUserSql(peopleTable: string, user: string): string {
  return `select distinct own.project_id from ${peopleTable} s join merge_requests own on own.id = s.merge_request_id
    where s.user_id = ${user}`;
}
