/**
 * Does a label or milestone count for things of a project? That of a group does while the group is above the project:
 * whoever reads the project may know nothing of a group that it has left. The same holds for things of a group. Shape:
 * boolean SQL; `thing` is the alias of a row of a project or group, the others are expressions, `project` null for things
 * of groups, `above` the ids of the groups above the project, or of the group and those above it.
 * Source: reference work-tracking 9.1.
 */
export function reachedSql(thing: string, o: { readonly project: string | null; readonly above: string }): string {
  if (o.project === null) return `${thing}.group_id = any(${o.above})`;
  return `(${thing}.project_id = ${o.project} or ${thing}.group_id = any(${o.above}))`;
}
