import { isUsualPage } from '@rookery/persistence';
import type { NamedValues, OrderTerm } from '@rookery/persistence';
import type { PageRequest } from '@rookery/kernel';
import { labelPrioritySql, filtersByLabelPresence } from '../../../planning/labels/labelling/label-filter';
import { milestoneDueDateSql } from '../../../planning/milestones/assigning/milestone-filter';
import { issuePositionSql } from '../reordering/positions';
import type { IssueFilter, ReachSql } from './issue-filter';
import { composeIssueSearchStatementKey } from './issue-search';

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
/** Order by a property that no issue has yet: only the tie-breaker orders. */
export const EMPTY_ORDERS = ['priority'] as const;

export interface IssueOrder {
  readonly orderBy: (typeof ISSUE_ORDERS)[number] | (typeof EMPTY_ORDERS)[number];
  readonly sort: 'asc' | 'desc';
  /** Labels as objects instead of names. */
  readonly withLabelDetails?: boolean;
}

/**
 * Order terms of a list. Issues without a due date, weight, due milestone or prioritized label come last in both
 * directions.
 */
export function issueSorting(
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
      return [[issuePositionSql('i'), sort]];
    case 'weight':
      return [['i.weight', sort, 'nulls last']];
    case 'milestone_due':
      return [[milestoneDueDateSql(milestones), sort, 'nulls last']];
    case 'label_priority':
      return [[labelPrioritySql(labels), sort, 'nulls last']];
    default:
      // No index has this expression. Without `+ 0` the planner would scan all issues of the database by id.
      return [['i.id + 0', sort]];
  }
}

/** Checks whether a list needs the stray labels: those that issues have but that the project can no longer use. */
export function needsStrayLabelsForIssues({ labels, not }: IssueFilter, { orderBy }: IssueOrder): boolean {
  return orderBy === 'label_priority' || filtersByLabelPresence(labels, not?.labels);
}

/**
 * Returns the name of the prepared statement for a first page filtered by state alone, or by state and words, as most
 * lists are. Planning one costs more than running it. `name` is null for a statement that is not kept. `values` are
 * those of the words.
 */
export function composeIssuePageStatementName(
  listName: string,
  { state = 'all', ...filter }: IssueFilter,
  { orderBy, sort, withLabelDetails }: IssueOrder,
  page: PageRequest,
): { readonly name: string | null; readonly values: NamedValues } {
  const isDated = orderBy === 'created_at' || orderBy === 'updated_at';
  const words = composeIssueSearchStatementKey(filter);
  const rest = words ? { ...filter, search: undefined, searchIn: undefined } : filter;
  if (!isUsualPage(page) || !isDated || withLabelDetails === true || !isUnfiltered(rest))
    return { name: null, values: {} };
  const name = `issues_${listName}_${state}_${orderBy}_${sort}_${page.perPage}`;
  return words ? { name: `${name}_${words.name}`, values: words.values } : { name, values: {} };
}

function isUnfiltered({ scope, people, not, matchesNothing, ...rest }: IssueFilter): boolean {
  const { author, assignee, ...excluded } = not ?? {};
  const persons = [people?.author, people?.assignee, author, assignee];
  const values = [rest, excluded, ...persons].flatMap((part) => Object.values(part ?? {}));
  return (scope ?? 'all') === 'all' && !matchesNothing && values.every((value) => value === undefined);
}
