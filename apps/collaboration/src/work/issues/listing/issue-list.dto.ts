import { splitList, scalarToText } from '../../../base/noteables/list-values';
import { toLabelFilter } from '../../../planning/labels/labelling/label-filter';
import { toMilestoneFilter } from '../../../planning/milestones/assigning/milestone-params';
import { parseId, parseIdNoneOrAny } from '../../../planning/people/people-filter';
import type { Exclusion, IssueFilter, WeightFilter } from './issue-filter';
import type { ListAllIssues, ListIssues } from '../issues.dto';

/** Limit of names in an exclusion, the same as of other lists of parameters. */
const MOST_LABELS = 1000;

/**
 * Maps the parameters of a list to a filter. Filters by properties that no issue has yet: a value matches nothing,
 * `None` matches all, an exclusion excludes nothing. Source: reference work-tracking 9.1.
 */
export function toIssueFilter(params: ListIssues | ListAllIssues): IssueFilter {
  return {
    state: params.state,
    scope: params.scope.replaceAll('-', '_') as IssueFilter['scope'],
    people: {
      author: { id: params.author_id, username: params.author_username || undefined },
      assignee: { id: parseIdNoneOrAny('assignee_id', params.assignee_id), usernames: params.assignee_username },
    },
    iids: params.iids,
    issueType: params.issue_type,
    confidential: params.confidential,
    search: params.search,
    searchIn: params.in,
    createdAfter: params.created_after,
    createdBefore: params.created_before,
    updatedAfter: params.updated_after,
    updatedBefore: params.updated_before,
    dueDate: params.due_date,
    labels: toLabelFilter(params.labels),
    milestone: toMilestoneFilter(params.milestone, 'milestone_id', params.milestone_id),
    weight: parseWeight('weight', params.weight),
    epic: parseIdNoneOrAny('epic_id', params.epic_id),
    reaction: params.my_reaction_emoji || undefined,
    matchesNothing: hasUnsupportedIssueFilter(params),
    not: params.not && parseIssueExclusionFilter(params.not),
  };
}

function hasUnsupportedIssueFilter(params: ListIssues | ListAllIssues): boolean {
  const { iteration_id, iteration_title, health_status } = params;
  return [iteration_id, iteration_title, health_status].some(
    (value) => value !== undefined && value !== '' && !/^(none|0)$/i.test(value),
  );
}

function parseIssueExclusionFilter(not: Readonly<Record<string, unknown>>): Exclusion {
  const authorUsername = scalarToText(not['author_username']);
  const usernames = splitList(not['assignee_username']);
  const iids = not['iids'];
  return {
    author: { id: parseId('not[author_id]', scalarToText(not['author_id'])), username: authorUsername },
    assignee: { id: parseIdNoneOrAny('not[assignee_id]', scalarToText(not['assignee_id'])), usernames },
    labels: toLabelFilter(splitList(not['labels']).slice(0, MOST_LABELS)),
    milestone: toMilestoneFilter(
      scalarToText(not['milestone']),
      'not[milestone_id]',
      scalarToText(not['milestone_id']),
    ),
    weight: parseWeight('not[weight]', scalarToText(not['weight'])),
    epic: parseIdNoneOrAny('not[epic_id]', scalarToText(not['epic_id'])),
    reaction: scalarToText(not['my_reaction_emoji']) || undefined,
    iids: iids === undefined ? undefined : splitList(iids).map((iid) => parseId('not[iids]', iid) ?? 0),
  };
}

/** Parses a weight, `None` or `Any`; 0 is a weight. Errors: InvalidParameters. */
function parseWeight(name: string, value: string | undefined): WeightFilter | undefined {
  if (value !== undefined && /^(none|no weight)$/i.test(value)) return 'None';
  return value !== undefined && /^any( weight)?$/i.test(value) ? 'Any' : parseId(name, value);
}
