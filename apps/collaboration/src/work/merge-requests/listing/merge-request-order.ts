import type { PageRequest } from '@rookery/kernel';
import { isUsualPage } from '@rookery/persistence';
import type { OrderTerm } from '@rookery/persistence';
import { filtersByLabelPresence, labelPrioritySql } from '../../../planning/labels/labelling/label-filter';
import { milestoneDueDateSql } from '../../../planning/milestones/assigning/milestone-filter';
import type { ReachSql } from '../../issues/listing/issue-filter';
import type { MergeRequestFilter } from './merge-request-filter';

export const MERGE_REQUEST_ORDERS = [
  'created_at',
  'updated_at',
  'merged_at',
  'title',
  'label_priority',
  'milestone_due',
  'popularity',
  'priority',
] as const;

export interface MergeRequestOrder {
  readonly orderBy: (typeof MERGE_REQUEST_ORDERS)[number];
  readonly sort: 'asc' | 'desc';
  /** Labels as objects instead of names. */
  readonly withLabelDetails?: boolean;
  /** Only the few fields of `view=simple`. */
  readonly isSimple?: boolean;
}

/** Order terms of a list. Merge requests without the property come last in both directions. */
export function mergeRequestSorting(
  { orderBy, sort }: MergeRequestOrder,
  { labels, milestones }: Pick<ReachSql, 'labels' | 'milestones'>,
): readonly OrderTerm[] {
  switch (orderBy) {
    case 'created_at':
    case 'updated_at':
    case 'title':
      return [[`i.${orderBy}`, sort]];
    case 'merged_at':
      return [['i.merged_at', sort, 'nulls last']];
    case 'popularity':
      return [['i.upvotes_count', sort]];
    case 'milestone_due':
      return [[milestoneDueDateSql(milestones), sort, 'nulls last']];
    case 'label_priority':
      return [[labelPrioritySql(labels), sort, 'nulls last']];
    case 'priority':
      return [
        [milestoneDueDateSql(milestones), sort, 'nulls last'],
        [labelPrioritySql(labels), sort, 'nulls last'],
      ];
  }
}

/** Checks whether a list needs the stray labels: those that merge requests have but that the project can no longer use. */
export function needsStrayLabelsForMergeRequests(
  { labels, not }: MergeRequestFilter,
  { orderBy }: MergeRequestOrder,
): boolean {
  return orderBy === 'label_priority' || orderBy === 'priority' || filtersByLabelPresence(labels, not?.labels);
}

/**
 * Returns the name of the prepared statement for a first page filtered by state alone, as most lists are. Planning one
 * costs more than running it. Returns null for a statement that is not kept.
 */
export function composeMergeRequestPageStatementName(
  listName: string,
  { state = 'all', scope = 'all', ...filter }: MergeRequestFilter,
  { orderBy, sort, withLabelDetails, isSimple }: MergeRequestOrder,
  page: PageRequest,
): string | null {
  const isDated = orderBy === 'created_at' || orderBy === 'updated_at';
  const isPlain = scope === 'all' && withLabelDetails !== true && isSimple !== true && isEmptyFilter(filter);
  if (!isUsualPage(page) || !isDated || !isPlain) return null;
  return `merge_requests_${listName}_${state}_${orderBy}_${sort}_${page.perPage}`;
}

/** Checks whether no part of a filter is given. */
function isEmptyFilter(value: unknown): boolean {
  if (value === undefined) return true;
  const isPart = typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
  return isPart && Object.values(value).every(isEmptyFilter);
}
