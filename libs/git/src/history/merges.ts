import { GitError } from '../process/git-error';
import { objectId } from '../names/object-id';
import type { ObjectId } from '../names/object-id';
import { writeCommit } from '../objects/write-objects';
import { configDisablingDrivers } from '../repository/drivers';
import type { Repository } from '../repository/repository';
import { parseMergeTree } from './parse-merge-tree';
import type { MergeOutcome } from './parse-merge-tree';

const MERGE_MS = 60_000;
/** Constant identity of helper commits, so that a repetition writes no new object. */
const ROOKERY_IDENTITY = { name: 'Rookery', email: '', at: new Date(0) };

/**
 * Merges two commits without a working tree and writes the merged tree.
 * Errors: GitError `not found` for an unknown commit, `conflict` for histories without a common ancestor.
 */
export async function mergeCommitsToTree(
  repository: Repository,
  ours: ObjectId,
  theirs: ObjectId,
): Promise<MergeOutcome> {
  const args = ['merge-tree', '--write-tree', '-z', '--name-only', '--messages', objectId(ours), objectId(theirs)];
  const limits = { ms: MERGE_MS, idleMs: MERGE_MS };
  const config = await configDisablingDrivers(repository);
  const { stdout, stderr } = await repository.run({ args, config, limits, accepts: [0, 1, 128] });
  const outcome = parseMergeTree(stdout);
  if (outcome) return outcome;
  if (/unrelated histories/.test(stderr))
    throw new GitError('conflict', 'The histories have no common ancestor.', stderr);
  throw new GitError('not found', 'A commit of the merge does not exist.', stderr);
}

/**
 * Merges two trees over a base tree of the caller's choice: cherry-pick (base is the parent's tree), revert (base and
 * theirs exchanged) and rebase. git 2.39 merges commits only, so helper commits stand for the trees; no ref names them.
 */
export async function mergeTreesOverBase(
  repository: Repository,
  trees: { readonly base: ObjectId; readonly ours: ObjectId; readonly theirs: ObjectId },
): Promise<MergeOutcome> {
  const helper = (tree: ObjectId, parents: readonly ObjectId[]) =>
    writeCommit(repository, {
      tree,
      parents,
      message: 'Helper',
      author: ROOKERY_IDENTITY,
      committer: ROOKERY_IDENTITY,
    });
  const base = await helper(trees.base, []);
  const [ours, theirs] = await Promise.all([helper(trees.ours, [base]), helper(trees.theirs, [base])]);
  return mergeCommitsToTree(repository, ours, theirs);
}
