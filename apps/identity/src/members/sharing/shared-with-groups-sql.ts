import type { Viewer } from '@rookery/kernel';
import { isMembershipOrShareUnexpiredSql } from '../../directory/reach/reach-sql';
import { isGroupVisibleSql } from '../../directory/reach/seen-sql';

// A type instead of an interface, because `object()` requires an index signature, which only types have.
export type SharedWithGroup = {
  readonly group_id: number;
  readonly group_name: string;
  readonly group_full_path: string;
  readonly group_access_level: number;
  readonly expires_at: string | null;
};

/**
 * SQL: `shared_with_groups` of a group or project: a JSON array in the order of sharing, with the groups that the
 * viewer can see and whose share has not expired. `id` and `user` are SQL expressions of the group's or project's id
 * and of the viewer's; the text contains `user` only for viewers who are not administrators. Source: reference
 * identity-and-import 2.3, 2.6.
 */
export function sharedWithGroupsSql(
  viewer: Viewer,
  { source, id, user }: { source: 'namespace' | 'project'; id: string; user: string },
): string {
  return `coalesce((select json_agg(json_build_object('group_id', invited.id, 'group_name', invited.name,
        'group_full_path', invited.full_path, 'group_access_level', given.access_level, 'expires_at', given.expires_on)
      order by given.id)
    from shares given join namespaces invited on invited.id = given.group_id
    where given.source_type = '${source}' and given.source_id = ${id} and ${isMembershipOrShareUnexpiredSql('given')}
      and ${isGroupVisibleSql(viewer, { namespace: 'invited', user })}), '[]')`;
}
