import { GitError, mergeTreesOverBase, mergeCommitsToTree, readCommits, writeCommit } from '@rookery/git';
import type { Commit, Identity, ObjectId, Repository } from '@rookery/git';

/** Commits that a merge writes. */
export interface MergeCommits {
  /** New value of the target branch. */
  readonly tip: ObjectId;
  /** Null for a fast-forward. */
  readonly mergeCommitSha: ObjectId | null;
  readonly squashCommitSha: ObjectId | null;
}

/** Tips, people and texts of a merge. `squash` is null to keep the commits. */
export interface MergeRecipe {
  readonly target: ObjectId;
  readonly source: ObjectId;
  readonly merger: Identity;
  /** Message of the merge commit; null for a fast-forward. */
  readonly message: string | null;
  readonly squash: { readonly author: Identity; readonly message: string } | null;
}

/** Writes the commits of a merge. Returns null for a conflict. Source: reference repositories 8.9. */
export async function writeMergeCommits(view: Repository, recipe: MergeRecipe): Promise<MergeCommits | null> {
  const { target, source, merger, message, squash } = recipe;
  if (message === null && squash === null) return { tip: source, mergeCommitSha: null, squashCommitSha: null };
  const tree = await writeMergedTree(view, target, source);
  if (tree === null) return null;
  const squashCommitSha =
    squash && (await writeCommit(view, { ...squash, tree, parents: [target], committer: merger }));
  const merged = squashCommitSha ?? source;
  if (message === null) return { tip: merged, mergeCommitSha: null, squashCommitSha };
  const parents = [target, merged];
  const tip = await writeCommit(view, { tree, parents, message, author: merger, committer: merger });
  return { tip, mergeCommitSha: tip, squashCommitSha };
}

/** Writes the merged tree of two commits. Returns null for a conflict. */
async function writeMergedTree(view: Repository, ours: ObjectId, theirs: ObjectId): Promise<ObjectId | null> {
  try {
    const { tree, conflicts } = await mergeCommitsToTree(view, ours, theirs);
    return conflicts.length === 0 ? tree : null;
  } catch (error) {
    if (error instanceof GitError && error.reason === 'conflict') return null;
    throw error;
  }
}

/**
 * Writes commits again on top of another one. Authors and their dates stay. Commits that come out empty are dropped.
 * `commits` are ordered from the oldest to the newest. Returns null for a conflict and for a commit without a parent.
 * Source: reference repositories 8.9.
 */
export async function writeRebasedCommits(
  view: Repository,
  onto: ObjectId,
  commits: readonly ObjectId[],
  committer: Identity,
): Promise<ObjectId | null> {
  let tip = await readCommit(view, onto);
  for (const id of commits) {
    const picked = await readCommit(view, id);
    const parent = picked.parents[0];
    if (parent === undefined) return null;
    const base = await readCommit(view, parent);
    const merged = await mergeTreesOverBase(view, { base: base.tree, ours: tip.tree, theirs: picked.tree });
    if (merged.conflicts.length > 0) return null;
    if (merged.tree === tip.tree) continue;
    const { name, email, seconds, offsetMinutes } = picked.author;
    const author = { name, email, at: new Date(seconds * 1000), offsetMinutes };
    const { message } = picked;
    const next = await writeCommit(view, { tree: merged.tree, parents: [tip.id], message, author, committer });
    tip = await readCommit(view, next);
  }
  return tip.id;
}

async function readCommit(view: Repository, id: ObjectId): Promise<Commit> {
  const [commit] = await readCommits(view, [id]);
  if (!commit) throw new GitError('not found', 'A commit of the rebase does not exist.');
  return commit;
}
