import { GitError, inQuarantine, NO_OBJECT, readRefs, updateRefs } from '@rookery/git';
import type { ObjectId, RefUpdate, Repository } from '@rookery/git';

/** Wanted value of a ref. A null `id` deletes the ref. */
export interface RefTarget {
  readonly ref: string;
  readonly id: ObjectId | null;
}

const ATTEMPTS = 5;

/** Ref that keeps a commit although no branch reaches it. Clients do not see it. */
export function toKeepAroundRef(id: ObjectId): RefTarget {
  return { ref: `refs/keep-around/${id}`, id };
}

/**
 * Sets refs that clients cannot push to, such as `refs/merge-requests/1/head`. All of them move or none. A concurrent
 * change is repeated. Errors: GitError `conflict` if others keep changing the same refs; other errors of git.
 */
export async function setHiddenRefs(repository: Repository, wanted: readonly RefTarget[]): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const updates = await planRefUpdates(repository, wanted);
    const outcomes = await updateRefs(repository, updates, { atomic: true });
    const failed = outcomes.find((one) => !one.moved);
    if (!failed || failed.moved) return;
    if (failed.why === 'object') throw new GitError('not found', 'The commit of a ref does not exist.');
  }
  throw new GitError('conflict', 'Other processes change the same refs.');
}

async function planRefUpdates(repository: Repository, wanted: readonly RefTarget[]): Promise<RefUpdate[]> {
  const now = await readRefs(
    repository,
    wanted.map(({ ref }) => ref),
  );
  return wanted
    .map(({ ref, id }) => ({ ref, oldId: now.get(ref) ?? NO_OBJECT, newId: id ?? NO_OBJECT }))
    .filter(({ oldId, newId }) => oldId !== newId);
}

/**
 * Writes a commit and lets a hidden ref name it. If `write` returns null, the ref and the repository stay as they are.
 */
export async function writeHiddenRef(
  repository: Repository,
  ref: string,
  write: (view: Repository) => Promise<ObjectId | null>,
): Promise<ObjectId | null> {
  const id = await inQuarantine(repository, async ({ repository: view, keep }) => {
    const written = await write(view);
    if (written !== null) await keep();
    return written;
  });
  if (id !== null) await setHiddenRefs(repository, [{ ref, id }]);
  return id;
}
