import { setTimeout as pause } from 'node:timers/promises';
import type { Metrics } from '@rookery/platform';
import type { Runner } from 'graphile-worker';
import type { JobHandler, JobHandlers } from './job-handlers';
import { JobWatch } from './job-watch';
import type { WatchParts } from './job-watch';
import { openQueue } from './open-queue';
import { giveBackToQueue, stateOfQueue } from './queue';

/** Units: milliseconds. */
const RESTART_MS = { first: 200, most: 10_000 };
const POOL_END_MS = 1000;
/** Of the time that a shutdown has: so long jobs may end by themselves, then so long heed their signal. */
const SHARES = { alone: 0.5, told: 0.3 };

export interface WorkerParts extends WatchParts {
  /** Of the connections. */
  readonly name: string;
  readonly handlers: JobHandlers;
  readonly metrics: Metrics;
}

/**
 * Takes jobs from the queue, in the worker role only. Shape: nothing runs and no connection is kept before `start`, nor
 * where no provider carries out a job. A queue that breaks off is begun again. Source: ADR 0160.
 */
export class JobWorker {
  private readonly stopping = new AbortController();
  private readonly watch: JobWatch;
  private running: Promise<void> | null = null;
  private queue: Runner | null = null;

  constructor(private readonly parts: WorkerParts) {
    this.watch = new JobWatch(parts);
  }

  start(): void {
    const handlers = [...this.parts.handlers.all().values()];
    if (handlers.length === 0 || this.running) return;
    this.countAtScrapes();
    this.running = this.keepRunning(handlers);
  }

  /** No further job begins; running ones may end, are told to end, and are given back. Units: milliseconds. */
  async stop(graceMs: number): Promise<void> {
    if (!this.running) return;
    const { database, runner } = this.parts;
    this.stopping.abort();
    const ended = Promise.all([this.queue?.stop().catch(() => undefined), this.running]);
    if (!(await within(ended, graceMs * SHARES.alone))) {
      runner.interrupt('ending');
      await within(ended, graceMs * SHARES.told);
    }
    await this.watch.stop();
    await this.watch.leave();
    for (const { id, attempts } of runner.takeBrokenOff()) await giveBackToQueue(database, id, attempts - 1);
  }

  private async keepRunning(handlers: readonly JobHandler[]): Promise<void> {
    const { database, logger, name, settings } = this.parts;
    const pool = database.apart(name, settings.connections);
    pool.on('error', (error) => logger.warn({ err: error }, 'an idle connection of the queue of jobs was lost'));
    // The queue looks for somebody who listens here, too.
    pool.on('connect', (client) => client.on('error', () => undefined));
    for (let failures = 0; !this.stopping.signal.aborted; failures += 1) {
      try {
        this.queue = await openQueue({
          ...{ pool, settings, logger, handlers },
          enter: (workerId) => this.watch.enter(workerId),
          carryOut: (handler, job) => this.parts.runner.carryOut(handler, job),
        });
        failures = 0;
        if (this.stopping.signal.aborted) await this.queue.stop();
        await this.queue.promise;
        if (this.stopping.signal.aborted) break;
        await this.watch.leave();
      } catch (error) {
        logger.warn({ err: error }, 'the queue of jobs broke off');
      }
      const ms = Math.min(RESTART_MS.most, RESTART_MS.first * 2 ** Math.min(failures, 10));
      await pause(ms, undefined, { signal: this.stopping.signal }).catch(() => undefined);
    }
    await within(pool.end(), POOL_END_MS);
  }

  private countAtScrapes(): void {
    const { metrics, database } = this.parts;
    metrics.gauge('rookery_jobs', 'Jobs by state, of 10000 at most.', ['job', 'state'], async (gauge) => {
      const rows = await stateOfQueue(database);
      gauge.reset();
      for (const { name, state, count } of rows) gauge.set({ job: name, state }, count);
    });
  }
}

/** Whether something ends in time. */
async function within(ended: Promise<unknown>, ms: number): Promise<boolean> {
  const late = new AbortController();
  const limit = pause(ms, false, { signal: late.signal }).catch(() => false);
  const inTime = await Promise.race([ended.then(() => true), limit]);
  late.abort();
  return inTime;
}
