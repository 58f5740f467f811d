import { withSuggestionRange } from '../suggestion-range';
import {
  toFields,
  isId,
  parseList,
  MAX_SHA,
  MAX_USERNAME,
  storableText,
  parseText,
  parseTime,
} from '../upstream-fields';
import type {
  UpstreamComment,
  UpstreamCommit,
  UpstreamPullRequest,
  UpstreamReview,
  UpstreamReviewComment,
} from '../upstream-objects';
import { parseRepohostPerson, parseRawText, parseRepohostTimestamps } from './repohost-fields';
import { parseRepohostComment } from './repohost-issues';

/** A comment or review of a pull request, which does not name the number. */
interface PullRequestComment {
  readonly number: unknown;
  /** Abbreviated id of the head. */
  readonly head: string;
  readonly comment: unknown;
}

const REVIEW_STATES = { approval: 'approved', changes_requested: 'changes_requested' } as const;

/** Returns the path of a pull request, since lists lack the reviewers; null for a malformed one. */
export function pullRequestPathOf(pullRequest: unknown): string | null {
  const { id } = toFields(pullRequest);
  return isId(id) ? `/pullrequests/${id}` : null;
}

/** Returns the path of the comments on a pull request; null for a malformed one. */
export function pullRequestCommentsPathOf(pullRequest: unknown): string | null {
  const path = pullRequestPathOf(pullRequest);
  return path && `${path}/comments`;
}

/** Returns the path of the activities of a pull request; null for a malformed one. */
export function activityPathOf(pullRequest: unknown): string | null {
  const path = pullRequestPathOf(pullRequest);
  return path && `${path}/activity`;
}

/**
 * Reads a pull request. Returns null if a required field is missing or has another type.
 * Source: reference identity-and-import 6.11.
 */
export function parseRepohostPullRequest(item: unknown): UpstreamPullRequest | null {
  const fields = toFields(item);
  const { id, title, state } = fields;
  const times = parseRepohostTimestamps(fields);
  const [head, base] = [parseBranchHead(fields['source']), parseBranchHead(fields['destination'])];
  if (!isId(id) || typeof title !== 'string' || !times || !head || !base) return null;
  const closedAt = parseTime(fields['closed_on']) ?? times.updatedAt;
  const [isMerged, isOpen] = [state === 'MERGED', state === 'OPEN'];
  const closedBy = fields['closed_by'];
  return {
    ...{ number: id, title: storableText(title), ...times, head, base, labels: [], milestone: null, assignees: [] },
    body: parseText(fields['description']) ?? parseRawText(fields['summary']),
    ...{ isDraft: fields['draft'] === true, isLocked: false },
    state: isMerged ? 'merged' : isOpen ? 'opened' : 'closed',
    closedAt: isMerged || isOpen ? null : closedAt,
    mergedAt: isMerged ? closedAt : null,
    mergedBy: isMerged && toFields(closedBy)['uuid'] !== undefined ? parseRepohostPerson(closedBy) : null,
    mergeCommitSha: parseText(toFields(fields['merge_commit'])['hash']),
    author: parseRepohostPerson(fields['author']),
    reviewers: parseList(fields['reviewers']).map(parseRepohostPerson),
    isForeign:
      repositoryNameOfPullRequestBranch(fields['source']) !== repositoryNameOfPullRequestBranch(fields['destination']),
  };
}

/** Returns the reviews in an activity. */
export function listRepohostReviews(activity: unknown, pullRequest: unknown): readonly PullRequestComment[] {
  const isReview = Object.keys(REVIEW_STATES).some((name) => toFields(activity)[name] !== undefined);
  return isReview ? [pairWithPullRequest(pullRequest, activity)] : [];
}

export function parseRepohostReview(item: unknown): UpstreamReview | null {
  const { number, comment: activity } = toFields(item);
  const name = toFields(activity)['approval'] === undefined ? 'changes_requested' : 'approval';
  const { date, user } = toFields(toFields(activity)[name]);
  const submittedAt = parseTime(date);
  if (!isId(number) || submittedAt === null) return null;
  // Activities have no id of their own.
  const id = Date.parse(submittedAt);
  return { id, number, state: REVIEW_STATES[name], author: parseRepohostPerson(user), body: null, submittedAt };
}

/** Returns a comment if it is on a line or a file. */
export function listRepohostLineComments(comment: unknown, pullRequest: unknown): readonly PullRequestComment[] {
  return isInlineComment(comment) && isNotDeleted(comment) ? [pairWithPullRequest(pullRequest, comment)] : [];
}

/** Returns a comment if it is on the whole pull request. */
export function listRepohostGeneralComments(comment: unknown, pullRequest: unknown): readonly PullRequestComment[] {
  return !isInlineComment(comment) && isNotDeleted(comment) ? [pairWithPullRequest(pullRequest, comment)] : [];
}

export function parseGeneralComment(item: unknown): UpstreamComment | null {
  const found = parseRepohostComment(item);
  // Issues and pull requests number their comments independently of each other.
  return found === null ? null : { ...found, id: 2 * found.id, isOnPullRequest: true };
}

export function parseRepohostLineComment(item: unknown): UpstreamReviewComment | null {
  const found = parseRepohostComment(item);
  const { comment, head } = item as PullRequestComment;
  const { inline, parent } = toFields(comment);
  const { path, from, to, start_from: startFrom, start_to: startTo } = toFields(inline);
  if (found === null || typeof path !== 'string' || path === '') return null;
  const [line, start] = isId(to) ? [to, startTo] : [isId(from) ? from : null, startFrom];
  const at = { line, startLine: line !== null && isId(start) && start < line ? start : null };
  const replyTo = toFields(parent)['id'];
  return {
    ...{ ...found, ...at, path: storableText(path), body: withSuggestionRange(found.body, at) },
    side: isId(to) || !isId(from) ? 'new' : 'old',
    commitId: head,
    replyTo: isId(replyTo) ? replyTo : null,
  };
}

function pairWithPullRequest(pullRequest: unknown, comment: unknown): PullRequestComment {
  const { id: number, source } = toFields(pullRequest);
  return { number, head: parseText(toFields(toFields(source)['commit'])['hash'], MAX_SHA) ?? '', comment };
}

function isInlineComment(comment: unknown): boolean {
  const { inline } = toFields(comment);
  return inline !== undefined && inline !== null;
}

/** Deleted comments stay in the list while they have replies. */
function isNotDeleted(comment: unknown): boolean {
  return toFields(comment)['deleted'] !== true;
}

function parseBranchHead(value: unknown): UpstreamCommit | null {
  const { branch, commit, repository } = toFields(value);
  const name = toFields(branch)['name'];
  if (typeof name !== 'string') return null;
  const fullName = toFields(repository)['full_name'];
  const owner = typeof fullName === 'string' ? fullName.split('/', 1)[0]!.replace(/[^\w.-]/g, '') : '';
  const sha = parseText(toFields(commit)['hash']) ?? '';
  return { branch: storableText(name), sha, owner: owner.slice(0, MAX_USERNAME) };
}

/** Returns undefined for a repository that was deleted. */
function repositoryNameOfPullRequestBranch(value: unknown): unknown {
  return toFields(toFields(value)['repository'])['full_name'];
}
