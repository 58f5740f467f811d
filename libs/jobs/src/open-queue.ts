import type { Logger } from '@rookery/platform';
import type { Job, Runner, TaskList } from 'graphile-worker';
import type { Pool } from 'pg';
import type { JobHandler } from './job-handlers';
import type { JobAttempt } from './job-runner';
import type { JobSettings } from './jobs.config';
import { QUEUE_SCHEMA } from './queue';

/** Missed ticks of a cron line are made up for within this time. Units: milliseconds. */
const MAKE_UP_MS = 86_400_000;
/** Disables the queue's own abort: jobs are interrupted by our signals. */
const NEVER_MS = 2 ** 31 - 1;

export interface QueueParts {
  readonly pool: Pool;
  readonly settings: JobSettings;
  readonly logger: Logger;
  readonly handlers: readonly JobHandler[];
  /** Called before the first job is taken, with the id under which this worker locks jobs. */
  readonly enter: (workerId: string) => Promise<void>;
  readonly carryOut: (handler: JobHandler, job: JobAttempt) => Promise<void>;
}

/**
 * Opens the queue through graphile-worker, which only this file loads. The runner's promise settles when the queue
 * ends. The outcome of a job is retried until the database accepts it.
 * Errors: the queue's schema is missing or too old; only the role `migrate` creates it.
 */
export async function openJobQueue(parts: QueueParts): Promise<Runner> {
  const { parseCronItems, run, Logger: QueueLogger } = await import('graphile-worker');
  const { pool, settings, handlers } = parts;
  return run(
    {
      pgPool: pool,
      schema: QUEUE_SCHEMA,
      concurrency: settings.concurrency,
      pollInterval: settings.pollMs,
      noHandleSignals: true,
      gracefulShutdownAbortTimeout: NEVER_MS,
      logger: new QueueLogger(() => createQueueLogFunction(parts.logger)),
      preset: { plugins: [createQueueHooksPlugin(parts)], worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    },
    createTasks(parts),
    parseCronItems(handlers.filter((handler) => handler.cron !== null).map(toCronItem)),
  );
}

function createTasks({ handlers, carryOut }: QueueParts): TaskList {
  const taskOf = (handler: JobHandler) => (_payload: unknown, helpers: { readonly job: Job }) =>
    carryOut(handler, toJobAttempt(helpers.job));
  return Object.fromEntries(handlers.map((handler) => [handler.definition.name, taskOf(handler)]));
}

function toJobAttempt(job: Job): JobAttempt {
  const { key, attempts, payload } = job;
  return {
    id: Number(job.id),
    name: job.task_identifier,
    key,
    attempts,
    maxAttempts: job.max_attempts,
    dueAt: job.run_at,
    params: payload,
  };
}

function toCronItem({ definition, cron }: JobHandler) {
  const { name, queue, tries } = definition;
  const key = definition.keyOf({});
  return {
    task: name,
    match: cron!,
    identifier: name,
    options: {
      backfillPeriod: MAKE_UP_MS,
      maxAttempts: tries,
      ...(queue === null ? {} : { queueName: queue }),
      ...(key === null ? {} : { jobKey: key, jobKeyMode: 'replace' as const }),
    },
  };
}

/** Refuses to create or migrate the schema, and announces the worker before it takes a job. */
function createQueueHooksPlugin({ enter }: QueueParts): GraphileConfig.Plugin {
  return {
    name: 'RookeryHooks',
    version: '1.0.0',
    worker: {
      middleware: {
        bootstrap: () => {
          throw new Error('the schema of the queue of jobs is missing: run the role migrate');
        },
        async migrate(next, { client, ctx }) {
          const { rows } = await client.query<{ id: number }>(`select max(id) as id from ${QUEUE_SCHEMA}.migrations`);
          if ((rows[0]?.id ?? 0) < ctx.maxMigrationNumber)
            throw new Error('the schema of the queue of jobs is too old: run the role migrate');
          return next();
        },
      },
      hooks: { startWorker: (_ctx, { worker }) => enter(worker.workerPool.id) },
    },
  };
}

/** Errors of jobs are logged by the runner; other messages of the queue are logged as warnings or for debugging. */
function createQueueLogFunction(logger: Logger) {
  return (level: string, message: string, meta?: { readonly failure?: unknown; readonly error?: unknown }): void => {
    const isLoud = (level === 'error' || level === 'warning') && meta?.failure !== true;
    if (isLoud) logger.warn({ err: meta?.error }, `queue of jobs: ${message}`);
    else logger.debug({}, `queue of jobs: ${message}`);
  };
}
