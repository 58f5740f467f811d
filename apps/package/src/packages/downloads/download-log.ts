import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@rookery/kernel';
import { CLOCK } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import type { Logger } from '@rookery/platform';
import { runDetached, LOGGER, ShutdownOrder } from '@rookery/platform';

/** Time between a download and its row, unless the package had no download yet. Units: ms. */
const FLUSH_MS = 30_000;
const CHUNK = 1000;

const RECORD = statement<{ ids: readonly number[]; times: readonly Date[] }, never>(
  'packages_downloaded',
  `update packages p set last_downloaded_at = seen.at
   from (select id, at from unnest(:ids::bigint[], :times::timestamptz[]) as noted (id, at) order by id) seen
   where p.id = seen.id and (p.last_downloaded_at is null or p.last_downloaded_at < seen.at)`,
);

/**
 * Writes `last_downloaded_at` in batches, so that a popular package is not updated for every download. The first download
 * that this process sees of a package is written at once. A process that is killed loses at most half a minute of times.
 */
@Injectable()
export class DownloadLog {
  private readonly noted = new Map<number, Date>();
  private readonly known = new Set<number>();
  private timer: NodeJS.Timeout | null = null;
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly work: Work,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
    shutdown: ShutdownOrder,
  ) {
    shutdown.addStep('drain', 'downloads', () => this.flush());
  }

  /** Notes a download. Never fails. */
  recordDownload(packageId: number): void {
    this.noted.set(packageId, this.clock.now());
    const isFirst = !this.known.has(packageId);
    if (this.known.size > 100_000) this.known.clear();
    this.known.add(packageId);
    if (isFirst) void this.flush();
    else this.timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Writes what was noted. Never rejects; times that could not be written are logged and lost. */
  flush(): Promise<void> {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    return (this.writing = this.writing.then(() => runDetached(() => this.writeDownloadTimes())));
  }

  private async writeDownloadTimes(): Promise<void> {
    const entries = [...this.noted].sort(([a], [b]) => a - b);
    this.noted.clear();
    try {
      for (let from = 0; from < entries.length; from += CHUNK) {
        const chunk = entries.slice(from, from + CHUNK);
        const params = { ids: chunk.map(([id]) => id), times: chunk.map(([, at]) => at) };
        await this.work.run((tx) => tx.run(RECORD, params));
      }
    } catch (error) {
      this.logger.warn({ err: error, packages: entries.length }, 'download times were not written');
    }
  }
}
