import { Inject, Injectable } from '@nestjs/common';
import { Work } from '@rookery/persistence';
import { LOGGER, Metrics } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { DeadJobs } from './dead-jobs';
import type { EndedJob } from './dead-jobs';
import { checkParams } from './job';
import type { JobHandler } from './job-handlers';
import { JobRecords } from './job-records';
import { isJobSuperseded } from './queue';

/** One attempt at a job, as the queue hands it out. */
export interface JobAttempt extends EndedJob {
  readonly maxAttempts: number;
  readonly dueAt: Date;
  readonly params: unknown;
}

/** Reason for interrupting a running try. */
export type Interruption = 'cancelled' | 'ending' | 'lost';

/** Abort reason of a job's signal. */
class JobInterrupted extends Error {
  constructor(readonly why: Interruption) {
    super(`the job was interrupted: ${why}`);
    this.name = 'Interrupted';
  }
}

/** Units: seconds. Jobs take from milliseconds to an hour. */
const BUCKETS = [0.01, 0.05, 0.25, 1, 5, 30, 120, 600, 3600];

/** Executes tries and records the outcome of each. Source: ADR 0160. */
@Injectable()
export class JobRunner {
  private readonly running = new Map<number, AbortController>();
  private readonly brokenOff: JobAttempt[] = [];
  private readonly counters;

  constructor(
    private readonly work: Work,
    private readonly records: JobRecords,
    private readonly dead: DeadJobs,
    metrics: Metrics,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.counters = {
      done: () => metrics.counter('rookery_jobs_done_total', 'Jobs that were completed.', ['job']),
      failed: () => metrics.counter('rookery_jobs_failed_total', 'Failed tries of a job.', ['job']),
      dead: () => metrics.counter('rookery_jobs_dead_total', 'Jobs that became dead letters.', ['job']),
      seconds: () =>
        metrics.histogram('rookery_job_duration_seconds', 'Duration of one try of a job.', ['job'], BUCKETS),
    };
  }

  /** Queue ids of the jobs that run in this process. */
  get runningIds(): number[] {
    return [...this.running.keys()];
  }

  /** Aborts running jobs: all, or those with these ids. */
  interruptJobs(why: Interruption, ids: readonly number[] = this.runningIds): void {
    for (const id of ids) this.running.get(id)?.abort(new JobInterrupted(why));
  }

  /** Tries that the shutdown of the process interrupted; each is returned once. */
  takeBrokenOff(): JobAttempt[] {
    return this.brokenOff.splice(0);
  }

  /** Executes one attempt. Errors: the error of the job, when it will be tried again. */
  async carryOut(handler: JobHandler, job: JobAttempt): Promise<void> {
    const record = await this.records.beginJob(job.id, job.attempts);
    if (record?.cancelled) return this.records.settleJob(job.id, 'cancelled');
    const controller = new AbortController();
    this.running.set(job.id, controller);
    const startedAt = performance.now();
    try {
      await this.callHandler(handler, job, controller.signal);
      if (record) await this.records.settleJob(job.id, 'done');
      this.counters.done().inc({ job: job.name });
    } catch (error) {
      const { reason } = controller.signal as { reason: unknown };
      if (reason instanceof JobInterrupted) await this.settleInterrupted(job, reason.why, error);
      else await this.settleFailed(handler, job, error);
    } finally {
      this.running.delete(job.id);
      this.counters.seconds().observe({ job: job.name }, (performance.now() - startedAt) / 1000);
    }
  }

  private async callHandler({ definition, call }: JobHandler, job: JobAttempt, signal: AbortSignal): Promise<void> {
    checkParams(definition, job.params);
    await call({
      params: job.params,
      attempt: job.attempts,
      dueAt: job.dueAt,
      signal,
      progress: (done, total = null, note = null) => this.records.recordProgress(job.id, done, total, note),
    });
  }

  private async settleInterrupted(job: JobAttempt, why: Interruption, error: unknown): Promise<void> {
    if (why === 'cancelled') return this.records.settleJob(job.id, 'cancelled');
    if (why === 'ending') {
      this.brokenOff.push(job);
      await this.records.settleJob(job.id, 'waiting');
    }
    throw error;
  }

  private async settleFailed({ definition }: JobHandler, job: JobAttempt, error: unknown): Promise<void> {
    const facts = { job: job.name, jobId: job.id, attempt: job.attempts, err: error };
    this.counters.failed().inc({ job: job.name });
    const outcome = await this.work.run(async (tx) => {
      if (definition.isKeyed && (await isJobSuperseded(tx, job.id))) {
        await this.records.settleJob(job.id, 'cancelled', tx);
        return 'superseded';
      }
      if (job.attempts >= job.maxAttempts) {
        await this.dead.buryJob(tx, job, JSON.stringify(job.params), error);
        return 'dead';
      }
      await this.records.settleJob(job.id, 'waiting', tx);
      return 'again';
    });
    if (outcome === 'superseded')
      return this.logger.warn(facts, 'a job failed; a newer job with the same key replaces it');
    if (outcome === 'again') {
      this.logger.warn(facts, 'a job failed and will be tried again');
      throw error;
    }
    this.logger.error(facts, 'a job failed for the last time: dead letter');
    this.counters.dead().inc({ job: job.name });
  }
}
