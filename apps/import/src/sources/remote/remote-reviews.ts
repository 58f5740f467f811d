import type { UpstreamPerson } from '@rookery/contracts';
import { cleaned, fieldsOf, isId, personIn, textIn, timeIn, timesIn } from './remote-fields';

/** A review of a pull request. */
export interface RemoteReview {
  readonly id: number;
  readonly number: number;
  readonly author: UpstreamPerson;
  readonly state: 'approved' | 'changes_requested' | 'commented' | 'dismissed';
  readonly body: string | null;
  readonly submittedAt: string;
}

/** A comment on a line of a pull request. Shape: `line` is null for a comment on a file, `replyTo` for a first comment. */
export interface RemoteReviewComment {
  readonly id: number;
  readonly number: number;
  readonly author: UpstreamPerson;
  readonly body: string;
  readonly path: string;
  readonly side: 'old' | 'new';
  readonly line: number | null;
  readonly startLine: number | null;
  /** Commit whose lines are counted. */
  readonly commitId: string;
  readonly replyTo: number | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

const STATES: ReadonlyMap<string, RemoteReview['state']> = new Map([
  ['APPROVED', 'approved'],
  ['CHANGES_REQUESTED', 'changes_requested'],
  ['COMMENTED', 'commented'],
  ['DISMISSED', 'dismissed'],
]);
const PULL_ADDRESS = /\/pulls?\/(\d{1,15})(?:[#/?]|$)/;
/** A suggestion without a range, which replaces all lines of the comment. */
const SUGGESTION = /^([ \t]*(?:`{3,}|~{3,})[ \t]*suggestion)[ \t]*$/gm;

/** Returns the path of the reviews of a pull request; null for a malformed one. */
export function reviewsPathOf(item: unknown): string | null {
  const { number } = fieldsOf(item);
  return isId(number) ? `/pulls/${number}/reviews` : null;
}

/** Returns the path of the comments on lines of a pull request; null for a malformed one. */
export function reviewCommentsPathOf(item: unknown): string | null {
  const { number } = fieldsOf(item);
  return isId(number) ? `/pulls/${number}/comments` : null;
}

/** Whether a review has content: not one that is pending, nor one that only carries comments on lines. */
export function hasContent(item: unknown): boolean {
  const { state, body } = fieldsOf(item);
  return typeof state !== 'string' || (STATES.has(state) && (state !== 'COMMENTED' || textIn(body) !== null));
}

export function reviewIn(item: unknown): RemoteReview | null {
  const fields = fieldsOf(item);
  const { id, state } = fields;
  const number = numberIn(fields['pull_request_url']) ?? numberIn(fields['html_url']);
  const submittedAt = timeIn(fields['submitted_at']);
  const known = typeof state === 'string' ? STATES.get(state) : undefined;
  if (!isId(id) || number === null || submittedAt === null || known === undefined) return null;
  return { id, number, state: known, author: personIn(fields['user']), body: textIn(fields['body']), submittedAt };
}

export function reviewCommentIn(item: unknown): RemoteReviewComment | null {
  const fields = fieldsOf(item);
  const times = timesIn(fields);
  const { id, body, path, in_reply_to_id: replyTo } = fields;
  const number = numberIn(fields['pull_request_url']) ?? numberIn(fields['html_url']);
  if (!isId(id) || typeof body !== 'string' || typeof path !== 'string' || !times || number === null) return null;
  const at = lineOf(fields);
  return {
    ...{ id, number, author: personIn(fields['user']), path: cleaned(path), ...at, ...times },
    body: withRange(cleaned(body), at),
    replyTo: isId(replyTo) ? replyTo : null,
  };
}

/** The line in the latest commit, or in the commented one if the latest does not have it any more. */
function lineOf(fields: Readonly<Record<string, unknown>>) {
  const isCurrent = isId(fields['line']);
  const name = (field: string): unknown => fields[isCurrent ? field : `original_${field}`];
  const [line, startLine, commitId] = [name('line'), name('start_line'), name('commit_id')];
  const isWholeFile = fields['subject_type'] === 'file' || !isId(line);
  return {
    side: fields['side'] === 'LEFT' ? ('old' as const) : ('new' as const),
    line: isWholeFile ? null : line,
    startLine: !isWholeFile && isId(startLine) && startLine < line ? startLine : null,
    commitId: typeof commitId === 'string' ? cleaned(commitId) : '',
  };
}

/** Suggestions of the host replace all lines of a comment; here they name the number of lines above. */
function withRange(body: string, { line, startLine }: Pick<RemoteReviewComment, 'line' | 'startLine'>): string {
  const above = line === null || startLine === null ? 0 : line - startLine;
  return body.replace(SUGGESTION, `$1:-${above}+0`);
}

function numberIn(address: unknown): number | null {
  const number = typeof address === 'string' ? PULL_ADDRESS.exec(address)?.[1] : undefined;
  return number === undefined || !isId(Number(number)) ? null : Number(number);
}
