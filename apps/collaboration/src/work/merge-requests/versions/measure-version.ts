import { countCommits, GitError, listChangesWithLineCounts, mergeBase, readPatchId, readRefs } from '@rookery/git';
import type { ObjectId, Repository } from '@rookery/git';
import { readCommitsWithReferences } from '../../../code/commits/commits-with-references';

/** Commits and numbers of a version of a merge request. Source: reference repositories 8.5. */
export interface MeasuredVersion {
  readonly headSha: ObjectId;
  /** Null for histories without a common ancestor. */
  readonly baseSha: ObjectId | null;
  readonly startSha: ObjectId;
  readonly filesCount: number;
  readonly commitsCount: number;
  readonly state: 'collected' | 'overflow' | 'empty';
  /** Hash of the changes. Null without changes, and for a diff that is too large for git. */
  readonly patchId: string | null;
  /** Messages of commits that may refer to issues. */
  readonly messages: readonly string[];
}

/** Tips of the two branches. The tip of a branch that does not exist is null. */
export interface BranchTips {
  readonly source: ObjectId | null;
  readonly target: ObjectId | null;
}

const MAX_COMMITS = 10_000;
/** Maximum number of commits whose messages are searched for issues, the newest first. */
const MAX_MESSAGES = 500;
/** Number that stands for more files than git lists within its limits. */
const TOO_MANY_FILES = 1001;

/** Full name of a branch. */
export function branchRef(name: string): string {
  return `refs/heads/${name}`;
}

/** Reads the tips of the branches of a merge request. Errors: GitError. */
export async function readTips(
  repository: Repository,
  { sourceBranch, targetBranch }: { readonly sourceBranch: string; readonly targetBranch: string },
): Promise<BranchTips> {
  const [source, target] = [branchRef(sourceBranch), branchRef(targetBranch)];
  const tips = await readRefs(repository, [...new Set([source, target])]);
  return { source: tips.get(source) ?? null, target: tips.get(target) ?? null };
}

/**
 * Measures what merging one commit into another would bring: merge base, changed files, patch id and commits.
 * Bounds: messages of the 500 newest commits; counts stop at 10,000 commits; a diff that is too large for git counts as 1001 files.
 */
export async function measureDiffVersion(
  repository: Repository,
  { source, target }: { readonly source: ObjectId; readonly target: ObjectId },
): Promise<MeasuredVersion> {
  const baseSha = await mergeBase(repository, [target, source]);
  const commitsCount = await countCommits(repository, { from: [source], notFrom: [target], max: MAX_COMMITS });
  const diff = { oldId: baseSha, newId: source };
  const files =
    commitsCount === 0
      ? 0
      : await awaitOrNullIfTooLarge(listChangesWithLineCounts(repository, diff).then(({ length }) => length));
  const state = commitsCount === 0 ? 'empty' : files === null ? 'overflow' : 'collected';
  const referring = { from: source, notFrom: [target], max: MAX_MESSAGES };
  const [commits, patchId] = await Promise.all([
    commitsCount === 0 ? [] : readCommitsWithReferences(repository, referring),
    files === 0 || files === null ? null : awaitOrNullIfTooLarge(readPatchId(repository, diff)),
  ]);
  return {
    ...{ headSha: source, baseSha, startSha: target, filesCount: files ?? TOO_MANY_FILES },
    ...{ commitsCount, state, patchId },
    messages: commits.map(({ message }) => message),
  };
}

/** Returns null instead of a result that is too large for git, or takes too long. */
async function awaitOrNullIfTooLarge<T>(result: Promise<T>): Promise<T | null> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof GitError && (error.reason === 'too large' || error.reason === 'timed out')) return null;
    throw error;
  }
}
