import { Injectable } from '@nestjs/common';
import type { Tx } from '@rookery/persistence';
import type { JobDefinition } from './job';
import { JobHandlers } from './job-handlers';
import { JobRecords } from './job-records';
import type { JobStatus } from './job-records';
import { putIntoQueue, takeOutOfQueue } from './queue';

/** Asks for jobs, shows and cancels them; for every role. Source: ADR 0160. */
@Injectable()
export class Jobs {
  constructor(
    private readonly records: JobRecords,
    private readonly handlers: JobHandlers,
  ) {}

  /**
   * Asks for a job inside a transaction: its rollback drops the job, its commit wakes a worker.
   * Shape: `at` lets it wait until then. Answers the id by which it is shown and cancelled; a waiting job of the same key
   * keeps its id.
   * Errors: a plain Error for a job that nobody carries out, and for parameters that do not fit.
   */
  async enqueue<P>(tx: Tx, job: JobDefinition<P>, params: NoInfer<P>, o: { readonly at?: Date } = {}): Promise<number> {
    this.handlers.of(job.name);
    return this.records.open(tx, await putIntoQueue(tx, job, params, o.at), job.name);
  }

  /** Null for an id that never was, or whose job ended long ago. */
  async show(id: number): Promise<JobStatus | null> {
    return this.records.find(id);
  }

  /**
   * Takes a waiting job back, and tells a running one to end: its signal is aborted within moments, in whichever process
   * it runs. Answers false when it had ended before.
   */
  async cancel(tx: Tx, id: number): Promise<boolean> {
    const queuedId = await this.records.queuedIdOf(tx, id);
    if (queuedId === null) return false;
    // The queue's row first, as wherever both are written.
    if ((await takeOutOfQueue(tx, queuedId)) === null) return this.records.askToCancel(tx, id);
    await this.records.settle(queuedId, 'cancelled', tx);
    return true;
  }
}
