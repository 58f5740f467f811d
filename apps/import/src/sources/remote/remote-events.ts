import { hashedId } from '../hashed-ids';
import { toFields, isId, parseText, parseTime } from '../upstream-fields';
import type { Fields } from '../upstream-fields';
import type { UpstreamEvent } from '../upstream-objects';
import { nameOfLabel, parseRemotePerson } from './remote-fields';
import { isPullRequest } from './remote-objects';

type EventChange = UpstreamEvent['change'];

/** Changes by their upstream names. Source: reference identity-and-import 6.6. */
const CHANGES: ReadonlyMap<unknown, EventChange> = new Map<string, EventChange>([
  ['closed', 'closed'],
  ['reopened', 'reopened'],
  ['merged', 'merged'],
  ['labeled', 'label_added'],
  ['unlabeled', 'label_removed'],
  ['milestoned', 'milestone_added'],
  ['demilestoned', 'milestone_removed'],
  ['renamed', 'renamed'],
  ['assigned', 'assigned'],
  ['unassigned', 'unassigned'],
  ['review_requested', 'review_requested'],
  ['review_request_removed', 'review_request_removed'],
  ['cross-referenced', 'mentioned'],
]);
/** Maximum length of a title or of the name of a team; the rest is cut off. Units: characters. */
const MAX_NAME = 1024;

/** An event in the timeline of an issue or a pull request. */
interface TimelineEntry {
  readonly event: Fields;
  readonly of: unknown;
}

/** Returns the path of the timeline of an issue or a pull request; null for a malformed one. */
export function timelinePathOf(issue: unknown): string | null {
  const { number } = toFields(issue);
  return isId(number) ? `/issues/${number}/timeline` : null;
}

/** Timelines also have comments, commits and reviews, which are in other lists. Entries do not name their issue. */
export function listTimelineEntries(entry: unknown, issue: unknown): readonly TimelineEntry[] {
  const event = toFields(entry);
  const isMention = event['event'] === 'cross-referenced';
  const isWanted = isMention ? mentioningItemReference(event, issue) !== null : CHANGES.has(event['event']);
  return isWanted ? [{ event, of: issue }] : [];
}

export function parseEvent(entry: unknown): UpstreamEvent | null {
  const { event, of } = entry as TimelineEntry;
  const { number } = toFields(of);
  const [change, createdAt] = [CHANGES.get(event['event']), parseTime(event['created_at'])];
  if (!isId(number) || change === undefined || createdAt === null) return null;
  const name = nameOfEventSubject(change, event, of);
  const id = isId(event['id']) ? event['id'] : hashedId(JSON.stringify([number, change, name, createdAt]));
  const on = { number, isOnPullRequest: isPullRequest(of) };
  const before = parseText(toFields(event['rename'])['from'], MAX_NAME);
  return { id, ...on, author: parseRemotePerson(event['actor']), change, name, before, createdAt };
}

function nameOfEventSubject(change: EventChange, event: Fields, item: unknown): string | null {
  const login = (field: string): string => parseRemotePerson(event[field]).username;
  if (change === 'mentioned') return mentioningItemReference(event, item);
  if (change.startsWith('label')) return nameOfLabel(event['label']);
  if (change.startsWith('milestone')) return parseText(toFields(event['milestone'])['title'], MAX_NAME);
  if (change === 'renamed') return parseText(toFields(event['rename'])['to'], MAX_NAME);
  if (change.endsWith('assigned')) return login('assignee');
  if (!change.startsWith('review')) return null;
  const team = parseText(toFields(event['requested_team'])['slug'], MAX_NAME);
  return team ?? login('requested_reviewer');
}

/** The issue or pull request of the same repository that mentions an item, as `#5` or `!5`; null for another repository. */
function mentioningItemReference(event: Fields, item: unknown): string | null {
  const issue = toFields(toFields(event['source'])['issue']);
  const { number, repository_url: repository } = issue;
  if (!isId(number) || typeof repository !== 'string') return null;
  if (repository !== toFields(item)['repository_url']) return null;
  return `${isPullRequest(issue) ? '!' : '#'}${number}`;
}
