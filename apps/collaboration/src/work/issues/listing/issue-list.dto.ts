import { InvalidParameters } from '@rookery/kernel';
import { labelFilterOf } from '../../../planning/labels/labelling/label-filter';
import { milestoneIdentified, milestoneTitled } from '../../../planning/milestones/assigning/milestone-filter';
import type { MilestoneFilter } from '../../../planning/milestones/assigning/milestone-filter';
import type { Exclusion, IssueFilter, WeightFilter } from './issue-filter';
import type { ListAllIssues, ListIssues } from '../issues.dto';

/** How many names an exclusion takes, as many as other lists of parameters. */
const MOST_LABELS = 1000;

/**
 * Reads the parameters of a list as a filter. Filters by what no issue has yet are answered truthfully: asking for it
 * finds nothing, `None` finds all, excluding it excludes nothing. Source: reference work-tracking 9.1.
 */
export function filterOf(params: ListIssues | ListAllIssues): IssueFilter {
  return {
    state: params.state,
    scope: params.scope.replaceAll('-', '_') as IssueFilter['scope'],
    people: {
      authorId: params.author_id,
      authorUsername: params.author_username || undefined,
      assigneeId: someOf('assignee_id', params.assignee_id),
      assigneeUsernames: params.assignee_username,
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
    labels: labelFilterOf(params.labels),
    milestone: milestoneOf(params.milestone, 'milestone_id', params.milestone_id),
    weight: weightOf('weight', params.weight),
    epic: someOf('epic_id', params.epic_id),
    reaction: params.my_reaction_emoji || undefined,
    asksForMissing: asksForMissing(params),
    not: params.not && exclusionOf(params.not),
  };
}

function asksForMissing(params: ListIssues | ListAllIssues): boolean {
  const { iteration_id, iteration_title, health_status } = params;
  return [iteration_id, iteration_title, health_status].some(
    (value) => value !== undefined && value !== '' && !/^(none|0)$/i.test(value),
  );
}

function exclusionOf(not: Readonly<Record<string, unknown>>): Exclusion {
  const authorUsername = textOf(not['author_username']);
  const usernames = listOf(not['assignee_username']);
  const iids = not['iids'];
  return {
    authorId: idOf('not[author_id]', textOf(not['author_id'])),
    authorUsername,
    assigneeId: someOf('not[assignee_id]', textOf(not['assignee_id'])),
    assigneeUsernames: usernames,
    labels: labelFilterOf(listOf(not['labels']).slice(0, MOST_LABELS)),
    milestone: milestoneOf(textOf(not['milestone']), 'not[milestone_id]', textOf(not['milestone_id'])),
    weight: weightOf('not[weight]', textOf(not['weight'])),
    epic: someOf('not[epic_id]', textOf(not['epic_id'])),
    reaction: textOf(not['my_reaction_emoji']) || undefined,
    iids: iids === undefined ? undefined : listOf(iids).map((iid) => idOf('not[iids]', iid) ?? 0),
  };
}

/** An id, or whether there is any. */
function someOf(name: string, value: string | undefined): number | 'None' | 'Any' | undefined {
  if (value === undefined || value === '') return undefined;
  if (/^(none|0)$/i.test(value)) return 'None';
  return /^any$/i.test(value) ? 'Any' : idOf(name, value);
}

/** Zero is a weight. */
function weightOf(name: string, value: string | undefined): WeightFilter | undefined {
  if (value !== undefined && /^none$/i.test(value)) return 'None';
  return value !== undefined && /^any$/i.test(value) ? 'Any' : idOf(name, value);
}

function milestoneOf(title: string | undefined, name: string, id: string | undefined): MilestoneFilter | undefined {
  const meant = milestoneIdentified(id);
  if (meant === null) throw new InvalidParameters([`${name} does not have a valid value`]);
  return meant ?? milestoneTitled(title);
}

/** Errors: InvalidParameters. */
export function idOf(name: string, value: string | undefined): number | undefined {
  if (value === undefined || value === '') return undefined;
  const id = /^\d+$/.test(value) ? Number(value) : NaN;
  if (!Number.isSafeInteger(id)) throw new InvalidParameters([`${name} is invalid`]);
  return id;
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

export function listOf(value: unknown): string[] {
  const items = Array.isArray(value) ? (value as unknown[]) : (textOf(value)?.split(',') ?? []);
  return items.flatMap((item) => textOf(item)?.trim() ?? []).filter((item) => item !== '');
}
