import type { RunningGit } from '../process/git-processes';
import { EMPTY_TREE, objectId } from '../names/object-id';
import type { ObjectId } from '../names/object-id';
import { treePath } from '../names/tree-path';
import type { Repository } from '../repository/repository';
import { parseDiff } from './parse-diff';
import type { FileChange } from './parse-diff';

/** Two commits or trees; `null` as the old one is the empty tree. */
export interface DiffQuery {
  readonly oldId: ObjectId | null;
  readonly newId: ObjectId;
  readonly paths?: readonly string[];
}

const FIXED = ['-r', '-M', '--no-ext-diff', '--no-textconv', '--full-index'] as const;
const PATCH_MS = 60_000;

/** Lists the changed files of a diff with numbers of lines. Bounds: 64 MiB of output, 20 s. */
export async function listChanges(repository: Repository, query: DiffQuery): Promise<FileChange[]> {
  const args = ['diff-tree', ...FIXED, '-z', '--raw', '--numstat', ...sides(query)];
  return parseDiff((await repository.run({ args })).stdout);
}

/** Streams a diff as text, files in the order of `listChanges`. Bounds: `maxBytes`, beyond which the stream fails. */
export function openDiff(
  repository: Repository,
  query: DiffQuery & { readonly maxBytes: number; readonly signal?: AbortSignal },
): Promise<RunningGit> {
  const args = ['diff-tree', ...FIXED, '-p', ...sides(query)];
  const limits = { outputBytes: query.maxBytes, ms: PATCH_MS };
  return repository.open({ args, limits, signal: query.signal });
}

/** Streams the commits between two as e-mails. Bounds: `maxBytes`. */
export function openPatches(
  repository: Repository,
  query: { readonly from: ObjectId; readonly to: ObjectId; readonly maxBytes: number; readonly signal?: AbortSignal },
): Promise<RunningGit> {
  const range = `${objectId(query.from)}..${objectId(query.to)}`;
  const args = [
    'format-patch',
    '--stdout',
    '--no-ext-diff',
    '--no-textconv',
    '--full-index',
    '--no-signature',
    range,
    '--',
  ];
  const limits = { outputBytes: query.maxBytes, ms: PATCH_MS };
  return repository.open({ args, limits, signal: query.signal });
}

function sides({ oldId, newId, paths = [] }: DiffQuery): string[] {
  return [objectId(oldId ?? EMPTY_TREE), objectId(newId), '--', ...paths.map(treePath)];
}
