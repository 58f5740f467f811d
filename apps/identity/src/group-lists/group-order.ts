import type { ListStatement } from '../listing/list-statement';
import type { GroupOrder } from './group-filters';

/**
 * The chosen column as asked, then id ascending; similarity: equal, then beginning so, then containing, and by name
 * when nothing is searched. Shape: `name` is the expression of the group's name. Source: reference identity-and-import 1.3, 2.2.
 */
export function orderSql(
  statement: ListStatement,
  { order_by, sort, search }: GroupOrder & { readonly search?: string },
  name = 'n.name',
): string {
  if (order_by === 'similarity' && search) return `${nearness(statement, search)}, ${name}, n.id`;
  if (order_by === 'id') return `n.id ${sort}`;
  return `${order_by === 'path' ? 'n.path' : name} ${sort}, n.id asc`;
}

function nearness(statement: ListStatement, search: string): string {
  const text = statement.bind(search);
  return `case when lower(n.name) = lower(${text}) or lower(n.path) = lower(${text}) then 0
    when starts_with(lower(n.name), lower(${text})) or starts_with(lower(n.path), lower(${text})) then 1 else 2 end`;
}
