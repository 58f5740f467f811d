import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import type { NotificationSwitch } from './notification-switches';

/**
 * Lateral join to the effective setting of the user `u` for the place of the access `a`. The effective setting is that
 * of the project, else of the nearest group, else the general one. Levels `global` are skipped. The alias `setting` has
 * the columns `level`, `switches` and `is_near`, which is true for the setting of a group or project. All are null
 * without a setting, which means the level `participating`.
 * Source: reference work-tracking 8.1, 8.2.
 */
export function effectiveNotificationSettingSql({ parent }: Pick<NoteableKind, 'parent'>): string {
  const ofProject = `union all select 'project', a.project_id, ${PROJECT_DEPTH}`;
  // Epics have a switch in groups with the highest plan only.
  const switches =
    parent === 'project'
      ? 's.switches'
      : `case (select n.plan from directory_namespaces n where n.id = a.group_id) when 'ultimate'
        then s.switches else s.switches - 'new_epic' end`;
  // Most users have no setting, so the condition on the user alone comes first.
  return `left join lateral (
      select s.level, ${switches} as switches, place.type <> 'global' as is_near
      from (select 'global' as type, 0::bigint as id, 0::bigint as depth
        union all select 'namespace', above.id, above.depth from unnest(a.traversal_ids) with ordinality as above (id, depth)
        ${parent === 'project' ? ofProject : ''}) place
      cross join lateral (select s.level, s.switches from notification_settings s
        where s.user_id = u.id and s.source_type = place.type and s.source_id = place.id and s.level <> 'global' offset 0) s
      where (select true from notification_settings other where other.user_id = u.id limit 1)
      order by place.depth desc limit 1) setting on true`;
}
/** Greater than the depth of any group. */
const PROJECT_DEPTH = 1_000_000;

/**
 * Boolean SQL: does the setting `setting` turn on e-mails about a whole place? Users with the level `custom` count if one of
 * the given switches is on. `switches` is a text[] expression for switches that are off by default.
 */
export function isWatchSettingSql(setting: string, switches: string): string {
  return `${setting}.level in ('watch', 'custom') and (${setting}.level = 'watch'
    or exists (select 1 from unnest(${switches}) as wanted (name) where (${setting}.switches ->> wanted.name)::boolean))`;
}

/** Boolean SQL: is a switch on that is off by default? `switches` is a jsonb expression. */
export function switchOnSql(switches: string, name: NotificationSwitch): string {
  return `coalesce((${switches} ->> '${name}')::boolean, false)`;
}
