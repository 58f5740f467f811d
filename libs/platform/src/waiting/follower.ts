import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '@rookery/kernel';
import type { Logger } from '../observability/logger';

/** Pause after a turn without changes, so that the source is not polled in a tight loop. Units: ms. */
const PAUSE_MS = 20;
const BACKOFF_MS = { first: 50, most: 2000 };
/** Time in which processes that start together become reachable. Units: ms. */
const STARTUP_MS = 20_000;

/**
 * Runs a turn repeatedly while the process serves, such as fetching changes for a copy. A turn returns whether it
 * changed anything. After failures it backs off up to 2 s; the first failure and the recovery are logged. Failures
 * right after the start are no warning, since the source may be starting too. `copy` is the subject of the log lines.
 */
export class Follower {
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly copy: string,
    private readonly logger: Logger,
    private readonly turn: (signal: AbortSignal) => Promise<boolean>,
  ) {}

  start(): void {
    this.running = this.followUntilStopped();
  }

  /** Resolves once the running turn has ended. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async followUntilStopped(): Promise<void> {
    let failures = 0;
    let isWarned = false;
    let startupUntil = performance.now() + STARTUP_MS;
    while (!this.stopping.signal.aborted) {
      try {
        const hasMoved = await this.turn(this.stopping.signal);
        if (failures > 0) this.logger.info({ failures }, `${this.copy} follows again`);
        failures = startupUntil = 0;
        isWarned = false;
        if (!hasMoved) await this.pauseUnlessStopped(PAUSE_MS);
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        if (performance.now() < startupUntil) {
          if (failures === 0) this.logger.info({ reason: String(error) }, `${this.copy} does not follow yet`);
        } else if (!isWarned) {
          this.logger.warn({ err: error }, `${this.copy} cannot follow`);
          isWarned = true;
        }
        failures += 1;
        await this.pauseUnlessStopped(jitteredBackoffMs(failures));
      }
    }
  }

  private async pauseUnlessStopped(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }
}

function jitteredBackoffMs(failures: number): number {
  return backoffMs(failures, BACKOFF_MS) * (0.5 + Math.random() / 2);
}
