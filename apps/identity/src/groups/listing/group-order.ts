import { similarityOrderSql } from '@rookery/persistence';
import type { Bind, OrderTerm } from '@rookery/persistence';
import type { GroupOrder } from './group-filters';

/**
 * Returns the order: the chosen column, then id ascending. Similarity lists equal names first, then names that begin
 * with the search, then others; without a search it is an order by name. `name` and `path` are SQL expressions of the
 * group's columns. Source: reference identity-and-import 1.3, 2.2.
 */
export function groupOrderTerms(
  bind: Bind,
  { order_by, sort, search }: GroupOrder & { readonly search?: string },
  { name, path } = { name: 'n.name', path: 'n.path' },
): readonly OrderTerm[] {
  if (order_by === 'id') return [['n.id', sort]];
  if (order_by === 'similarity' && search) {
    return [
      [similarityOrderSql(bind(search, 'search'), ['n.name', 'n.path']), 'asc'],
      [name, 'asc'],
    ];
  }
  return [
    [order_by === 'path' ? path : name, sort],
    ['n.id', 'asc'],
  ];
}
