import type { UpstreamPerson } from '@rookery/contracts';
import { hashedId } from '../hashed-ids';
import { withSuggestionRange } from '../suggestion-range';
import {
  DELETED,
  toFields,
  isId,
  parseList,
  MAX_SHA,
  MAX_USERNAME,
  storableText,
  storableUsername,
  parseText,
} from '../upstream-fields';
import type { Fields } from '../upstream-fields';
import type {
  UpstreamComment,
  UpstreamCommit,
  UpstreamPullRequest,
  UpstreamReview,
  UpstreamReviewComment,
} from '../upstream-objects';

/** A comment of an activity. `root` is the comment that starts its thread; null for that comment itself. */
interface ActivityComment {
  readonly number: unknown;
  readonly comment: unknown;
  readonly root: unknown;
  /** Beginning of the text that a reply answers; null for no reply. All replies to a comment share it. */
  readonly quote: string | null;
  /** Place in the code, which all replies share; undefined for a comment on the whole pull request, null for a malformed one. */
  readonly place: CommentPlace | null | undefined;
}

type CommentPlace = Pick<UpstreamReviewComment, 'path' | 'side' | 'line' | 'startLine' | 'commitId'>;

/** An activity of a pull request, which does not name the number itself. */
interface NumberedActivity {
  readonly number: unknown;
  readonly activity: unknown;
}

const REVIEW_STATES: ReadonlyMap<unknown, UpstreamReview['state']> = new Map<unknown, UpstreamReview['state']>([
  ['APPROVED', 'approved'],
  ['REVIEWED', 'changes_requested'],
  ['UNAPPROVED', 'dismissed'],
]);
const BRANCHES = 'refs/heads/';
/** Levels of replies that are read. Deeper replies are ignored, so that no answer of a host takes too long. */
const MAX_DEPTH = 100;
/** Units: characters. */
const MAX_QUOTE = 80;
const MAX_PATH = 4096;

/** Returns the path of the activities of a pull request; null for a malformed one. */
export function activitiesPathOf(pullRequest: unknown): string | null {
  const { id } = toFields(pullRequest);
  return isId(id) ? `/pull-requests/${id}/activities` : null;
}

/** Returns the path of the activities of a merged pull request, whose list lacks its merge; null for one that is not merged. */
export function mergedPullRequestActivitiesPathOf(pullRequest: unknown): string | null {
  return toFields(pullRequest)['state'] === 'MERGED' ? activitiesPathOf(pullRequest) : null;
}

/**
 * Reads a pull request. Returns null if a needed field is missing or has another type; `values` are the activities of a
 * merged one. Source: reference identity-and-import 6.10.
 */
export function parseRepohostServerPullRequest(item: unknown): UpstreamPullRequest | null {
  const fields = toFields(item);
  const { id, title, state } = fields;
  const times = parseTimes(fields);
  const [head, base] = [parseBranchHead(fields['fromRef']), parseBranchHead(fields['toRef'])];
  if (!isId(id) || typeof title !== 'string' || !times || !head || !base) return null;
  const closedAt = parseEpochMilliseconds(fields['closedDate']) ?? times.updatedAt;
  const merge = toFields(parseList(fields['values']).find((one) => toFields(one)['action'] === 'MERGED'));
  const isMerged = state === 'MERGED';
  return {
    ...{ number: id, title: storableText(title), body: parseText(fields['description']), ...times, head, base },
    ...{ isDraft: fields['draft'] === true, isLocked: false, labels: [], milestone: null, assignees: [] },
    state: isMerged ? 'merged' : state === 'DECLINED' ? 'closed' : 'opened',
    closedAt: state === 'DECLINED' ? closedAt : null,
    mergedAt: isMerged ? (parseEpochMilliseconds(merge['createdDate']) ?? closedAt) : null,
    mergedBy: isMerged && merge['user'] !== undefined ? parsePerson(merge['user']) : null,
    mergeCommitSha: parseText(toFields(merge['commit'])['id']),
    author: parsePerson(toFields(fields['author'])['user']),
    reviewers: parseList(fields['reviewers']).map((reviewer) => parsePerson(toFields(reviewer)['user'])),
    isForeign: repositoryIdOfPullRequestBranch(fields['fromRef']) !== repositoryIdOfPullRequestBranch(fields['toRef']),
  };
}

/** Returns the reviews in an activity. Source: reference identity-and-import 6.10. */
export function listRepohostServerReviews(activity: unknown, pullRequest: unknown): readonly NumberedActivity[] {
  const isReview = REVIEW_STATES.has(toFields(activity)['action']);
  return isReview ? [{ number: toFields(pullRequest)['id'], activity }] : [];
}

export function parseRepohostServerReview(item: unknown): UpstreamReview | null {
  const { number, activity } = toFields(item);
  const { id, action, createdDate, user } = toFields(activity);
  const [state, submittedAt] = [REVIEW_STATES.get(action), parseEpochMilliseconds(createdDate)];
  if (!isId(number) || state === undefined || submittedAt === null) return null;
  // Old servers number no activities.
  const own = isId(id) ? id : Date.parse(submittedAt);
  return { id: own, number, state, author: parsePerson(user), body: null, submittedAt };
}

/** Returns the comments on lines in an activity, with all replies. */
export function listRepohostServerLineComments(activity: unknown, pullRequest: unknown): readonly ActivityComment[] {
  return listActivityComments(activity, pullRequest).filter(({ place }) => place !== undefined);
}

