import { withSuggestionRange } from '../suggestion-range';
import { toFields, isId, storableText, parseText, parseTime } from '../upstream-fields';
import type { UpstreamReview, UpstreamReviewComment } from '../upstream-objects';
import { parseRemotePerson, parseRemoteTimestamps } from './remote-fields';

const STATES: ReadonlyMap<string, UpstreamReview['state']> = new Map([
  ['APPROVED', 'approved'],
  ['CHANGES_REQUESTED', 'changes_requested'],
  ['COMMENTED', 'commented'],
  ['DISMISSED', 'dismissed'],
]);
const PULL_ADDRESS = /\/pulls?\/(\d{1,15})(?:[#/?]|$)/;

/** Returns the path of the reviews of a pull request; null for a malformed one. */
export function reviewsPathOf(pullRequest: unknown): string | null {
  const { number } = toFields(pullRequest);
  return isId(number) ? `/pulls/${number}/reviews` : null;
}

/** Returns the path of the comments on lines of a pull request; null for a malformed one. */
export function reviewCommentsPathOf(pullRequest: unknown): string | null {
  const { number } = toFields(pullRequest);
  return isId(number) ? `/pulls/${number}/comments` : null;
}

/** Whether a review has content: not one that is pending, nor one that only carries comments on lines. */
export function isImportableReview(review: unknown): boolean {
  const { state, body } = toFields(review);
  return typeof state !== 'string' || (STATES.has(state) && (state !== 'COMMENTED' || parseText(body) !== null));
}

export function parseRemoteReview(item: unknown): UpstreamReview | null {
  const fields = toFields(item);
  const { id, state } = fields;
  const number = parsePullRequestNumber(fields['pull_request_url']) ?? parsePullRequestNumber(fields['html_url']);
  const submittedAt = parseTime(fields['submitted_at']);
  const known = typeof state === 'string' ? STATES.get(state) : undefined;
  if (!isId(id) || number === null || submittedAt === null || known === undefined) return null;
  return {
    id,
    number,
    state: known,
    author: parseRemotePerson(fields['user']),
    body: parseText(fields['body']),
    submittedAt,
  };
}

export function parseReviewComment(item: unknown): UpstreamReviewComment | null {
  const fields = toFields(item);
  const times = parseRemoteTimestamps(fields);
  const { id, body, path, in_reply_to_id: replyTo } = fields;
  const number = parsePullRequestNumber(fields['pull_request_url']) ?? parsePullRequestNumber(fields['html_url']);
  if (!isId(id) || typeof body !== 'string' || typeof path !== 'string' || !times || number === null) return null;
  const at = parseCommentLine(fields);
  return {
    ...{ id, number, author: parseRemotePerson(fields['user']), path: storableText(path), ...at, ...times },
    body: withSuggestionRange(storableText(body), at),
    replyTo: isId(replyTo) ? replyTo : null,
  };
}

/** The line in the latest commit, or in the commented one if the latest does not have it any more. */
function parseCommentLine(fields: Readonly<Record<string, unknown>>) {
  const isCurrent = isId(fields['line']);
  const name = (field: string): unknown => fields[isCurrent ? field : `original_${field}`];
  const [line, startLine, commitId] = [name('line'), name('start_line'), name('commit_id')];
  const isWholeFile = fields['subject_type'] === 'file' || !isId(line);
  return {
    side: fields['side'] === 'LEFT' ? ('old' as const) : ('new' as const),
    line: isWholeFile ? null : line,
    startLine: !isWholeFile && isId(startLine) && startLine < line ? startLine : null,
    commitId: typeof commitId === 'string' ? storableText(commitId) : '',
  };
}

function parsePullRequestNumber(address: unknown): number | null {
  const number = typeof address === 'string' ? PULL_ADDRESS.exec(address)?.[1] : undefined;
  return number === undefined || !isId(Number(number)) ? null : Number(number);
}
