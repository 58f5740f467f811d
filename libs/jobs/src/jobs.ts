import { Injectable } from '@nestjs/common';
import type { Tx } from '@rookery/persistence';
import type { JobDefinition } from './job';
import { JobHandlers } from './job-handlers';
import { JobRecords } from './job-records';
import type { JobStatus } from './job-records';
import { putIntoQueue, removeQueuedJob } from './queue';

/** Enqueues, shows and cancels jobs, in every role. Source: ADR 0160. */
@Injectable()
export class Jobs {
  constructor(
    private readonly records: JobRecords,
    private readonly handlers: JobHandlers,
  ) {}

  /**
   * Enqueues a job inside a transaction: its rollback drops the job, its commit wakes a worker. `at` delays the job
   * until that time. Returns the id by which the job is shown and cancelled. A waiting job with the same key keeps its
   * id.
   * Errors: a plain Error for a job without a handler, and for invalid parameters.
   */
  async enqueue<P>(tx: Tx, job: JobDefinition<P>, params: NoInfer<P>, o: { readonly at?: Date } = {}): Promise<number> {
    this.handlers.requireHandler(job.name);
    return this.records.openRecord(tx, await putIntoQueue(tx, job, params, o.at), job.name);
  }

  /** The record of a job; null for an unknown id, or when the record has been deleted after its retention. */
  async findStatus(id: number): Promise<JobStatus | null> {
    return this.records.findStatus(id);
  }

  /**
   * Cancels a waiting job, and interrupts a running one: its signal is aborted within moments, in whichever process it
   * runs. Returns false when the job had already ended.
   */
  async cancelJob(tx: Tx, id: number): Promise<boolean> {
    const queuedId = await this.records.findQueuedId(tx, id);
    if (queuedId === null) return false;
    // The queue's row is locked first, as in every transaction that writes both rows.
    if ((await removeQueuedJob(tx, queuedId)) === null) return this.records.askToCancel(tx, id);
    await this.records.settleJob(queuedId, 'cancelled', tx);
    return true;
  }
}
