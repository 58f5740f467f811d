import { GitError, invalidGitArgument } from '../process/git-error';
import { REF_LOCK_MS } from '../process/git-processes';
import { NO_OBJECT, isObjectId } from '../names/object-id';
import type { ObjectId } from '../names/object-id';
import type { Repository } from '../repository/repository';
import { refName } from '../names/ref-name';
import { removeStaleRefLocks } from './stale-ref-locks';
import { readRefs } from './refs';

/** Change of a ref by compare-and-swap. `NO_OBJECT` as the old id demands that the ref is new, as the new id deletes it. */
export interface RefUpdate {
  readonly ref: string;
  readonly oldId: ObjectId;
  readonly newId: ObjectId;
}

/** Why a ref did not move. */
export type RefFailure =
  /** Its value is not the old id. */
  | 'changed'
  /** Its name is a folder of another ref, or the other way round. */
  | 'hierarchy'
  /** Another process is changing it. */
  | 'locked'
  /** The new object does not exist, or is not a commit where a branch needs one. */
  | 'object'
  | 'failed';

/** Outcome for one ref. `now` is the value of the ref after the call, null if it does not exist. */
export type RefOutcome =
  | { readonly ref: string; readonly moved: true }
  | { readonly ref: string; readonly moved: false; readonly why: RefFailure; readonly now: ObjectId | null };

const MAX_UPDATES = 10_000;
const LOCKED = /\.lock': File exists/;

/**
 * Moves refs by compare-and-swap. With `atomic` all of them move or none; otherwise each moves on its own. Outcomes
 * come in the order of the updates. In an atomic call that failed, a ref that was not itself the reason has `failed`.
 * Errors: GitError. After `timed out` or an abort the outcome is unknown: the caller reads the refs.
 * Source: ADR 0183.
 */
export async function updateRefs(
  repository: Repository,
  updates: readonly RefUpdate[],
  options: { readonly atomic: boolean },
): Promise<RefOutcome[]> {
  // git refuses this for hooks: the objects may go again, and the refs would stay.
  if (repository.quarantine) throw invalidGitArgument('Refs do not move to objects in quarantine.');
  checkRefUpdates(updates);
  if (updates.length === 0) return [];
  const failure = await runRefTransaction(repository, updates);
  if (failure === null) return updates.map(({ ref }) => ({ ref, moved: true }));
  if (!options.atomic && updates.length > 1) {
    const outcomes: RefOutcome[] = [];
    for (const update of updates) outcomes.push(...(await updateRefs(repository, [update], { atomic: true })));
    return outcomes;
  }
  const now = await readRefs(
    repository,
    updates.map(({ ref }) => ref),
  );
  return updates.map((update) => ({
    ref: update.ref,
    moved: false,
    why: toRefFailure(update, now.get(update.ref) ?? null, failure, updates.length === 1),
    now: now.get(update.ref) ?? null,
  }));
}

function checkRefUpdates(updates: readonly RefUpdate[]): void {
  if (updates.length > MAX_UPDATES) throw invalidGitArgument(`At most ${MAX_UPDATES} refs move at a time.`);
  if (new Set(updates.map(({ ref }) => ref)).size < updates.length) throw invalidGitArgument('A ref is updated twice.');
  for (const { ref, oldId, newId } of updates) {
    if (refName(ref) === 'HEAD') throw invalidGitArgument('HEAD is not moved as a ref.');
    if (!isObjectId(oldId) || !isObjectId(newId)) throw invalidGitArgument('Old and new ids are full object ids.');
    if (oldId === NO_OBJECT && newId === NO_OBJECT) throw invalidGitArgument('An update changes its ref.');
  }
}

/** Runs a transaction, and repeats it if it removed locks of killed processes. Returns null, or the error of git. */
async function runRefTransaction(repository: Repository, updates: readonly RefUpdate[]): Promise<string | null> {
  const failure = await runRefTransactionOnce(repository, updates);
  if (failure === null || !LOCKED.test(failure)) return failure;
  const refs = updates.map(({ ref }) => ref);
  return (await removeStaleRefLocks(repository, refs)) === 0 ? failure : runRefTransactionOnce(repository, updates);
}

async function runRefTransactionOnce(repository: Repository, updates: readonly RefUpdate[]): Promise<string | null> {
  const lines = updates.map(({ ref, oldId, newId }) =>
    newId === NO_OBJECT ? `delete ${ref}\0${oldId}\0` : `update ${ref}\0${newId}\0${oldId}\0`,
  );
  const stdin = Buffer.from(['start\0', ...lines, 'prepare\0', 'commit\0'].join(''));
  const args = ['update-ref', '--no-deref', '--stdin', '-z'];
  // git flushes each ref to disk, so thousands of them take a while, and an end in the middle leaves the outcome open.
  const limits = { ms: REF_LOCK_MS, idleMs: REF_LOCK_MS };
  const { code, stdout, stderr } = await repository.run({ args, stdin, limits, accepts: [0, 1, 128] });
  if (code === 0 && stdout.toString().endsWith('commit: ok\n')) return null;
  if (/not a git repository/.test(stderr))
    throw new GitError('no repository', 'The repository does not exist.', stderr);
  return stderr;
}

function toRefFailure(update: RefUpdate, currentId: ObjectId | null, stderr: string, isAlone: boolean): RefFailure {
  if ((currentId ?? NO_OBJECT) !== update.oldId) return 'changed';
  if (!isAlone && !stderr.includes(`'${update.ref}'`)) return 'failed';
  if (LOCKED.test(stderr)) return 'locked';
  if (/exists; cannot create|non-empty directory|cannot process .* and .* at the same time/.test(stderr))
    return 'hierarchy';
  if (/nonexistent object|non-commit object|not a valid|invalid new value/.test(stderr)) return 'object';
  // Another update moved the ref and moved it back, or it moved between the transaction and the reading.
  if (/but expected|already exists|unable to resolve/.test(stderr)) return 'changed';
  return 'failed';
}
