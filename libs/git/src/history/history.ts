import { GitError, invalidGitArgument } from '../process/git-error';
import { objectId } from '../names/object-id';
import type { ObjectId } from '../names/object-id';
import { readObjects } from '../objects/objects';
import type { GitCommand } from '../process/git-run';
import { requireTreePath } from '../names/tree-path';
import type { Repository } from '../repository/repository';
import { parseBlame } from './parse-blame';
import type { BlamedLine } from './parse-blame';
import { parseCommit } from './parse-commit';
import type { Commit } from './parse-commit';
import { parseLineCounts } from './parse-line-counts';
import type { LineCounts } from './parse-line-counts';
import { parseContributors } from './parse-contributors';
import type { Contributor } from './parse-contributors';

/** Selection and page of commits. */
export interface CommitQuery {
  /** Commits that can be reached from these, or from all branches and tags. */
  readonly from: readonly ObjectId[] | 'all refs';
  /** Without those that can be reached from these. */
  readonly notFrom?: readonly ObjectId[];
  /**
   * Without those that can be reached from this commit, and without those whose change one of its own commits has, too.
   * Only for a single start. Cost: git reads the changes of the own commits of both.
   */
  readonly notAppliedIn?: ObjectId;
  readonly skip: number;
  readonly max: number;
  readonly order?: 'date' | 'topological';
  readonly followsFirstParent?: boolean;
  readonly skipsMerges?: boolean;
  /** File or folder that the commits changed. */
  readonly path?: string;
  /** Text within name or e-mail of the author, whatever its case; no pattern. */
  readonly author?: string;
  /** Dates of the committer in seconds since 1970, inclusive. */
  readonly since?: number;
  readonly until?: number;
  /** Oldest first, within the page. */
  readonly isReversed?: boolean;
}

/** Largest commit object that is read. Units: bytes. */
const MAX_COMMIT_BYTES = 10 * 1024 * 1024;
/** Largest total size of the commits that one call of `readCommits` reads. Units: bytes. */
const MAX_COMMITS_BYTES = 64 * 1024 * 1024;
const COMMITS_AT_ONCE = 20;
const MAX_AUTHOR = 255;

/** Returns the ids of a page of commits, the newest first. git skips and stops; nothing else is read. */
export async function listCommitIds(repository: Repository, query: CommitQuery): Promise<ObjectId[]> {
  const args = [
    'rev-list',
    ...commitSelectionArguments(query),
    `--skip=${checkedWholeNumber(query.skip)}`,
    `--max-count=${checkedWholeNumber(query.max)}`,
  ];
  const { stdout } = await repository.run({ args: [...args, ...revisionArguments(query)] });
  const ids = stdout
    .toString()
    .split('\n')
    .filter((line) => line !== '') as ObjectId[];
  return query.isReversed ? ids.reverse() : ids;
}

/** Returns a page of commits, the newest first: ids by one process, commits from a kept reader. */
export async function listCommits(repository: Repository, query: CommitQuery): Promise<Commit[]> {
  return readCommits(repository, await listCommitIds(repository, query));
}

/**
 * Returns commits by id. An id of something else, or of nothing, is left out.
 * Bounds: 64 MiB of messages. Errors: GitError `too large`.
 */
export async function readCommits(repository: Repository, ids: readonly ObjectId[]): Promise<Commit[]> {
  const commits: Commit[] = [];
  let left = MAX_COMMITS_BYTES;
  for (let at = 0; at < ids.length; at += COMMITS_AT_ONCE) {
    const names = ids.slice(at, at + COMMITS_AT_ONCE).map((rev) => ({ rev }));
    for (const object of await readObjects(repository, names, MAX_COMMIT_BYTES)) {
      if (object?.type !== 'commit') continue;
      left -= object.size;
      if (left < 0) throw new GitError('too large', `The commits are larger than ${MAX_COMMITS_BYTES} bytes.`);
      commits.push(parseCommit(object.id, object.content));
    }
  }
  return commits;
}

/**
 * Counts the changed lines of commits, merges compared with their first parent. Bounds: 20 s for all of them.
 * Errors: GitError `not found` for an unknown id.
 */
export async function readCommitLineCounts(
  repository: Repository,
  commitIds: readonly ObjectId[],
): Promise<Map<ObjectId, LineCounts>> {
  if (commitIds.length === 0) return new Map();
  const shown = ['--format=%H', '--shortstat', '-M', '--diff-merges=first-parent', '--no-ext-diff', '--no-textconv'];
  const stdin = Buffer.from(commitIds.map((id) => `${objectId(id)}\n`).join(''));
  const { stdout } = await repository.run({ args: ['log', '--no-walk=unsorted', '--stdin', ...shown], stdin });
  return parseLineCounts(stdout);
}

/** Returns the newest commit that changed a path, null if none did. Bounds: the time limit of a command. */
export async function lastCommitOf(repository: Repository, commit: ObjectId, path: string): Promise<ObjectId | null> {
  const [id] = await listCommitIds(repository, { from: [commit], skip: 0, max: 1, path });
  return id ?? null;
}

