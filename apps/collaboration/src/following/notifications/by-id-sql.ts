/**
 * A join by key that no plan can turn round: plans are kept from when tables were small, and would go through all people,
 * or all e-mails, for a few. Shape: `id` is an SQL expression over what stands before. Source: docs/performance.md 5.15.
 */
export function byIdSql(
  table: string,
  alias: string,
  id: string,
  and = '',
  join: 'join' | 'left join' = 'join',
): string {
  return `${join} lateral (select ${alias}.* from ${table} ${alias} where ${alias}.id = ${id} ${and} offset 0) ${alias} on true`;
}
