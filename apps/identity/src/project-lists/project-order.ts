import type { Viewer } from '@rookery/kernel';
import type { ListStatement } from '../listing/list-statement';
import { isSizeOrder } from './project-filters';
import type { ProjectFilters } from './project-filters';

/** An ORDER BY list over rows `p`, and what has to be joined for it. */
export interface OrderedBy {
  readonly order: string;
  readonly join: string;
}

/**
 * The chosen column, then id in the same direction; created_at is the order of ids. Sizes are the administrators'.
 * Source: reference identity-and-import 1.3, 2.7, 10.2.
 */
export function orderedBy(statement: ListStatement, viewer: Viewer, params: ProjectFilters): OrderedBy {
  const { order_by, sort, search } = params;
  if (isSizeOrder(order_by) && viewer.isAdmin) {
    const join = ' join project_statistics measured on measured.project_id = p.id';
    return { order: `measured.${order_by} ${sort}, measured.project_id ${sort}`, join };
  }
  if (order_by === 'similarity') return plain(search ? nearest(statement, search) : 'p.name asc, p.id asc');
  if (order_by === 'id' || order_by === 'created_at' || isSizeOrder(order_by)) return plain(`p.id ${sort}`);
  return plain(`p.${order_by} ${sort}, p.id ${sort}`);
}

const plain = (order: string): OrderedBy => ({ order, join: '' });

/** Equal, then beginning so, then the rest. */
function nearest(statement: ListStatement, search: string): string {
  const text = statement.bind(search);
  return `case when lower(p.path) = lower(${text}) or lower(p.name) = lower(${text}) then 0
    when starts_with(lower(p.path), lower(${text})) or starts_with(lower(p.name), lower(${text})) then 1 else 2 end, p.name, p.id`;
}
