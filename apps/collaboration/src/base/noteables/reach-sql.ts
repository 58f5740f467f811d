/**
 * Boolean SQL: does a label or milestone apply to noteables of a project? Those of a group apply only while the group
 * is an ancestor of the project, since readers of the project may not see a group that it has left. The same holds for
 * noteables of groups. `row` is the alias of the label or milestone; the others are expressions. `project` is null for
 * noteables of groups; `above` holds the ids of the project's ancestor groups, or of the group and its ancestors.
 * Source: reference work-tracking 9.1.
 */
export function labelOrMilestoneAppliesSql(
  row: string,
  o: { readonly project: string | null; readonly above: string },
): string {
  if (o.project === null) return `${row}.group_id = any(${o.above})`;
  return `(${row}.project_id = ${o.project} or ${row}.group_id = any(${o.above}))`;
}
