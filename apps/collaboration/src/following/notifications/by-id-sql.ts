/**
 * Returns a join by primary key whose order the planner cannot change. A plan that was cached while tables were small
 * would else read all users or all e-mails to find a few. `id` is an SQL expression over the preceding tables. Source:
 * docs/performance.md 5.15.
 */
export function joinByIdSql(
  table: string,
  alias: string,
  id: string,
  condition = '',
  join: 'join' | 'left join' = 'join',
): string {
  return `${join} lateral (select ${alias}.* from ${table} ${alias} where ${alias}.id = ${id} ${condition} offset 0) ${alias} on true`;
}
