import { GitBusy } from '../process/git-error';
import type { GitProcesses } from '../process/git-processes';
import type { Repository } from './repository';
import { ObjectReader } from './object-reader';

/** Units: milliseconds for `idleMs`. */
export interface ReaderLimits {
  /** Kept processes, over all repositories. */
  readonly total: number;
  /** A reader without requests for so long is closed. */
  readonly idleMs: number;
}

interface CachedReader {
  readonly reader: ObjectReader;
  readonly timer: NodeJS.Timeout;
}

/** A process is replaced after so many requests, so that it does not keep maps of packs that were deleted. */
const MAX_REQUESTS = 10_000;
const ARGS = ['cat-file', '--batch-command', '--buffer', '-z'] as const;
const RETRY_AFTER_SECONDS = 2;

/**
 * Kept readers, one a repository. The one that was used least recently is closed when there are too many.
 * Errors: GitBusy if all of them are busy.
 */
export class ObjectReaders {
  /** In the order of use, the oldest first. */
  private readonly kept = new Map<string, CachedReader>();

  constructor(
    private readonly processes: GitProcesses,
    private readonly limits: ReaderLimits,
  ) {}

  /** Number of kept processes, for metrics. */
  get size(): number {
    return this.kept.size;
  }

  /** Returns the reader of a repository. It may be used until the next turn of the event loop, then is asked for again. */
  readerFor(repository: Repository): ObjectReader {
    const key = repository.readerKey;
    let kept = this.kept.get(key);
    if (kept && kept.reader.isIdle && kept.reader.asked >= MAX_REQUESTS) {
      this.dropReader(key);
      kept = undefined;
    }
    if (kept) this.kept.delete(key);
    else kept = this.createReader(repository);
    this.kept.set(key, kept);
    kept.timer.refresh();
    return kept.reader;
  }

  /** Closes the readers of a repository, those of its quarantines too. */
  close(directory: string): void {
    for (const key of [...this.kept.keys()]) if (key.startsWith(`${directory}\0`)) this.dropReader(key);
  }

  /** Closes the reader of one view of a repository. */
  closeView(repository: Repository): void {
    this.dropReader(repository.readerKey);
  }

  closeAll(): void {
    for (const key of [...this.kept.keys()]) this.dropReader(key);
  }

  private createReader(repository: Repository): CachedReader {
    if (this.kept.size >= this.limits.total) this.dropOldestIdleReader();
    const key = repository.readerKey;
    const request = { gitDirectory: repository.directory, quarantine: repository.quarantine };
    const reader = new ObjectReader(
      () => this.processes.startKept(ARGS, request),
      () => this.kept.get(key)?.timer.refresh(),
    );
    const timer = setTimeout(() => this.dropReaderIfIdle(key, timer), this.limits.idleMs);
    timer.unref();
    return { reader, timer };
  }

  private dropOldestIdleReader(): void {
    for (const [key, { reader }] of this.kept) {
      if (!reader.isIdle) continue;
      this.dropReader(key);
      return;
    }
    throw new GitBusy('Too many repositories are being read.', RETRY_AFTER_SECONDS);
  }

  private dropReaderIfIdle(key: string, timer: NodeJS.Timeout): void {
    if (this.kept.get(key)?.reader.isIdle) this.dropReader(key);
    else timer.refresh();
  }

  private dropReader(key: string): void {
    const kept = this.kept.get(key);
    if (!kept) return;
    this.kept.delete(key);
    clearTimeout(kept.timer);
    kept.reader.close();
  }
}
