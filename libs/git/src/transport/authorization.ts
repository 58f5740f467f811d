import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GitConfig } from '../process/environment';

/**
 * Runs a step with the configuration that makes git send an `Authorization` header. The header is in a private file that
 * ends with the step: neither arguments nor environment of a process show it. Shape: null for no header; the value has
 * neither quotes nor line breaks.
 */
export async function withAuthorization<T>(
  authorization: string | null,
  step: (config: GitConfig) => Promise<T>,
): Promise<T> {
  if (authorization === null) return step([]);
  const folder = await mkdtemp(join(tmpdir(), 'rookery-fetch-'));
  try {
    const path = join(folder, 'credentials');
    await writeFile(path, `[http]\n\textraHeader = "Authorization: ${authorization}"\n`, { mode: 0o600 });
    return await step([['include.path', path]]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
