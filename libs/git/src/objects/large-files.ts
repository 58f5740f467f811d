import { createInterface } from 'node:readline';
import type { ObjectId } from '../names/object-id';
import type { Repository } from '../repository/repository';
import { objectInfo } from './objects';

/** File whose content is larger than asked for. Units: bytes. */
export interface LargeFile {
  readonly id: ObjectId;
  readonly size: number;
}

/** Longest walk over the new objects of one push. Units: milliseconds. */
const WALK_MS = 60_000;

/**
 * Returns files above a size that commits or tags add, compared with all refs. git reads the sizes, no content.
 * Bounds: `max` files; one minute. Errors: GitError.
 */
export async function findLargeFiles(
  view: Repository,
  query: {
    readonly from: readonly ObjectId[];
    readonly aboveBytes: number;
    readonly max: number;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<LargeFile[]> {
  // The filter leaves the large files out, and `~` marks them in the output.
  const filter = [`--filter=blob:limit=${query.aboveBytes + 1}`, '--filter-print-omitted'];
  const running = await view.open({
    signal: query.signal,
    args: ['rev-list', '--objects', '--no-object-names', ...filter, ...query.from, '--not', '--all'],
    // The lines are not kept.
    limits: { ms: WALK_MS, idleMs: WALK_MS, outputBytes: Number.MAX_SAFE_INTEGER },
  });
  const ids: ObjectId[] = [];
  running.ended.catch(() => undefined);
  for await (const line of createInterface({ input: running.stdout })) {
    if (line.startsWith('~') && ids.length < query.max) ids.push(line.slice(1) as ObjectId);
  }
  await running.ended;
  const found = await Promise.all(ids.map((id) => objectInfo(view, { rev: id })));
  return found.flatMap((info, index) => (info?.type === 'blob' ? [{ id: ids[index]!, size: info.size }] : []));
}
