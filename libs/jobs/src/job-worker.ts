import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from '@rookery/kernel';
import type { Metrics } from '@rookery/platform';
import type { Runner } from 'graphile-worker';
import type { JobHandler, JobHandlers } from './job-handlers';
import { JobWorkerSupervisor } from './job-watch';
import type { WatchParts } from './job-watch';
import { openJobQueue } from './open-queue';
import { requeueInterruptedJob, countJobsByState } from './queue';

/** Units: milliseconds. */
const RESTART_MS = { first: 200, most: 10_000 };
const POOL_END_MS = 1000;
/** Shares of the shutdown time: jobs may first finish normally, then react to the interruption. */
const SHARES = { unaided: 0.5, interrupted: 0.3 };

export interface WorkerParts extends WatchParts {
  /** Application name of the connections. */
  readonly name: string;
  readonly handlers: JobHandlers;
  readonly metrics: Metrics;
}

/**
 * Takes jobs from the queue, in the worker role only. Before `start`, and in services without job handlers, no job runs
 * and no connection is kept. When the queue fails, it is opened again. Source: ADR 0160.
 */
export class JobWorker {
  private readonly stopping = new AbortController();
  private readonly watch: JobWorkerSupervisor;
  private running: Promise<void> | null = null;
  private queue: Runner | null = null;

  constructor(private readonly parts: WorkerParts) {
    this.watch = new JobWorkerSupervisor(parts);
  }

  start(): void {
    const handlers = [...this.parts.handlers.allHandlers().values()];
    if (handlers.length === 0 || this.running) return;
    this.registerJobsGauge();
    this.running = this.keepQueueRunning(handlers);
  }

  /** Starts no further job, waits for running ones, interrupts them, and gives the rest back. Units: milliseconds. */
  async stop(graceMs: number): Promise<void> {
    if (!this.running) return;
    const { database, runner } = this.parts;
    this.stopping.abort();
    const ended = Promise.all([this.queue?.stop().catch(() => undefined), this.running]);
    if (!(await settlesWithin(ended, graceMs * SHARES.unaided))) {
      runner.interruptJobs('ending');
      await settlesWithin(ended, graceMs * SHARES.interrupted);
    }
    await this.watch.stop();
    await this.watch.removeWorker();
    for (const { id, attempts } of runner.takeBrokenOff()) await requeueInterruptedJob(database, id, attempts - 1);
  }

  private async keepQueueRunning(handlers: readonly JobHandler[]): Promise<void> {
    const { database, logger, name, settings } = this.parts;
    const pool = database.openPool(name, settings.connections);
    pool.on('error', (error) => logger.warn({ err: error }, 'an idle connection of the queue of jobs was lost'));
    // The queue also requires an error listener on each client.
    pool.on('connect', (client) => client.on('error', () => undefined));
    for (let failures = 0; !this.stopping.signal.aborted; failures += 1) {
      try {
        this.queue = await openJobQueue({
          ...{ pool, settings, logger, handlers },
          enter: (workerId) => this.watch.registerWorker(workerId),
          carryOut: (handler, job) => this.parts.runner.carryOut(handler, job),
        });
        failures = 0;
        if (this.stopping.signal.aborted) await this.queue.stop();
        await this.queue.promise;
        if (this.stopping.signal.aborted) break;
        await this.watch.removeWorker();
      } catch (error) {
        logger.warn({ err: error }, 'the job queue failed and is opened again');
      }
      const ms = backoffMs(failures + 1, RESTART_MS);
      await pause(ms, undefined, { signal: this.stopping.signal }).catch(() => undefined);
    }
    await settlesWithin(pool.end(), POOL_END_MS);
  }

  private registerJobsGauge(): void {
    const { metrics, database } = this.parts;
    metrics.gauge('rookery_jobs', 'Jobs by state, at most 10000 counted.', ['job', 'state'], async (gauge) => {
      const rows = await countJobsByState(database);
      gauge.reset();
      for (const { name, state, count } of rows) gauge.set({ job: name, state }, count);
    });
  }
}

/** Whether a promise settles within the time. */
async function settlesWithin(ended: Promise<unknown>, ms: number): Promise<boolean> {
  const late = new AbortController();
  const limit = pause(ms, false, { signal: late.signal }).catch(() => false);
  const inTime = await Promise.race([ended.then(() => true), limit]);
  late.abort();
  return inTime;
}
