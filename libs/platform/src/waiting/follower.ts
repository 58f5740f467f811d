import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../observability/logger';

/** Between turns that brought nothing, so that a hasty or busy other side is not asked in a tight loop. Units: ms. */
const PAUSE_MS = 20;
const FIRST_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 2000;
/** Processes that begin together find each other within this. Units: ms. */
const BEGINNING_MS = 20_000;

/**
 * Turns again and again for as long as the process serves: how a copy follows what it copies. After failures it rests
 * longer and longer, 2 s at most; the first failure and the end of failing are logged. While it has never followed and has
 * just begun, the other side is taken to be beginning, too, which is no fault.
 * Shape: a turn answers whether it moved anything; `copy` is the subject of the log lines.
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
    this.running = this.run();
  }

  /** Resolves once the turn that runs has ended. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    let failures = 0;
    let isWarned = false;
    let mayBegin = performance.now() + BEGINNING_MS;
    while (!this.stopping.signal.aborted) {
      try {
        const hasMoved = await this.turn(this.stopping.signal);
        if (failures > 0) this.logger.info({ failures }, `${this.copy} follows again`);
        failures = mayBegin = 0;
        isWarned = false;
        if (!hasMoved) await this.pause(PAUSE_MS);
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        if (performance.now() < mayBegin) {
          if (failures === 0) this.logger.info({ reason: String(error) }, `${this.copy} does not follow yet`);
        } else if (!isWarned) {
          this.logger.warn({ err: error }, `${this.copy} cannot follow`);
          isWarned = true;
        }
        failures += 1;
        await this.pause(backoff(failures));
      }
    }
  }

  private async pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }
}

function backoff(failures: number): number {
  return Math.min(FIRST_BACKOFF_MS * 2 ** Math.min(failures - 1, 10), MAX_BACKOFF_MS) * (0.5 + Math.random() / 2);
}
