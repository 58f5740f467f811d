import { parseCommit, readObjects } from '@rookery/git';
import type { Commit, ObjectId, Repository } from '@rookery/git';

/** Largest commit object that is read. Units: bytes. */
const MAX_COMMIT_BYTES = 10 * 1024 * 1024;

/** Returns the commits that objects lead to, in the same order. An object that leads to a blob or tree yields null. */
export async function readPeeledCommits(
  repository: Repository,
  ids: readonly ObjectId[],
): Promise<readonly (Commit | null)[]> {
  const names = ids.map((rev) => ({ rev, peel: 'commit' as const }));
  const objects = await readObjects(repository, names, MAX_COMMIT_BYTES);
  return objects.map((object) => (object?.type === 'commit' ? parseCommit(object.id, object.content) : null));
}
