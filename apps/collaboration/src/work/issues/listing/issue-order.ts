import { isUsualPage } from '@rookery/persistence';
import type { NamedValues, OrderTerm } from '@rookery/persistence';
import type { PageRequest } from '@rookery/kernel';
import { labelPrioritySql, asksForAny } from '../../../planning/labels/labelling/label-filter';
import { milestoneDueSql } from '../../../planning/milestones/assigning/milestone-filter';
import { positionSql } from '../reordering/positions';
import type { IssueFilter, ReachSql } from './issue-filter';
import { keptSearch } from './issue-search';

export const ISSUE_ORDERS = [
  'created_at',
  'updated_at',
  'due_date',
  'title',
  'label_priority',
  'milestone_due',
  'popularity',
  'relative_position',
  'weight',
] as const;
/** An order by what no issue has yet: it leaves the order to the tie-breaker. */
export const EMPTY_ORDERS = ['priority'] as const;

export interface IssueOrder {
  readonly orderBy: (typeof ISSUE_ORDERS)[number] | (typeof EMPTY_ORDERS)[number];
  readonly sort: 'asc' | 'desc';
  /** Labels as objects instead of names. */
  readonly withLabelDetails?: boolean;
}

/** Issues without a due date, a weight, a milestone that is due or a label that counts come last in either direction. */
export function sorting(
  { orderBy, sort }: IssueOrder,
  { labels, milestones }: Pick<ReachSql, 'labels' | 'milestones'>,
): readonly OrderTerm[] {
  switch (orderBy) {
    case 'created_at':
    case 'updated_at':
    case 'title':
      return [[`i.${orderBy}`, sort]];
    case 'popularity':
      return [['i.upvotes_count', sort]];
    case 'due_date':
      return [['i.due_on', sort, 'nulls last']];
    case 'relative_position':
      return [[positionSql('i'), sort]];
    case 'weight':
      return [['i.weight', sort, 'nulls last']];
    case 'milestone_due':
      return [[milestoneDueSql(milestones), sort, 'nulls last']];
    case 'label_priority':
      return [[labelPrioritySql(labels), sort, 'nulls last']];
    default:
      // No index has this: left to itself the planner goes through all issues there are by their ids.
      return [['i.id + 0', sort]];
  }
}

/** Does a list ask which labels reach the project? */
export function looksForStrays({ labels, not }: IssueFilter, { orderBy }: IssueOrder): boolean {
  return orderBy === 'label_priority' || asksForAny(labels, not?.labels);
}

/**
 * The name of a first page by state alone, or by state and words, which is what most lists are: planning one costs more than
 * running it. Shape: `name` is null for a statement that is not kept; `values` are those of the words.
 */
export function pageName(
  of: string,
  { state = 'all', ...filter }: IssueFilter,
  { orderBy, sort, withLabelDetails }: IssueOrder,
  page: PageRequest,
): { readonly name: string | null; readonly values: NamedValues } {
  const isDated = orderBy === 'created_at' || orderBy === 'updated_at';
  const words = keptSearch(filter);
  const rest = words ? { ...filter, search: undefined, searchIn: undefined } : filter;
  if (!isUsualPage(page) || !isDated || withLabelDetails === true || !isPlain(rest)) return { name: null, values: {} };
  const name = `issues_${of}_${state}_${orderBy}_${sort}_${page.perPage}`;
  return words ? { name: `${name}_${words.name}`, values: words.values } : { name, values: {} };
}

function isPlain({ scope, people, not, asksForMissing, ...rest }: IssueFilter): boolean {
  const values = [...Object.values(rest), ...Object.values(people ?? {}), ...Object.values(not ?? {})];
  return (scope ?? 'all') === 'all' && !asksForMissing && values.every((value) => value === undefined);
}
