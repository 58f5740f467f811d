import { Test } from '@nestjs/testing';
import type { Type } from '@nestjs/common';
import {
  Database,
  databaseSettingsFor,
  DeadLetters,
  PersistenceModule,
  plumbingMigrations,
  Work,
} from '@rookery/persistence';
import type { MigrationClass } from '@rookery/persistence';
import { createLogger, LOGGER, Metrics, PlatformModule, platformSettings, readSettings } from '@rookery/platform';
import { Jobs, jobMigrations, jobSettings, JobsModule, JobWorker } from '../../src';

/** Marks that the jobs of these tests leave. */
class CreateMarks1790000000020 {
  async up(runner: { query(sql: string): Promise<unknown> }): Promise<void> {
    await runner.query(`create table marks (id bigint generated always as identity primary key, job text not null,
      what text not null, at timestamptz not null default clock_timestamp())`);
  }
}
export const withoutQueue = [...plumbingMigrations, CreateMarks1790000000020 as unknown as MigrationClass];
export const migrations = [...withoutQueue, ...jobMigrations];

export interface TestService {
  readonly jobs: Jobs;
  readonly work: Work;
  readonly database: Database;
  readonly letters: DeadLetters;
  readonly metrics: Metrics;
  readonly logs: readonly Readonly<Record<string, unknown>>[];
  readonly get: <T>(token: Type<T>) => T;
  start(): void;
  /** Shuts the process down gracefully. Units: milliseconds. */
  stop(graceMs?: number): Promise<void>;
  marks(job: string): Promise<string[]>;
}

/** One process of a service with these jobs; several may share a database. */
export async function newService(o: {
  readonly url: string;
  readonly jobs: Type[];
  readonly env?: Readonly<Record<string, string>>;
}): Promise<TestService> {
  const service = 'package';
  const definition = databaseSettingsFor(service);
  const values = readSettings([platformSettings, definition, jobSettings], {
    DATABASE_URL_PACKAGE: o.url,
    ROOKERY_INTERNAL_KEYS: `k1/gateway/admin:${Buffer.alloc(32, 9).toString('base64')}`,
    ROOKERY_CONTEXT_KEYS: `k:${Buffer.alloc(32, 1).toString('base64')}`,
    JOBS_POLL_MS: '50',
    JOBS_WATCH_MS: '50',
    // Prevents that a worker on a slow machine is declared lost; tests of lost workers set a lower value.
    JOBS_LOST_AFTER_MS: '300000',
    ...o.env,
  });
  const logs: Record<string, unknown>[] = [];
  const write = (line: string): void => void logs.push(JSON.parse(line) as Record<string, unknown>);
  values.set(LOGGER, createLogger({ service, level: 'info' }, { write }));
  const module = await Test.createTestingModule({
    imports: [
      PlatformModule.forRoot({ service, values }),
      PersistenceModule.forRoot({ service, entities: [], settings: values.get(definition.token) as never }),
      JobsModule.forRoot({ service }),
    ],
    providers: o.jobs,
  }).compile();
  await module.init();
  const [database, worker] = [module.get(Database), module.get(JobWorker)];
  return {
    jobs: module.get(Jobs),
    work: module.get(Work),
    database,
    letters: module.get(DeadLetters),
    metrics: module.get(Metrics),
    logs,
    get: (token) => module.get(token),
    start: () => worker.start(),
    stop: async (graceMs = 20_000) => {
      await worker.stop(graceMs);
      await module.close();
    },
    marks: async (job) =>
      (await database.query<{ what: string }>('select what from marks where job = $1 order by id', [job])).map(
        (row) => row.what,
      ),
  };
}
