import type { RunningGit } from '../process/git-run';
import { EMPTY_TREE, objectId } from '../names/object-id';
import type { ObjectId } from '../names/object-id';
import { requireTreePath } from '../names/tree-path';
import type { Repository } from '../repository/repository';
import { parseDiff } from './parse-diff';
import type { FileChange } from './parse-diff';
import { parseHunks } from './parse-hunks';
import type { Hunk } from './parse-hunks';
import { parsePatches } from './parse-patches';
import type { FilePatch } from './parse-patches';

/** Two commits or trees; `null` as the old one is the empty tree. */
export interface DiffQuery {
  readonly oldId: ObjectId | null;
  readonly newId: ObjectId;
  readonly paths?: readonly string[];
}

const FIXED = ['-r', '-M', '--no-ext-diff', '--no-textconv', '--full-index'] as const;
const PATCH_MS = 60_000;

/** Lists the changed files of a diff with numbers of lines. Bounds: 64 MiB of output, 20 s. */
export async function listChangesWithLineCounts(repository: Repository, query: DiffQuery): Promise<FileChange[]> {
  const args = ['diff-tree', ...FIXED, '-z', '--raw', '--numstat', ...diffArguments(query)];
  return parseDiff((await repository.run({ args })).stdout);
}

/** Lists the changed files of a diff without numbers of lines, which is cheaper. Bounds: 64 MiB of output, 20 s. */
export async function listChangedFiles(repository: Repository, query: DiffQuery): Promise<FileChange[]> {
  const args = ['diff-tree', ...FIXED, '-z', '--raw', ...diffArguments(query)];
  return parseDiff((await repository.run({ args })).stdout);
}

/** Streams a diff as text, files in the order of `listChangesWithLineCounts`. Bounds: `maxBytes`, beyond which the stream fails. */
export function openDiff(
  repository: Repository,
  query: DiffQuery & { readonly maxBytes: number; readonly signal?: AbortSignal },
): Promise<RunningGit> {
  const args = ['diff-tree', ...FIXED, '-p', ...diffArguments(query)];
  const limits = { outputBytes: query.maxBytes, ms: PATCH_MS };
  return repository.open({ args, limits, signal: query.signal });
}

/**
 * Returns the patch id of a diff: a hash of its patches that is the same wherever the same changes are made. Returns
 * null without changes; hex. A renamed file counts as a deletion and an addition. Bounds: 64 MiB of patches, 20 s.
 */
export async function readPatchId(repository: Repository, query: DiffQuery): Promise<string | null> {
  const options = ['--no-ext-diff', '--no-textconv', '--no-renames', '--full-index'];
  const first = { args: ['diff-tree', '-p', ...options, ...diffArguments(query)] };
  const { stdout } = await repository.runPiped(first, { args: ['patch-id', '--stable'] });
  return stdout.toString().split(' ', 1)[0] || null;
}

/** Files of a diff whose patches are read. */
export interface PatchQuery extends DiffQuery {
  /** Files before the first patch. git computes their patches too. Default 0. */
  readonly skip?: number;
  /** Default: all. */
  readonly max?: number;
  /** Larger patches are left out, and never held in memory. Units: bytes. */
  readonly maxFileBytes: number;
}

/**
 * Reads patches of a diff one by one, in the order of `listChangesWithLineCounts`, until `each` returns false. Returns all changed
 * files of the diff, those without a patch too; a file that becomes another type is deleted and added. Bounds: 60 s.
 */
export async function readPatches(
  repository: Repository,
  query: PatchQuery,
  each: (patch: FilePatch) => boolean,
): Promise<readonly FileChange[]> {
  const { skip = 0, max = Number.MAX_SAFE_INTEGER } = query;
  const args = ['diff-tree', ...FIXED, '-z', '--raw', '-p', ...diffArguments(query)];
  const running = await repository.open({ args, limits: { outputBytes: Number.MAX_SAFE_INTEGER, ms: PATCH_MS } });
  let changes: readonly FileChange[] = [];
  let at = 0;
  try {
    for await (const patch of parsePatches(running.stdout, query.maxFileBytes, (found) => (changes = found))) {
      if (skip >= changes.length || (at >= skip && !each(patch))) break;
      at += 1;
      if (at - skip >= max) break;
    }
  } finally {
    running.stdout.destroy();
  }
  return changes;
}

/** Changed file with its hunks without context. A binary file and a change of the mode only have no hunks. */
export interface FileHunks {
  readonly change: FileChange;
  readonly hunks: readonly Hunk[];
}

/**
 * Lists the changed files of a diff with the numbers of the changed lines, and no text of them. A file that becomes another
 * type has the hunks of its deletion. Bounds: 60 s.
 */
export async function readHunks(repository: Repository, query: DiffQuery): Promise<FileHunks[]> {
  const changes = await listChangedFiles(repository, query);
  if (changes.length === 0) return [];
  const args = ['diff-tree', ...FIXED, '-p', '-U0', ...diffArguments(query)];
  const { stdout } = await repository.open({
    args,
    limits: { outputBytes: Number.MAX_SAFE_INTEGER, ms: PATCH_MS },
  });
  const files = await parseHunks(stdout);
  let at = 0;
  return changes.map((change) => {
    const hunks = files[at] ?? [];
    // Git writes two patches for another type.
    at += change.oldMode.slice(0, 3) === change.newMode.slice(0, 3) || change.status !== 'type changed' ? 1 : 2;
    return { change, hunks };
  });
}

/** Streams the commits between two as e-mails. Bounds: `maxBytes`. */
export function openEmailPatches(
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

function diffArguments({ oldId, newId, paths = [] }: DiffQuery): string[] {
  return [objectId(oldId ?? EMPTY_TREE), objectId(newId), '--', ...paths.map(requireTreePath)];
}
