/**
 * Fragments that answer "which level does this user hold here" over identity's own tables. They are written into hot
 * statements; each probes `members` by (user, source) once per ancestor, so the cost does not grow with tables.
 * Expiry is decided by the clock of the statement, in UTC: a membership is over on its `expires_on` day.
 * Source: reference identity-and-import 2.8; reliability-and-security 4.2 (6).
 */
const TODAY = `(now() at time zone 'utc')::date`;

export const live = (alias: string): string => `(${alias}.expires_on is null or ${alias}.expires_on > ${TODAY})`;

/** Level by memberships of a namespace, its ancestors, and of groups invited to any of them. `n` is an alias of namespaces, `user` an SQL expression. */
export function namespaceLevelSql(n: string, user: string): string {
  return `greatest(
    case when ${n}.owner_id = ${user} then 50 else 0 end,
    coalesce((select max(m.access_level) from members m
      where m.user_id = ${user} and m.source_type = 'namespace' and m.source_id = any(${n}.traversal_ids) and ${live('m')}), 0),
    ${sharedLevelSql('namespace', `any(${n}.traversal_ids)`, user)})`;
}

/** Level in a project: its own memberships and invited groups, and everything of its namespace. */
export function projectLevelSql(p: string, n: string, user: string): string {
  return `greatest(
    coalesce((select m.access_level from members m
      where m.user_id = ${user} and m.source_type = 'project' and m.source_id = ${p}.id and ${live('m')}), 0),
    ${sharedLevelSql('project', `${p}.id`, user)},
    ${namespaceLevelSql(n, user)})`;
}

function sharedLevelSql(source: 'namespace' | 'project', match: string, user: string): string {
  return `coalesce((select max(least(s.access_level, gm.access_level)) from shares s
      join namespaces g on g.id = s.group_id
      join members gm on gm.user_id = ${user} and gm.source_type = 'namespace' and gm.source_id = any(g.traversal_ids) and ${live('gm')}
      where s.source_type = '${source}' and s.source_id = ${match} and ${live('s')}), 0)`;
}

/** Groups and user namespaces in which the user holds at least `level`, by any way, as a sub-select of ids that are roots of what he reaches. */
export function reachedNamespaceIdsSql(user: string, level: string): string {
  return `select m.source_id from members m
      where m.user_id = ${user} and m.source_type = 'namespace' and m.access_level >= ${level} and ${live('m')}
    union select o.id from namespaces o where o.owner_id = ${user} and ${level} <= 50
    union select s.source_id from members gm
      join namespaces g on g.traversal_ids @> array[gm.source_id]
      join shares s on s.group_id = g.id and s.source_type = 'namespace' and s.access_level >= ${level} and ${live('s')}
      where gm.user_id = ${user} and gm.source_type = 'namespace' and gm.access_level >= ${level} and ${live('gm')}`;
}

/** Projects in which the user holds at least `level` by a membership or an invited group of the project itself. */
export function reachedProjectIdsSql(user: string, level: string): string {
  return `select m.source_id from members m
      where m.user_id = ${user} and m.source_type = 'project' and m.access_level >= ${level} and ${live('m')}
    union select s.source_id from members gm
      join namespaces g on g.traversal_ids @> array[gm.source_id]
      join shares s on s.group_id = g.id and s.source_type = 'project' and s.access_level >= ${level} and ${live('s')}
      where gm.user_id = ${user} and gm.source_type = 'namespace' and gm.access_level >= ${level} and ${live('gm')}`;
}

/**
 * May the viewer see the row? `viewer` is an SQL expression (null when anonymous), `isAdmin` and `isExternal` boolean
 * expressions. Level 5 (minimal) shows nothing: guests and above are members.
 */
export function visibleSql(row: string, level: string, viewer: { user: string; isAdmin: string; isExternal: string }): string {
  return `(${row}.visibility = 'public' or ${viewer.isAdmin}
    or (${viewer.user} is not null and ((${row}.visibility = 'internal' and not ${viewer.isExternal}) or ${level} >= 10)))`;
}
