import { prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { JobDefinition } from './job';
import { serializeJobParams } from './job';

/** Schema of graphile-worker's tables. We use only its documented interface: its functions and the view `jobs`. */
export const QUEUE_SCHEMA = 'graphile_worker';
/** Tries to enqueue: a waiting job with the same key may be taken by a worker at the same moment. */
const ENQUEUE_TRIES = 5;

const add = prepareStatement(
  'jobs_add',
  `select id from ${QUEUE_SCHEMA}.add_job(identifier => $1::text, payload => $2::json, queue_name => $3::text,
     run_at => $4::timestamptz, max_attempts => $5::int, job_key => $6::text, job_key_mode => $7::text)`,
);
const takeOut = prepareStatement(
  'jobs_take_out',
  `select payload::text as body from ${QUEUE_SCHEMA}.complete_jobs(array[$1::bigint])`,
);
const keyed = prepareStatement('jobs_keyed', `select key from ${QUEUE_SCHEMA}.jobs where id = $1::bigint`);
const unlock = prepareStatement('jobs_unlock', `select ${QUEUE_SCHEMA}.force_unlock_workers($1::text[])`);
const giveBack = prepareStatement(
  'jobs_give_back',
  `select ${QUEUE_SCHEMA}.reschedule_jobs(array[$1::bigint], run_at => now(), attempts => $2::int)`,
);
const usedUp = prepareStatement(
  'jobs_used_up',
  `select id, task_identifier, key, attempts, last_error from ${QUEUE_SCHEMA}.jobs
   where attempts >= max_attempts and locked_at is null order by id limit 100`,
);

const states = prepareStatement(
  'jobs_states',
  `select name, state, count(*)::int as count from (
     select task_identifier as name, case when locked_at is not null then 'running' when run_at > now() then 'later'
       else 'waiting' end as state from (select * from ${QUEUE_SCHEMA}.jobs limit 10000) queued
     union all
     select effect, 'dead' from (select effect from dead_letters where kind = 'job' and state = 'open' limit 10000) dead
   ) jobs group by name, state`,
);

/** A job without tries left, which the queue itself would keep forever. */
export interface ExhaustedJob {
  readonly id: number;
  readonly task_identifier: string;
  readonly key: string | null;
  readonly attempts: number;
  readonly last_error: string | null;
}

type StatementRunner = Pick<Tx, 'prepared'>;

/** Puts a job into the queue; the commit wakes a worker. Returns the queue's own id. Errors: as `serializeJobParams`. */
export async function putIntoQueue(
  tx: StatementRunner,
  job: JobDefinition,
  params: unknown,
  at: Date | null = null,
): Promise<number> {
  const body = serializeJobParams(job, params);
  const mode = job.whenWaiting === 'keep' ? 'preserve_run_at' : 'replace';
  const values = [job.name, body, job.queue, at, job.tries, job.keyOf(params), mode];
  for (let turn = 0; turn < ENQUEUE_TRIES; turn += 1) {
    // No row: a worker has just taken the waiting job. The next try sees that and adds another.
    const [row] = await tx.prepared<{ id: number | null }>(add, values);
    if (row && row.id !== null) return row.id;
  }
  throw new Error(`the job ${job.name} could not be put into the queue`);
}

/** Removes a job from the queue unless it runs. Returns its parameters as JSON; null when no job was removed. */
export async function removeQueuedJob(tx: StatementRunner, queuedId: number): Promise<string | null> {
  const [row] = await tx.prepared<{ body: string }>(takeOut, [queuedId]);
  return row?.body ?? null;
}

/** Whether a newer job took over the key while this job ran. The newer job then does the work of both. */
export async function isJobSuperseded(on: StatementRunner, queuedId: number): Promise<boolean> {
  const [row] = await on.prepared<{ key: string | null }>(keyed, [queuedId]);
  return row !== undefined && row.key === null;
}

/** Releases all jobs that these workers hold; their tries stay counted. */
export async function releaseJobsOfWorkers(on: StatementRunner, workerIds: readonly string[]): Promise<void> {
  await on.prepared(unlock, [workerIds]);
}

/** Returns a try that was interrupted by a shutdown: it is not counted, and the job is due at once. */
export async function requeueInterruptedJob(on: StatementRunner, queuedId: number, attempts: number): Promise<void> {
  await on.prepared(giveBack, [queuedId, attempts]);
}

export async function listExhaustedJobs(on: StatementRunner): Promise<ExhaustedJob[]> {
  return on.prepared<ExhaustedJob>(usedUp, []);
}

/** Counts of jobs for metrics: waiting, scheduled for later, running, dead. Bounded, because a queue may be long. */
export async function countJobsByState(
  on: StatementRunner,
): Promise<{ readonly name: string; readonly state: string; readonly count: number }[]> {
  return on.prepared(states, []);
}
