import { toFields, isId, storableText } from '../upstream-fields';
import type { UpstreamComment, UpstreamIssue } from '../upstream-objects';
import { parseRepohostPerson, parseRawText, parseRepohostTimestamps } from './repohost-fields';

/** A comment, which does not name the number of its issue. */
interface NumberedComment {
  readonly number: unknown;
  readonly comment: unknown;
}

const CLOSED: ReadonlySet<unknown> = new Set(['resolved', 'invalid', 'duplicate', 'wontfix', 'closed']);

/**
 * Reads an issue. Returns null if a required field is missing or has another type.
 * Source: reference identity-and-import 6.11.
 */
export function parseRepohostIssue(item: unknown): UpstreamIssue | null {
  const fields = toFields(item);
  const times = parseRepohostTimestamps(fields);
  const { id, title, state, assignee } = fields;
  if (!isId(id) || typeof title !== 'string' || !times) return null;
  const isClosed = CLOSED.has(state);
  return {
    ...{
      number: id,
      title: storableText(title),
      body: parseRawText(fields['content']),
      isClosed,
      isLocked: false,
      ...times,
    },
    closedAt: isClosed ? times.updatedAt : null,
    author: parseRepohostPerson(fields['reporter']),
    assignees: toFields(assignee)['uuid'] === undefined ? [] : [parseRepohostPerson(assignee)],
    ...{ labels: [], milestone: null },
  };
}

/** Returns the path of the comments on an issue; null for a malformed one. */
export function issueCommentsPathOf(issue: unknown): string | null {
  const { id } = toFields(issue);
  return isId(id) ? `/issues/${id}/comments` : null;
}

/** Changes of fields are comments without a text. */
export function listRepohostIssueComments(comment: unknown, issue: unknown): readonly NumberedComment[] {
  const { content, deleted } = toFields(comment);
  const hasText = deleted !== true && parseRawText(content) !== null;
  return hasText ? [{ number: toFields(issue)['id'], comment }] : [];
}

export function parseRepohostIssueComment(item: unknown): UpstreamComment | null {
  const found = parseRepohostComment(item);
  // Issues and pull requests number their comments independently of each other.
  return found === null ? null : { ...found, id: 2 * found.id + 1, isOnPullRequest: false };
}

/** Reads a comment on an issue or a pull request. `id` is the number of the comment at the service. */
export function parseRepohostComment(item: unknown): Omit<UpstreamComment, 'isOnPullRequest'> | null {
  const { number, comment } = toFields(item);
  const fields = toFields(comment);
  const times = parseRepohostTimestamps(fields);
  const body = parseRawText(fields['content']);
  const { id } = fields;
  if (!isId(id) || id > LAST_ID || !isId(number) || !times || body === null) return null;
  return { id, number, author: parseRepohostPerson(fields['user']), body, ...times };
}

/** Largest id that can be doubled, as `parseRepohostIssueComment` does. */
const LAST_ID = (Number.MAX_SAFE_INTEGER - 1) / 2;
