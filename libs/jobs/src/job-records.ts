import { Injectable } from '@nestjs/common';
import { Database, prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { BackgroundJob } from './jobs.entities';

export type JobState = BackgroundJob['state'];

/** A job as an API may show it. */
export interface JobStatus extends Omit<BackgroundJob, 'queuedId' | 'cancelAskedAt'> {
  readonly isCancelAsked: boolean;
}

/** Units: rows that one statement deletes at most. */
const CHUNK = 1000;

const open = prepareStatement(
  'background_jobs_open',
  `insert into background_jobs (queued_id, name) values ($1, $2)
   on conflict (queued_id) do update set state = 'waiting', tries = 0, done = 0, total = null, note = null,
     cancel_asked_at = null, started_at = null, ended_at = null
   returning id`,
);
const begin = prepareStatement(
  'background_jobs_begin',
  `update background_jobs set state = 'running', tries = $2, started_at = coalesce(started_at, now())
   where queued_id = $1 returning cancel_asked_at is not null as cancelled`,
);
const settle = prepareStatement(
  'background_jobs_settle',
  `update background_jobs set state = $2::text, ended_at = case when $2::text = 'waiting' then null else now() end
   where queued_id = $1`,
);
const advance = prepareStatement(
  'background_jobs_advance',
  `update background_jobs set done = $2, total = $3, note = $4 where queued_id = $1`,
);
const find = prepareStatement(
  'background_jobs_find',
  `select id, name, state, tries, done, total, note, cancel_asked_at is not null as "isCancelAsked",
     created_at as "createdAt", started_at as "startedAt", ended_at as "endedAt"
   from background_jobs where id = $1`,
);
const queued = prepareStatement(
  'background_jobs_queued',
  `select queued_id from background_jobs where id = $1 and state in ('waiting', 'running')`,
);
const askToCancel = prepareStatement(
  'background_jobs_ask_to_cancel',
  `update background_jobs set cancel_asked_at = coalesce(cancel_asked_at, now())
   where id = $1 and state in ('waiting', 'running') returning id`,
);
/** Keeps the record's id, which clients know, and links it to a new id in the queue. */
const revive = prepareStatement(
  'background_jobs_revive',
  `update background_jobs set queued_id = $2, state = 'waiting', tries = 0, ended_at = null, cancel_asked_at = null
   where queued_id = $1 and not exists (select 1 from background_jobs taken where taken.queued_id = $2)`,
);
const forget = prepareStatement(
  'background_jobs_forget',
  `delete from background_jobs where id = any(array(
     select id from background_jobs where ended_at < now() - $1::int * interval '1 day' limit ${CHUNK})) returning 1`,
);

/** Records of requested jobs and their progress: one row a job, apart from the queue, which deletes finished jobs. Source: ADR 0160. */
@Injectable()
export class JobRecords {
  constructor(private readonly database: Database) {}

  async openRecord(tx: Tx, queuedId: number, name: string): Promise<number> {
    const [row] = await tx.prepared<{ id: number }>(open, [queuedId, name]);
    return row!.id;
  }

  /** Records that a try begins. Returns whether the job was cancelled meanwhile; null for scheduled jobs, which have no record. */
  async beginJob(queuedId: number, attempt: number): Promise<{ readonly cancelled: boolean } | null> {
    const [row] = await this.database.prepared<{ cancelled: boolean }>(begin, [queuedId, attempt]);
    return row ?? null;
  }

  async settleJob(queuedId: number, state: JobState, on: Pick<Tx, 'prepared'> = this.database): Promise<void> {
    await on.prepared(settle, [queuedId, state]);
  }

  async recordProgress(queuedId: number, done: number, total: number | null, note: string | null): Promise<void> {
    await this.database.prepared(advance, [queuedId, done, total, note]);
  }

  async findStatus(id: number): Promise<JobStatus | null> {
    const [row] = await this.database.prepared<JobStatus>(find, [id]);
    return row ?? null;
  }

  /** The queue's id of a job that has not ended; null when it has. */
  async findQueuedId(tx: Tx, id: number): Promise<number | null> {
    const [row] = await tx.prepared<{ queued_id: number }>(queued, [id]);
    return row?.queued_id ?? null;
  }

  async askToCancel(tx: Tx, id: number): Promise<boolean> {
    return (await tx.prepared(askToCancel, [id])).length > 0;
  }

  async reviveRecord(tx: Tx, queuedId: number, newQueuedId: number): Promise<void> {
    await tx.prepared(revive, [queuedId, newQueuedId]);
  }

  /** Deletes records of jobs that ended more than `days` ago. */
  async forgetOld(days: number): Promise<void> {
    let count = CHUNK;
    while (count === CHUNK) count = (await this.database.prepared(forget, [days])).length;
  }
}