/** Returns the comments on the whole pull request in an activity, with all replies. */
export function listRepohostServerGeneralComments(activity: unknown, pullRequest: unknown): readonly ActivityComment[] {
  return listActivityComments(activity, pullRequest).filter(({ place }) => place === undefined);
}

export function parseRepohostServerComment(item: unknown): UpstreamComment | null {
  const { number, comment } = toFields(item);
  const fields = toFields(comment);
  const times = parseTimes(fields);
  if (!isId(fields['id']) || !isId(number) || !times) return null;
  const body = parseCommentBody(item);
  if (body === null) return null;
  return { id: fields['id'], number, isOnPullRequest: true, author: parsePerson(fields['author']), body, ...times };
}

export function parseRepohostServerLineComment(item: unknown): UpstreamReviewComment | null {
  const { root, place } = item as ActivityComment;
  const found = place ? parseRepohostServerComment(item) : null;
  if (!place || found === null) return null;
  const { id, number, author, body, createdAt, updatedAt } = found;
  return {
    ...{ id, number, author, createdAt, updatedAt, ...place, body: withSuggestionRange(body, place) },
    replyTo: isId(root) ? root : null,
  };
}

function listActivityComments(activity: unknown, pullRequest: unknown): readonly ActivityComment[] {
  const { action, comment, commentAnchor: anchor } = toFields(activity);
  if (action !== 'COMMENTED') return [];
  const number = toFields(pullRequest)['id'];
  const root = toFields(comment)['id'];
  const place = anchor === undefined ? undefined : parseCommentPlace(anchor);
  const found: ActivityComment[] = [{ number, comment, root: null, quote: null, place }];
  let level: readonly unknown[] = [comment];
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth++) {
    const replies = level.flatMap(listReplies);
    for (const { reply, quote } of replies) found.push({ number, comment: reply, root, quote, place });
    level = replies.map(({ reply }) => reply);
  }
  return found;
}

function listReplies(comment: unknown): readonly { readonly reply: unknown; readonly quote: string | null }[] {
  const { comments, text } = toFields(comment);
  if (!Array.isArray(comments) || comments.length === 0) return [];
  const quote = typeof text === 'string' ? shortenToQuote(text) : null;
  return comments.map((reply: unknown) => ({ reply, quote }));
}

/** Replies quote the text that they answer, because threads do not nest here. */
function parseCommentBody(item: unknown): string | null {
  const { comment, quote } = item as ActivityComment;
  const body = parseText(toFields(comment)['text']);
  return body === null || !quote ? body : `> ${quote}\n\n${body}`;
}

/** The text is cut first, because it may have megabytes. */
function shortenToQuote(answered: string): string {
  const line = storableText(answered.slice(0, 4 * MAX_QUOTE))
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > MAX_QUOTE ? `${line.slice(0, MAX_QUOTE).replace(/\p{Cs}$/u, '')}…` : line;
}

function parseCommentPlace(anchor: unknown): CommentPlace | null {
  const fields = toFields(anchor);
  const path = parseFilePath(fields['path']);
  if (path === null) return null;
  const line = isId(fields['line']) ? fields['line'] : null;
  const start = toFields(fields['multilineMarker'])['startLine'];
  return {
    ...{ path, line, startLine: line !== null && isId(start) && start < line ? start : null },
    side: fields['fileType'] === 'FROM' ? 'old' : 'new',
    commitId: parseText(fields['toHash'], MAX_SHA) ?? '',
  };
}

/** Servers send a path as a text, or as its components. Returns null for a path that is too long. */
function parseFilePath(value: unknown): string | null {
  const components = typeof value === 'string' ? [value] : parseList(toFields(value)['components']);
  const texts = components.filter((one) => typeof one === 'string');
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  return length > MAX_PATH ? null : parseText(texts.join('/'));
}

function parseBranchHead(value: unknown): UpstreamCommit | null {
  const { id, displayId, latestCommit, repository } = toFields(value);
  const branch = typeof id === 'string' && id.startsWith(BRANCHES) ? id.slice(BRANCHES.length) : displayId;
  if (typeof branch !== 'string' || typeof latestCommit !== 'string') return null;
  const { key } = toFields(toFields(repository)['project']);
  const owner = typeof key === 'string' ? key.replace(/[^\w.-]/g, '').slice(0, MAX_USERNAME) : '';
  return { branch: storableText(branch), sha: storableText(latestCommit), owner };
}

/** Returns undefined for a repository that was deleted. */
function repositoryIdOfPullRequestBranch(value: unknown): unknown {
  return toFields(toFields(value)['repository'])['id'];
}

function parseTimes(fields: Fields): { readonly createdAt: string; readonly updatedAt: string } | null {
  const createdAt = parseEpochMilliseconds(fields['createdDate']);
  return createdAt === null
    ? null
    : { createdAt, updatedAt: parseEpochMilliseconds(fields['updatedDate']) ?? createdAt };
}

/** Latest time whose ISO 8601 form has a year of four digits. Units: ms. */
const LAST_INSTANT = Date.UTC(10_000, 0) - 1;

/** Reads a time in milliseconds since 1970. */
function parseEpochMilliseconds(value: unknown): string | null {
  return isId(value) && value <= LAST_INSTANT ? new Date(value).toISOString() : null;
}

/** A user without an id has one that is made of the name. */
function parsePerson(value: unknown): UpstreamPerson {
  const { id, slug, name } = toFields(value);
  const username = [slug, name].find((one) => typeof one === 'string' && one !== '') as string | undefined;
  if (username === undefined) return DELETED;
  return { id: isId(id) ? id : hashedId(username), username: storableUsername(username) };
}
