import type { Bind } from '@rookery/persistence';
import type { ProjectSet } from '../../projects/listing/project-lists.queries';
import { isMembershipOrShareUnexpiredSql } from '../../directory/reach/reach-sql';

/** Sources of projects in addition to a group's own ones. */
export interface GroupProjectsRange {
  readonly with_shared: boolean;
  readonly include_subgroups: boolean;
  readonly include_ancestor_groups: boolean;
}

interface GroupWithAncestors {
  readonly id: number;
  readonly traversalIds: readonly number[];
}

/**
 * SQL: projects of a group. For members of the group (`isInside`) projects in its tree are visible, so the visibility
 * rule is only evaluated for the others. Source: reference identity-and-import 2.7.
 */
export function projectsOfGroup(group: GroupWithAncestors, isInside: boolean, range: GroupProjectsRange): ProjectSet {
  return {
    parts: (bind) => groupProjectSelectsSql(bind, group, isInside, range),
    seen: (general) => (general === 'true' ? general : `(p.is_known or ${general})`),
  };
}

function groupProjectSelectsSql(
  bind: Bind,
  group: GroupWithAncestors,
  isInside: boolean,
  range: GroupProjectsRange,
): string[] {
  const id = `${bind(group.id, 'group')}::bigint`;
  const ancestors = group.traversalIds.filter((ancestor) => ancestor !== group.id);
  const tree = `in (select below.namespace_id from namespace_ancestors below where below.ancestor_id = ${id})`;
  const own = range.include_subgroups ? tree : `= ${id}`;
  const above =
    range.include_ancestor_groups && ancestors.length > 0 ? `= any(${bind(ancestors, 'ancestors')}::bigint[])` : null;
  const listed = [
    selectProjectsSql(isInside, `q.namespace_id ${own}`),
    ...(above ? [selectProjectsSql(false, `q.namespace_id ${above}`)] : []),
  ];
  if (!range.with_shared) return listed;
  // Excludes projects that the other parts already contain.
  const elsewhere = [own, above].flatMap((home) => (home ? [`not q.namespace_id ${home}`] : [])).join(' and ');
  return [...listed, selectProjectsSql(false, `q.id = ${anyProjectIdSharedWithGroupSql(id)} and ${elsewhere}`)];
}

const selectProjectsSql = (isKnownVisible: boolean, condition: string): string =>
  `select q.*, ${isKnownVisible} as is_known from projects q where ${condition}`;

/** SQL: projects that are shared with the group itself; expired shares do not count. */
export function projectsSharedWith(groupId: number): ProjectSet {
  return { where: (bind) => `p.id = ${anyProjectIdSharedWithGroupSql(`${bind(groupId, 'group')}::bigint`)}` };
}

/**
 * SQL: ids of shared projects, as an array, so that the few projects are read by id instead of by a scan of all
 * projects.
 */
function anyProjectIdSharedWithGroupSql(groupId: string): string {
  return `any(array(select given.source_id from shares given where given.source_type = 'project' and given.group_id = ${groupId}
    and ${isMembershipOrShareUnexpiredSql('given')}))`;
}
