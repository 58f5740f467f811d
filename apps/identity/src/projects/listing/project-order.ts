import type { Viewer } from '@rookery/kernel';
import { similarityOrderSql } from '@rookery/persistence';
import type { Bind, OrderTerm } from '@rookery/persistence';
import { isSizeOrder } from './project-filters';
import type { ProjectFilters } from './project-filters';

/** Sort order of rows `p` with the required joins. */
export interface ProjectSorting {
  readonly order: readonly OrderTerm[];
  /** Column that orders rows with equal values. */
  readonly unique: string;
  readonly join: string;
  /** Columns of `p` that the order uses. */
  readonly columns: readonly string[];
}

/**
 * Returns the order: the chosen column, then id in the same direction. An order by created_at is one by id. Orders by
 * size are for administrators. Source: reference identity-and-import 1.3, 2.7, 10.2.
 */
export function toProjectSorting(bind: Bind, viewer: Viewer, params: ProjectFilters): ProjectSorting {
  const { order_by, sort, search } = params;
  if (isSizeOrder(order_by) && viewer.isAdmin) {
    const join = ' join project_statistics measured on measured.project_id = p.id';
    return { order: [[`measured.${order_by}`, sort]], unique: 'measured.project_id', join, columns: ['id'] };
  }
  if (order_by === 'similarity') {
    const near: readonly OrderTerm[] = search
      ? [[similarityOrderSql(bind(search, 'search'), ['p.path', 'p.name']), 'asc']]
      : [];
    return createJoinlessProjectSorting([...near, ['p.name', 'asc']], ['id', 'name', 'path']);
  }
  if (order_by === 'id' || order_by === 'created_at' || isSizeOrder(order_by))
    return createJoinlessProjectSorting([['p.id', sort]], ['id']);
  return createJoinlessProjectSorting([[`p.${order_by}`, sort]], ['id', order_by]);
}

/** Names the order of a list that has no effect for the viewer: other callers than administrators get the default one. */
export function ignoredProjectOrderParameters({ order_by }: ProjectFilters, viewer: Viewer): readonly 'order_by'[] {
  return isSizeOrder(order_by) && !viewer.isAdmin ? ['order_by'] : [];
}

const createJoinlessProjectSorting = (order: readonly OrderTerm[], columns: readonly string[]): ProjectSorting => ({
  order,
  unique: 'p.id',
  join: '',
  columns,
});
