import { stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { refName } from '../names/ref-name';
import { REF_LOCK_MS } from '../process/git-processes';
import type { Repository } from '../repository/repository';

/** Locks that changes of any ref may need. */
const SHARED = ['packed-refs.lock', 'HEAD.lock'];

/**
 * Removes locks of these refs that killed processes left: git never does, so no process could change the ref again.
 * Returns their number. Errors: those of the file system.
 */
export async function removeStaleRefLocks(repository: Repository, refs: readonly string[]): Promise<number> {
  let count = 0;
  for (const name of [...SHARED, ...refs.map((ref) => `${refName(ref)}.lock`)]) {
    const file = join(repository.directory, name);
    const first = await statLockFile(file);
    // Compares the inode, because another process may have replaced the old lock with its own meanwhile.
    const second = first !== null && isAbandonedRefLock(first) ? await statLockFile(file) : null;
    if (second === null || second.ino !== first!.ino || !isAbandonedRefLock(second)) continue;
    await unlink(file).catch(ignoreMissingFile);
    count += 1;
  }
  return count;
}

interface LockFile {
  readonly ino: number;
  readonly mtimeMs: number;
}

async function statLockFile(file: string): Promise<LockFile | null> {
  return (await stat(file).catch(ignoreMissingFile)) ?? null;
}

function isAbandonedRefLock({ mtimeMs }: LockFile): boolean {
  return Date.now() - mtimeMs > REF_LOCK_MS;
}

/** The lock, or a folder of its ref, is gone. */
function ignoreMissingFile(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
}
