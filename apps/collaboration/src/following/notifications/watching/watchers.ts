import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { cachePerNoteableKind } from '../../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../../base/noteables/noteable-kinds';
import { isWatchSettingSql } from '../../notification-settings/effective-setting-sql';
import { joinByIdSql } from '../by-id-sql';
import { reachesWatchers, findSwitch } from '../composing/mail-templates';
import type { Notice } from '../noteable-mail-enqueuer';

/** Number of watchers of one place that one statement returns at most. */
export const WATCHERS_LIMIT = 500;

/** Users who watch one project or group. `noteable_ids` are those of the given noteables that belong to it. */
export interface WatchersOfPlace {
  readonly noteable_ids: readonly number[];
  readonly user_ids: readonly number[];
}

interface WatchersParams {
  readonly noteables: readonly number[];
  /** Only users with a greater id. */
  readonly after: number;
  readonly limit: number;
  readonly switches: readonly string[];
}

/** Subquery for the members of the project `p` or the group `home`. Includes some users whose membership has ended. */
export function possibleMembersSql({ parent }: Pick<NoteableKind, 'parent'>): string {
  const lent = (of: string): string => `select m.user_id from directory_shares s
      ${joinByIdSql('directory_namespaces', 'invited', 's.group_id')}
      join directory_memberships m on m.source_type = 'namespace' and m.source_id = any(invited.traversal_ids)
      where ${of}`;
  const own = (of: string): string => `select m.user_id from directory_memberships m where ${of}`;
  const inGroups = (row: string): string =>
    `${row}.source_type = 'namespace' and ${row}.source_id = any(home.traversal_ids)`;
  const inProject = (row: string): string => `${row}.source_type = 'project' and ${row}.source_id = p.id`;
  const places = parent === 'project' ? [inProject, inGroups] : [inGroups];
  return [...places.flatMap((of) => [own(of('m')), lent(of('s'))]), 'select home.owner_id'].join('\n    union all ');
}

/**
 * Users whose setting for a place, for a group above it, or in general (members only) is `watch`, or `custom` with one of
 * the switches. Some have another effective setting, which is checked when e-mails are queued.
 */
export const watchers = cachePerNoteableKind((kind) => {
  const isProject = kind.parent === 'project';
  const set = (where: string): string => `select s.user_id from notification_settings s
      where ${where} and s.user_id > :after::bigint and ${isWatchSettingSql('s', ':switches::text[]')}`;
  return statement<WatchersParams, WatchersOfPlace>(
    `${kind.table}_watchers`,
    `with general as materialized (
     ${set(`s.source_type = 'global' and s.source_id = 0`)}
   ), place as materialized (
     select i.${isProject ? 'project_id' : 'group_id'} as id, array_agg(distinct i.id) as noteable_ids
     from unnest(:noteables::bigint[]) as wanted (id) ${joinByIdSql(kind.table, 'i', 'wanted.id')} group by 1
   )
   select place.noteable_ids, watcher.user_ids
   from place
   ${isProject ? `${joinByIdSql('directory_projects', 'p', 'place.id')} ${joinByIdSql('directory_namespaces', 'home', 'p.namespace_id')}` : joinByIdSql('directory_namespaces', 'home', 'place.id')}
   cross join lateral (select array_agg(one.user_id order by one.user_id) as user_ids from (
     select near.user_id from (
       ${isProject ? `${set(`s.source_type = 'project' and s.source_id = p.id`)} union all` : ''}
       ${set(`s.source_type = 'namespace' and s.source_id = any(home.traversal_ids)`)}
       union all select general.user_id from (${possibleMembersSql(kind)}) member
         join general on general.user_id = member.user_id where (select true from general limit 1)) near
     group by near.user_id order by near.user_id limit :limit::integer) one) watcher
   where watcher.user_ids is not null`,
  );
});

/** Finds users who watch the places of notices, up to `WATCHERS_LIMIT` of each place. All notices are of one kind. */
export function findWatchers(
  tx: Tx,
  kind: NoteableKind,
  notices: readonly Pick<Notice, 'noteableId' | 'template'>[],
  after = 0,
): Promise<readonly WatchersOfPlace[]> {
  const watched = notices.filter(({ template }) => reachesWatchers(kind, template));
  if (watched.length === 0) return Promise.resolve([]);
  return tx.run(watchers(kind), {
    noteables: [...new Set(watched.map(({ noteableId }) => noteableId))],
    after,
    limit: WATCHERS_LIMIT,
    switches: [...new Set(watched.flatMap(({ template }) => findSwitch(kind, template) ?? []))],
  });
}
