import { setTimeout as pause } from 'node:timers/promises';
import { prepareStatement } from '@rookery/persistence';
import type { Database, Work } from '@rookery/persistence';
import type { Logger } from '@rookery/platform';
import type { DeadJobs } from './dead-jobs';
import type { JobRecords } from './job-records';
import type { JobRunner } from './job-runner';
import type { JobSettings } from './jobs.config';
import { releaseJobsOfWorkers } from './queue';

/** Units: milliseconds. */
const TIDY_EVERY_MS = 3_600_000;
/** Rounds of the watch that are skipped while no job runs. */
const CALM_ROUNDS = 5;

/** Everything that one round reads, in one round trip. $1 worker, $2 milliseconds, $3 queue ids of the jobs running here. */
const look = prepareStatement(
  'jobs_watch',
  `with alive as (
     insert into background_workers (id, seen_at) values ($1, now())
     on conflict (id) do update set seen_at = excluded.seen_at returning xmax = 0 as is_new)
   select (select is_new from alive) as is_new,
     exists (select 1 from background_workers where seen_at < now() - $2::int * interval '1 millisecond') as has_lost,
     exists (select 1 from dead_letters where kind = 'job' and state = 'replaying') as has_replays,
     array(select queued_id from background_jobs
       where queued_id = any($3::bigint[]) and state = 'running' and cancel_asked_at is not null) as cancelled`,
);
const dropLost = prepareStatement(
  'jobs_watch_drop_lost',
  `delete from background_workers where seen_at < now() - $1::int * interval '1 millisecond' returning id`,
);
const leave = prepareStatement('jobs_watch_leave', `delete from background_workers where id = $1`);

interface WatchRow {
  readonly is_new: boolean;
  readonly has_lost: boolean;
  readonly has_replays: boolean;
  readonly cancelled: number[];
}

export interface WatchParts {
  readonly database: Database;
  readonly work: Work;
  readonly records: JobRecords;
  readonly runner: JobRunner;
  readonly dead: DeadJobs;
  readonly settings: JobSettings;
  readonly logger: Logger;
}

/**
 * Records that this worker is alive, and does what the queue does not do alone: frees jobs of lost workers, interrupts
 * cancelled jobs, and replays dead ones. A worker is lost when it has sent no heartbeat for `lostAfterMs`. Only a
 * worker that itself has sent heartbeats for that long may decide this: after an outage of the database no worker has a
 * recent heartbeat. Source: ADR 0160.
 */
export class JobWorkerSupervisor {
  private readonly stopping = new AbortController();
  private running: Promise<void> | null = null;
  private workerId: string | null = null;
  private heardSince: number | null = null;
  private heardAt = 0;
  private tidyAt = 0;

  constructor(private readonly parts: WatchParts) {}

  /** Records the worker before it takes its first job. */
  async registerWorker(workerId: string): Promise<void> {
    if (this.workerId === workerId) return;
    this.workerId = workerId;
    this.heardSince = null;
    await this.queryWatchRow(workerId);
    this.running ??= this.watchLoop();
  }

  /** Gives back the jobs that this worker still holds. */
  async removeWorker(): Promise<void> {
    const { workerId } = this;
    this.workerId = null;
    if (workerId === null) return;
    await this.parts.work.run(async (tx) => {
      await releaseJobsOfWorkers(tx, [workerId]);
      await tx.prepared(leave, [workerId]);
    });
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async watchLoop(): Promise<void> {
    const { settings, logger } = this.parts;
    while (!this.stopping.signal.aborted) {
      try {
        if (this.workerId !== null) await this.runWatchRound(this.workerId);
      } catch (error) {
        logger.warn({ err: error }, 'jobs could not be watched');
      }
      await this.waitForNextRound(settings);
    }
  }

  /** Rests longer while no job runs here that could be cancelled; a job that begins ends the longer rest. */
  private async waitForNextRound({ watchMs, lostAfterMs }: JobSettings): Promise<void> {
    const { runner } = this.parts;
    const most = Math.min(watchMs * CALM_ROUNDS, lostAfterMs / 3);
    let rested = 0;
    do {
      await pause(watchMs, undefined, { signal: this.stopping.signal }).catch(() => undefined);
      rested += watchMs;
    } while (!this.stopping.signal.aborted && runner.runningIds.length === 0 && rested + watchMs <= most);
  }

  private async runWatchRound(workerId: string): Promise<void> {
    const { runner, dead, logger, settings } = this.parts;
    const seen = await this.queryWatchRow(workerId);
    if (seen.is_new && this.heardSince !== null) {
      // Other workers declared this worker lost, so its jobs may already run there.
      this.heardSince = null;
      logger.error({ workerId }, 'this worker was declared lost: its jobs are interrupted');
      runner.interruptJobs('lost');
    }
    const now = Date.now();
    if (now - this.heardAt > settings.lostAfterMs / 2) this.heardSince = null;
    this.heardSince ??= now;
    this.heardAt = now;
    runner.interruptJobs('cancelled', seen.cancelled);
    if (seen.has_replays) await dead.replayLetters(logger, () => this.stopping.signal.aborted);
    if (seen.has_lost && now - this.heardSince >= settings.lostAfterMs) await this.takeOverLostJobs();
    if (now >= this.tidyAt) await this.removeOldRecords();
  }

  private async queryWatchRow(workerId: string): Promise<WatchRow> {
    const { database, runner, settings } = this.parts;
    const [seen] = await database.prepared<WatchRow>(look, [workerId, settings.lostAfterMs, runner.runningIds]);
    return seen!;
  }

  private async takeOverLostJobs(): Promise<void> {
    const { work, logger, settings } = this.parts;
    const lost = await work.run(async (tx) => {
      const rows = await tx.prepared<{ id: string }>(dropLost, [settings.lostAfterMs]);
      const ids = rows.map((row) => row.id);
      if (ids.length > 0) await releaseJobsOfWorkers(tx, ids);
      return ids;
    });
    if (lost.length > 0) logger.warn({ workers: lost }, 'workers were lost: other workers take their jobs');
    await this.buryUsedUpJobs();
  }

  private async removeOldRecords(): Promise<void> {
    await this.buryUsedUpJobs();
    await this.parts.records.forgetOld(this.parts.settings.retentionDays);
    this.tidyAt = Date.now() + TIDY_EVERY_MS;
  }

  private async buryUsedUpJobs(): Promise<void> {
    const names = await this.parts.dead.buryUsedUp();
    if (names.length > 0)
      this.parts.logger.error({ jobs: names }, 'workers were lost during the last try of jobs: dead letters');
  }
}