/** Counts commits, but not beyond `max`. Bounds: the time limit of a command, unless `commandOptions` sets others. */
export async function countCommits(
  repository: Repository,
  query: Omit<CommitQuery, 'skip'>,
  commandOptions: Pick<GitCommand, 'lane' | 'limits' | 'signal'> = {},
): Promise<number> {
  const args = [
    'rev-list',
    '--count',
    ...commitSelectionArguments(query),
    `--max-count=${checkedWholeNumber(query.max)}`,
    ...revisionArguments(query),
  ];
  return Number((await repository.run({ ...commandOptions, args })).stdout.toString());
}

/** Counts the commits that only one of two commits has, but not beyond `max` in all. */
export async function countDivergingCommits(
  repository: Repository,
  left: ObjectId,
  right: ObjectId,
  max: number,
): Promise<{ readonly left: number; readonly right: number }> {
  const range = `${objectId(left)}...${objectId(right)}`;
  const args = ['rev-list', '--count', '--left-right', `--max-count=${checkedWholeNumber(max)}`, range, '--'];
  const [only, other] = (await repository.run({ args })).stdout.toString().trim().split('\t').map(Number);
  return { left: only ?? 0, right: other ?? 0 };
}

/** Returns the best common ancestor of two commits or the common ancestor of several, null if there is none. */
export async function mergeBase(repository: Repository, ids: readonly ObjectId[]): Promise<ObjectId | null> {
  const args = ['merge-base', '--octopus', ...ids.map(objectId)];
  const { stdout, code } = await repository.run({ args, accepts: [0, 1] });
  return code === 0 ? (stdout.toString().split('\n', 1)[0] as ObjectId) : null;
}

/** Can the second commit reach the first? */
export async function isAncestor(repository: Repository, ancestor: ObjectId, commit: ObjectId): Promise<boolean> {
  const args = ['merge-base', '--is-ancestor', objectId(ancestor), objectId(commit)];
  return (await repository.run({ args, accepts: [0, 1] })).code === 0;
}

/**
 * Returns the commit that wrote each line of a file. `range` counts lines from 1 and includes both bounds. Errors:
 * GitError `not found`.
 */
export async function blameFile(
  repository: Repository,
  commit: ObjectId,
  path: string,
  range?: { readonly start: number; readonly end: number },
): Promise<BlamedLine[]> {
  const lines =
    range === undefined ? [] : ['-L', `${checkedWholeNumber(range.start)},${checkedWholeNumber(range.end)}`];
  const args = ['blame', '--porcelain', '--no-textconv', ...lines, objectId(commit), '--', requireTreePath(path)];
  return parseBlame((await repository.run({ args })).stdout);
}

/** Returns the authors of the commits before a commit, merges left out, by e-mail in lower case. */
export async function listContributors(repository: Repository, commit: ObjectId): Promise<Contributor[]> {
  const args = ['shortlog', '--summary', '--email', '--no-merges', objectId(commit), '--'];
  return parseContributors((await repository.run({ args })).stdout);
}

function commitSelectionArguments(query: Omit<CommitQuery, 'skip'>): string[] {
  return [
    ...(query.order === 'topological' ? ['--topo-order'] : []),
    ...(query.followsFirstParent ? ['--first-parent'] : []),
    ...(query.skipsMerges ? ['--no-merges'] : []),
    ...(query.author === undefined
      ? []
      : ['--fixed-strings', '--regexp-ignore-case', `--author=${checkedAuthorPattern(query.author)}`]),
    // As a filter it does not stop at the first commit whose clock was wrong.
    ...(query.since === undefined ? [] : [`--since-as-filter=@${checkedWholeNumber(query.since)} +0000`]),
    ...(query.until === undefined ? [] : [`--until=@${checkedWholeNumber(query.until)} +0000`]),
  ];
}

function revisionArguments({ from, notFrom = [], notAppliedIn, path }: Omit<CommitQuery, 'skip'>): string[] {
  const starts = from === 'all refs' ? ['--branches', '--tags'] : from.map(objectId);
  if (starts.length === 0) throw invalidGitArgument('A list of commits needs a start.');
  const paths = path === undefined ? [] : [requireTreePath(path)];
  const excluded = notFrom.map((id) => `^${objectId(id)}`);
  if (notAppliedIn === undefined) return [...starts, ...excluded, '--', ...paths];
  if (starts.length !== 1 || from === 'all refs') throw invalidGitArgument('Only one start is compared with another.');
  const compared = `${objectId(notAppliedIn)}...${starts[0]}`;
  return ['--cherry-pick', '--right-only', compared, ...excluded, '--', ...paths];
}

function checkedAuthorPattern(text: string): string {
  if (text.length > MAX_AUTHOR || /[\u0000-\u001f]/.test(text))
    throw invalidGitArgument('The name of the author is invalid.');
  return text;
}

function checkedWholeNumber(value: number): number {
  if (!Number.isSafeInteger(value) || value < 0) throw invalidGitArgument('A number of a query is no whole number.');
  return value;
}
