import { toFields, isId, parseList, storableText, parseText, parseTime } from '../upstream-fields';
import type {
  UpstreamComment,
  UpstreamCommit,
  UpstreamIssue,
  UpstreamLabel,
  UpstreamMilestone,
  UpstreamPullRequest,
} from '../upstream-objects';
import { nameOfLabel, parseBranchOwnerName, parseRemotePerson, parseRemoteTimestamps } from './remote-fields';

const COMMENT_PAGE = /\/(issues|pull)\/(\d{1,15})#/;

/** Readers of objects in lists of upstream hosts. Returns null if a needed field is missing or has another type. */
export function parseLabel(item: unknown): UpstreamLabel | null {
  const fields = toFields(item);
  const { name, color } = fields;
  if (typeof name !== 'string' || typeof color !== 'string') return null;
  return { name: storableText(name), color: storableText(color), description: parseText(fields['description']) };
}

export function parseMilestone(item: unknown): UpstreamMilestone | null {
  const fields = toFields(item);
  const times = parseRemoteTimestamps(fields);
  const { number, title, state } = fields;
  if (!isId(number) || typeof title !== 'string' || !times) return null;
  const due = parseTime(fields['due_on']);
  return {
    ...{
      number,
      title: storableText(title),
      description: parseText(fields['description']),
      isClosed: state === 'closed',
    },
    ...{ ...times, dueOn: due?.slice(0, 10) ?? null },
  };
}

export function parseRemoteIssue(item: unknown): UpstreamIssue | null {
  const fields = toFields(item);
  const times = parseRemoteTimestamps(fields);
  const { number, title, state, locked } = fields;
  if (!isId(number) || typeof title !== 'string' || !times) return null;
  const milestone = toFields(fields['milestone'])['number'];
  return {
    ...{ number, title: storableText(title), body: parseText(fields['body']), isClosed: state === 'closed' },
    ...{ ...times, isLocked: locked === true, closedAt: parseTime(fields['closed_at']) },
    author: parseRemotePerson(fields['user']),
    assignees: parseList(fields['assignees']).map(parseRemotePerson),
    labels: parseList(fields['labels']).flatMap((label) => nameOfLabel(label) ?? []),
    milestone: isId(milestone) ? milestone : null,
  };
}

/** Pull requests are in the list of issues, too. */
export function isPullRequest(item: unknown): boolean {
  return toFields(item)['pull_request'] !== undefined;
}

/** Returns the path of a pull request whose list lacks a fact about its merge; null for one that is not merged. */
export function mergedPullRequestPathOf(pullRequest: unknown): string | null {
  const { number, merged_at: mergedAt } = toFields(pullRequest);
  return isId(number) && parseTime(mergedAt) !== null ? `/pulls/${number}` : null;
}

export function parseRemotePullRequest(item: unknown): UpstreamPullRequest | null {
  const fields = toFields(item);
  const times = parseRemoteTimestamps(fields);
  const { number, title, draft, locked } = fields;
  const [head, base] = [parseBranchHead(fields['head']), parseBranchHead(fields['base'])];
  if (!isId(number) || typeof title !== 'string' || !times || !head || !base) return null;
  const mergedAt = parseTime(fields['merged_at']);
  const milestone = toFields(fields['milestone'])['number'];
  return {
    ...{
      number,
      title: storableText(title),
      body: parseText(fields['body']),
      isDraft: draft === true,
      isLocked: locked === true,
    },
    ...{ ...times, closedAt: parseTime(fields['closed_at']), mergedAt, head, base },
    state: mergedAt !== null ? 'merged' : fields['state'] === 'closed' ? 'closed' : 'opened',
    author: parseRemotePerson(fields['user']),
    assignees: parseList(fields['assignees']).map(parseRemotePerson),
    reviewers: parseList(fields['requested_reviewers']).map(parseRemotePerson),
    mergedBy: toFields(fields['merged_by'])['login'] === undefined ? null : parseRemotePerson(fields['merged_by']),
    labels: parseList(fields['labels']).flatMap((label) => nameOfLabel(label) ?? []),
    milestone: isId(milestone) ? milestone : null,
    isForeign: repositoryIdOfPullRequestBranch(fields['head']) !== repositoryIdOfPullRequestBranch(fields['base']),
    mergeCommitSha: parseText(fields['merge_commit_sha']),
  };
}

function parseBranchHead(value: unknown): UpstreamCommit | null {
  const { ref, sha, user } = toFields(value);
  if (typeof ref !== 'string' || typeof sha !== 'string') return null;
  return { branch: storableText(ref), sha: storableText(sha), owner: parseBranchOwnerName(user) };
}

/** Returns undefined for a repository that was deleted. */
function repositoryIdOfPullRequestBranch(value: unknown): unknown {
  return toFields(toFields(value)['repo'])['id'];
}

/** Returns the path of the comments on an issue or a pull request; null for a malformed one. */
export function commentsPathOf(issue: unknown): string | null {
  const { number } = toFields(issue);
  return isId(number) ? `/issues/${number}/comments` : null;
}

export function parseRemoteComment(item: unknown): UpstreamComment | null {
  const fields = toFields(item);
  const times = parseRemoteTimestamps(fields);
  const { id, body } = fields;
  const [, page, number] = matchCommentPage(item) ?? [];
  if (!isId(id) || typeof body !== 'string' || !times || number === undefined) return null;
  const on = { number: Number(number), isOnPullRequest: page === 'pull' };
  return { id, ...on, author: parseRemotePerson(fields['user']), body: storableText(body), ...times };
}

function matchCommentPage(comment: unknown): RegExpExecArray | null {
  const page = toFields(comment)['html_url'];
  return typeof page === 'string' ? COMMENT_PAGE.exec(page) : null;
}
