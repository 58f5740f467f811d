import { setTimeout as pause } from 'node:timers/promises';
import { BlobError } from './blob-error';
import type { BlobStore } from './blob-store';

/** A mark that no sweep has taken away for this long was left by a process that died. Units: ms. */
const STALE_AFTER_MS = 120_000;
const PAUSE_MS = 20;
const MAX_TRIES = 5;

/** Folder of the marks by which a sweep announces that it removes a file. */
export const MARKS = 'removing';

/**
 * The last step of an upload: gives the content its final name. Purpose: an acknowledged file cannot be removed by a
 * sweep that took it for an old orphan, in this process or another.
 *
 * The upload writes the file, then looks for marks. The sweep sets a mark, then looks at the age of the file. At least
 * one of them sees the other: either the sweep finds a young file and keeps it, or the upload finds the mark, waits until
 * it is gone, and writes the file again if it was removed. A mark that is set after the upload looked belongs to a sweep
 * that finds a young file. Source: ADR 0182.
 */
export class BlobPublisher {
  constructor(
    private readonly store: BlobStore,
    private readonly staleAfterMs = STALE_AFTER_MS,
  ) {}

  /** Errors: BlobError `unavailable`. */
  async publishBlob(temporary: string, key: string, size: number): Promise<void> {
    const name = `files/${key}`;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      await this.store.copy(temporary, name, size);
      await this.waitUntilUnmarked(key);
      if (await this.store.stat(name)) return;
    }
    throw new BlobError('unavailable', 'The file is removed each time that it is stored.');
  }

  /** Waits until no sweep is removing the file. Takes away marks that outlived their process. */
  private async waitUntilUnmarked(key: string): Promise<void> {
    const since = performance.now();
    for (;;) {
      const marks = [];
      for await (const { name } of this.store.list(MARKS, `${key}.`)) marks.push(name);
      if (marks.length === 0) return;
      if (performance.now() - since > this.staleAfterMs) {
        for (const mark of marks) await this.store.remove(mark);
        return;
      }
      await pause(PAUSE_MS);
    }
  }
}
