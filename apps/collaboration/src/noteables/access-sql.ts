import { projectLevelSql } from '@rookery/directory';
import { ACCESS_LEVELS } from '@rookery/kernel';
import { readableSql } from './noteable-kinds';
import type { NoteableKind } from './noteable-kinds';

/** SQL expressions that say who reads: parameters of a list, or columns of the people that an effect is about. */
export interface PersonSql {
  /** User id, null for an anonymous caller. */
  readonly user: string;
  readonly isAdmin: string;
  readonly isExternal: string;
}

const { guest, planner, reporter, owner } = ACCESS_LEVELS;

/**
 * A lateral subquery with one row when the person may know of the project, none otherwise: what of it they read, and
 * what is shown of it. The rules are those of `readerOf`, for statements that cross projects.
 * Shape: columns `project_id`, `name`, `path`, `full_path`, `name_with_namespace`, `description`, `created_at`,
 * `traversal_ids`, `emails_enabled`, `reads_<feature>`, `is_member`, `reads_confidential`, `reads_internal`.
 * Source: reference identity-and-import 1.5; reference work-tracking 2.4, 9.1; ADR 0080.
 */
export function projectAccessSql(project: string, person: PersonSql): string {
  const level = projectLevelSql({ user: person.user, project: 'p.id', namespace: 'home' });
  const reads = (feature: string): string => `p.${feature}_access_level = 'enabled'
        or (p.${feature}_access_level = 'private' and held.level >= ${guest}) as reads_${feature}`;
  // Each `offset 0` is a fence: without the inner one the level's subquery would be written in the place of each use,
  // without the outer one the planner may judge every project there is and look for the wanted one afterwards.
  return `(select p.id as project_id, p.name, p.path, home.full_path || '/' || p.path as full_path,
      home.full_name || ' / ' || p.name as name_with_namespace, p.description, p.created_at, home.traversal_ids,
      p.emails_enabled, ${reads('issues')}, ${reads('merge_requests')}, ${reads('snippets')},
      held.level >= ${guest} as is_member, held.level >= ${planner} as reads_confidential,
      held.level >= ${reporter} as reads_internal
    from directory_projects p join directory_namespaces home on home.id = p.namespace_id
    cross join lateral (select case when ${person.isAdmin} then ${owner} when ${person.user} is null then 0
      else ${level} end as level offset 0) held
    where p.id = ${project} and (p.visibility = 'public' or held.level >= ${guest}
      or (p.visibility = 'internal' and ${person.user} is not null and not ${person.isExternal}))
    offset 0)`;
}

/** Boolean SQL: does a person see the thing that `type` and `id` name, wherever it is? False of what is gone. */
export function seesSql(
  kinds: readonly NoteableKind[],
  on: { readonly type: string; readonly id: string },
  person: PersonSql,
): string {
  const cases = kinds
    .filter(({ parent }) => parent === 'project')
    .map(
      (kind) => `when '${kind.type}' then exists (select 1 from ${kind.table} i
      cross join lateral ${projectAccessSql('i.project_id', person)} seen_there
      where i.id = ${on.id} and ${readableSql(kind, 'seen_there', person.user)})`,
    );
  return cases.length === 0 ? 'false' : `case ${on.type} ${cases.join(' ')} else false end`;
}
