import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Repository } from '../repository/repository';

const FAN_OUT = /^[0-9a-f]{2}$/;

/** Write of objects that are not part of the repository yet. */
export interface ObjectWrite {
  /** View of the repository that sees the new objects and writes more. */
  readonly repository: Repository;
  /** Makes the objects part of the repository. Refs may move to them afterwards. */
  keep(): Promise<void>;
}

/**
 * Runs a write of objects in a quarantine: a refused or failed write leaves nothing in the repository. The folder is
 * removed at the end; if the process is killed, `git prune` removes it, because its name begins with `tmp_objdir`.
 */
export async function inQuarantine<T>(repository: Repository, write: (step: ObjectWrite) => Promise<T>): Promise<T> {
  const objects = join(repository.directory, 'objects');
  const folder = join(objects, `tmp_objdir-rookery-${randomBytes(8).toString('hex')}`);
  await mkdir(folder, { mode: 0o700 });
  const alternates = repository.quarantine ? [repository.quarantine.objectDirectory, objects] : [objects];
  const view = repository.withQuarantine({ objectDirectory: folder, alternates });
  try {
    return await write({ repository: view, keep: () => moveQuarantinedObjects(folder, objects) });
  } finally {
    repository.readers.closeView(view);
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Runs a step with a view of a repository that also sees the objects of another one on this machine. Objects that the
 * step writes are dropped.
 */
export function withObjectsOf<T>(
  repository: Repository,
  other: Repository,
  read: (view: Repository) => Promise<T>,
): Promise<T> {
  return inQuarantine(repository, ({ repository: { quarantine } }) => {
    const { objectDirectory, alternates } = quarantine!;
    return read(
      repository.withQuarantine({ objectDirectory, alternates: [...alternates, join(other.directory, 'objects')] }),
    );
  });
}

/** Measures the objects in the quarantine of a view on disk; 0 for a repository without one. Units: bytes. */
export async function quarantinedBytes({ quarantine }: Repository): Promise<number> {
  if (!quarantine) return 0;
  let size = 0;
  for (const name of await readdir(quarantine.objectDirectory, { recursive: true })) {
    const found = await stat(join(quarantine.objectDirectory, name));
    if (found.isFile()) size += found.size;
  }
  return size;
}

/** Moves objects: an index of a pack goes last, since it makes the pack visible. */
async function moveQuarantinedObjects(from: string, to: string): Promise<void> {
  const touched = new Set<string>();
  for (const name of await readdir(from)) {
    if (!FAN_OUT.test(name) && name !== 'pack') continue;
    const source = join(from, name);
    const target = join(to, name);
    await mkdir(target, { recursive: true });
    const files = (await readdir(source)).filter((file) => !file.startsWith('tmp_'));
    for (const file of files.sort((a, b) => objectFileMoveOrder(a) - objectFileMoveOrder(b)))
      await moveObjectFile(join(source, file), join(target, file));
    if (files.length > 0) touched.add(target);
  }
  for (const folder of [...touched, to]) {
    const handle = await open(folder, 'r');
    await handle.sync().finally(() => handle.close());
  }
}

function objectFileMoveOrder(file: string): number {
  return file.endsWith('.idx') ? 1 : 0;
}

/** An object that exists stays: both files have the same content. */
async function moveObjectFile(source: string, target: string): Promise<void> {
  try {
    await link(source, target);
    await unlink(source);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EOPNOTSUPP') throw error;
    // This file system has no hard links.
    await rename(source, target);
  }
}
