import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { REF_LOCK_MS } from '../process/git-processes';
import type { Repository } from './repository';

/** Longest run of one step: a repository of many gigabytes. Units: milliseconds. */
const STEP_MS = 1_800_000;

/** Objects of a repository, also unreferenced ones. Units: bytes in steps of 1024. */
export interface ObjectCounts {
  readonly bytes: number;
  readonly looseObjects: number;
  readonly packs: number;
}

/** File whose time is that of the last maintenance. */
const MAINTAINED = 'maintained';

/** Changes since the last maintenance that make reads slow: commits outside of the graph, refs in files of their own. */
export interface MaintenanceBacklog {
  /** Bytes of packs that are newer than the last maintenance. */
  readonly packBytes: number;
  readonly looseRefs: number;
}

/** Measures what the next maintenance would improve, in addition to the objects of `countObjects`. */
export async function measureMaintenanceBacklog({ directory }: Repository): Promise<MaintenanceBacklog> {
  const last = (await statOrNull(join(directory, MAINTAINED)))?.mtimeMs ?? 0;
  const packs = join(directory, 'objects/pack');
  const names = (await fileNamesBelow(packs)).filter((name) => name.endsWith('.pack'));
  const files = await Promise.all(names.map((name) => statOrNull(join(packs, name))));
  const newer = files.filter((file) => file !== null && file.mtimeMs > last);
  return {
    packBytes: newer.reduce((sum, file) => sum + (file?.size ?? 0), 0),
    looseRefs: (await fileNamesBelow(join(directory, 'refs'))).length,
  };
}

/** A file may move or vanish at any time. */
async function statOrNull(path: string): Promise<{ readonly mtimeMs: number; readonly size: number } | null> {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function fileNamesBelow(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Counts the objects of a repository by how they are stored. */
export async function countObjects(repository: Repository): Promise<ObjectCounts> {
  const { stdout } = await repository.run({ args: ['count-objects', '-v'] });
  const numbers = new Map(
    [...stdout.toString().matchAll(/^([a-z-]+): (\d+)$/gm)].map(([, name, value]) => [name!, Number(value)]),
  );
  const of = (name: string): number => numbers.get(name) ?? 0;
  const kibibytes = of('size') + of('size-pack') + of('size-garbage');
  return { bytes: kibibytes * 1024, looseObjects: of('count'), packs: of('packs') };
}

/**
 * Packs refs and objects, and renews the graph of commits. Readers and writers may work meanwhile: git locks each ref that
 * it packs, writes new packs before it removes old ones, and keeps unreferenced objects. A step that is ended leaves a whole
 * repository. Bounds: 30 minutes a step. Errors: GitError; the reason of `signal`. Source: ADR 0186.
 */
export async function packRepository(repository: Repository, signal?: AbortSignal): Promise<void> {
  const limits = { ms: STEP_MS, idleMs: STEP_MS };
  // Longer, and its lock would count as that of a killed process.
  const refs = { ms: REF_LOCK_MS, idleMs: REF_LOCK_MS };
  await repository.run({ args: ['pack-refs', '--all', '--prune'], lane: 'inside', limits: refs, signal });
  const steps = [
    // Packs of similar size become one. So an object is rewritten only as often as the repository doubles.
    ['repack', '-d', '-l', '--quiet', '--geometric=2'],
    // With filters of changed paths, the search for the last commit of a file reads no trees of most other commits.
    ['commit-graph', 'write', '--reachable', '--split', '--changed-paths', '--no-progress'],
  ];
  for (const args of steps) await repository.run({ args, lane: 'inside', limits, signal });
  await writeFile(join(repository.directory, MAINTAINED), '');
}
