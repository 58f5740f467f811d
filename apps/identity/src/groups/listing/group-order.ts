import { nearness } from '@rookery/persistence';
import type { Bind, OrderTerm } from '@rookery/persistence';
import type { GroupOrder } from './group-filters';

/**
 * The chosen column as asked, then id ascending; similarity: equal, then beginning so, then containing, and by name
 * when nothing is searched. Shape: `name` and `path` are the expressions of the group's. Source: reference identity-and-import 1.3, 2.2.
 */
export function groupOrder(
  bind: Bind,
  { order_by, sort, search }: GroupOrder & { readonly search?: string },
  { name, path } = { name: 'n.name', path: 'n.path' },
): readonly OrderTerm[] {
  if (order_by === 'id') return [['n.id', sort]];
  if (order_by === 'similarity' && search) {
    return [
      [nearness(bind(search, 'search'), ['n.name', 'n.path']), 'asc'],
      [name, 'asc'],
    ];
  }
  return [
    [order_by === 'path' ? path : name, sort],
    ['n.id', 'asc'],
  ];
}
