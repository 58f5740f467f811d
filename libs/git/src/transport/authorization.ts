import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GitConfig } from '../process/environment';

/** Name of a folder with a header. It contains the id and the start time of the process that made it. */
const FOLDER = /^rookery-fetch-(\d+)-(\d+)-/;
/** Start time of this process. A container gives its next process the id of the one before. Units: ms. */
const STARTED = Math.floor(performance.timeOrigin);

/**
 * Runs a step with the configuration that makes git send an `Authorization` header. The header is in a private file
 * that ends with the step: neither arguments nor environment of a process show it. `authorization` is null for no
 * header. It must contain neither quotes nor line breaks.
 */
export async function withAuthorization<T>(
  authorization: string | null,
  step: (config: GitConfig) => Promise<T>,
): Promise<T> {
  if (authorization === null) return step([]);
  await removeAbandonedHeaderFiles();
  const folder = await mkdtemp(join(tmpdir(), `rookery-fetch-${process.pid}-${STARTED}-`));
  try {
    const path = join(folder, 'credentials');
    await writeFile(path, `[http]\n\textraHeader = "Authorization: ${authorization}"\n`, { mode: 0o600 });
    return await step([['include.path', path]]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Deletes the headers of processes that were killed. An import that was interrupted in a step runs it again, so its
 * credential does not stay on disk.
 */
async function removeAbandonedHeaderFiles(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const [, id, started] = FOLDER.exec(name) ?? [];
    if (id === undefined || isProcessAlive(Number(id), Number(started))) continue;
    // The folder of another user cannot be deleted.
    await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => undefined);
  }
}

function isProcessAlive(processId: number, started: number): boolean {
  if (processId === process.pid) return started === STARTED;
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
