import type { MigrationClass } from '@rookery/persistence';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { QUEUE_SCHEMA } from './queue';

/* Migrations go forward only. */
const down = (): Promise<void> => Promise.reject(new Error('migrations go forward only'));

/**
 * Installs the tables, functions and view of graphile-worker in a schema of their own, by its own migrations.
 * A release of graphile-worker with further migrations needs another class like this.
 */
export class InstallGraphileWorker1767226000001 implements MigrationInterface {
  readonly name = 'InstallGraphileWorker1767226000001';
  /** graphile-worker runs its own transactions, on its own connection. */
  readonly transaction = false;
  readonly down = down;

  async up(runner: QueryRunner): Promise<void> {
    const { Logger, runMigrations } = await import('graphile-worker');
    const { url } = runner.connection.options as { url?: string };
    if (url === undefined) throw new Error('the queue of jobs is installed by the URL of its database');
    const logger = new Logger(() => () => undefined);
    await runMigrations({ connectionString: url, maxPoolSize: 1, schema: QUEUE_SCHEMA, logger });
  }
}

/** Records of requested jobs, and live workers. Source: ADR 0160. */
export class CreateBackgroundJobs1767226000002 implements MigrationInterface {
  readonly name = 'CreateBackgroundJobs1767226000002';
  readonly down = down;

  async up(runner: QueryRunner): Promise<void> {
    // The queue restricts its rows to their owner. Here only roles that may migrate own tables, so the restriction is lifted.
    await runner.query(`
      do $$
      declare private regclass;
      begin
        for private in select oid from pg_class where relnamespace = '${QUEUE_SCHEMA}'::regnamespace and relrowsecurity loop
          execute format('alter table %s disable row level security', private);
        end loop;
      end $$`);
    await runner.query(`
      create table background_jobs (
        id bigint generated always as identity constraint pk_background_jobs primary key,
        queued_id bigint not null,
        name text not null,
        state text not null default 'waiting',
        tries int not null default 0,
        done bigint not null default 0,
        total bigint,
        note text,
        cancel_asked_at timestamptz(3),
        created_at timestamptz(3) not null default now(),
        started_at timestamptz(3),
        ended_at timestamptz(3),
        constraint uq_background_jobs_queued_id unique (queued_id),
        constraint ck_background_jobs_state check (state in ('waiting', 'running', 'done', 'cancelled', 'dead'))
      )`);
    await runner.query(
      `create index ix_background_jobs_ended_at on background_jobs (ended_at) where ended_at is not null`,
    );
    await runner.query(`
      create table background_workers (
        id text constraint pk_background_workers primary key,
        seen_at timestamptz(3) not null
      )`);
  }
}

/** Migrations that every service with jobs lists. */
export const jobMigrations: readonly MigrationClass[] = [
  InstallGraphileWorker1767226000001,
  CreateBackgroundJobs1767226000002,
];
