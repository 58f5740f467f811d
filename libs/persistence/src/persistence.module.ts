import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { ServiceName } from '@rookery/contracts';
import { CLOCK } from '@rookery/kernel';
import type { Clock } from '@rookery/kernel';
import { ContextSigningKeys, KEYED_WRITES, LOGGER, Metrics, Readiness } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from './connections/data-source';
import { Database } from './work/database';
import type { DatabaseSettings } from './connections/database.config';
import { DeadLetters } from './dead-letters/dead-letters';
import { IdempotencyKeys } from './work/idempotency-keys';
import { LANES } from './connections/lanes';
import { Inbox } from './work/inbox';
import { pendingMigrations } from './schema/migrate';
import type { MigrationClass } from './schema/migrate';
import { Work } from './work/work';

export interface PersistenceOptions {
  readonly service: ServiceName;
  /** Every entity of the service (`entitiesOf` its module): nothing is found by scanning folders. */
  readonly entities: readonly Function[];
  readonly settings: DatabaseSettings;
  /** When given, the process is not ready while one of them is pending. */
  readonly migrations?: readonly MigrationClass[];
}

/**
 * The service's database: TypeORM's DataSource (through @nestjs/typeorm), `Database`, `Work`, `Inbox`, `DeadLetters`.
 * Global. Needs `PlatformModule`. It never synchronizes the schema and never migrates; the role `migrate` does.
 */
@Module({})
export class PersistenceModule {
  static forRoot(o: PersistenceOptions): DynamicModule {
    return {
      module: PersistenceModule,
      global: true,
      imports: [
        TypeOrmModule.forRootAsync({
          inject: [LOGGER],
          useFactory: (logger: Logger) => ({
            ...dataSourceOptions(o.settings, {
              name: `rookery-${o.service}`,
              entities: o.entities,
              onIdleError: (error) => logger.warn({ err: error }, 'an idle database connection was lost'),
            }),
            // Waits for a database that starts a moment later; the platform restarts a process that waits longer.
            retryAttempts: 30,
            retryDelay: 1000,
          }),
        }),
      ],
      providers: [
        {
          provide: Database,
          inject: [DataSource, Readiness, Metrics],
          useFactory: (dataSource: DataSource, readiness: Readiness, metrics: Metrics) => {
            const database = new Database(dataSource, o.settings.url);
            registerLaneMetrics(database, metrics);
            registerDeadLetterGauge(database, metrics);
            readiness.addCheck('database', createReadinessCheck(database, o.migrations));
            return database;
          },
        },
        {
          provide: Work,
          inject: [DataSource, CLOCK, LOGGER, Metrics],
          useFactory: (dataSource: DataSource, clock: Clock, logger: Logger, metrics: Metrics) => {
            const work = new Work(dataSource, o.service, clock, logger);
            registerAbortedTransactionsCounter(work, metrics);
            return work;
          },
        },
        {
          provide: KEYED_WRITES,
          inject: [Work, Database, CLOCK, ContextSigningKeys],
          useFactory: (work: Work, database: Database, clock: Clock, keys: ContextSigningKeys) =>
            new IdempotencyKeys(work, database, clock, keys, o.service),
        },
        Inbox,
        DeadLetters,
      ],
      exports: [Database, Work, KEYED_WRITES, Inbox, DeadLetters, TypeOrmModule],
    };
  }
}

/** Buckets up to the longest wait of a request. Units: seconds. */
const WAITS = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Longer than the statement timeout. Units: ms. */
const ANSWERED_MS = 10_000;

/** Without the lane `apart`: it is nearly always unused and has no open connection. */
const CHECKED_LANES = LANES.filter((lane) => lane !== 'apart');

/** Checks each lane with `select 1`. Until the schema was current once, checks for pending migrations instead. */
function createReadinessCheck(
  database: Database,
  migrations?: readonly MigrationClass[],
): () => Promise<string | null> {
  let isCurrent = migrations === undefined;
  return async () => {
    if (isCurrent) {
      const answers = await Promise.all(CHECKED_LANES.map((lane) => database.pool.answers(lane, ANSWERED_MS)));
      const silent = CHECKED_LANES.filter((_, index) => !answers[index]);
      return silent.length === 0 ? null : `the database does not answer in the lanes ${silent.join(', ')}`;
    }
    const pending = await pendingMigrations(database.dataSource, migrations ?? []);
    isCurrent = pending.length === 0;
    return isCurrent ? null : `the schema lacks ${pending.join(', ')}`;
  };
}

function registerLaneMetrics(database: Database, metrics: Metrics): void {
  metrics.gauge(
    'rookery_database_connections',
    'Connections by lane: in use, idle, and callers that wait for one.',
    ['lane', 'state'],
    (gauge) => {
      for (const lane of LANES) {
        const { totalCount, idleCount } = database.pool.poolOf(lane);
        gauge.set({ lane, state: 'used' }, totalCount - idleCount);
        gauge.set({ lane, state: 'idle' }, idleCount);
        gauge.set({ lane, state: 'waiting' }, database.pool.countWaiting(lane));
      }
    },
  );
  const waits = metrics.histogram(
    'rookery_database_wait_seconds',
    'Wait for a connection of callers that found none free.',
    ['lane'],
    WAITS,
  );
  database.pool.onWaited = (lane, ms) => waits.observe({ lane }, ms / 1000);
}

function registerAbortedTransactionsCounter(work: Work, metrics: Metrics): void {
  const counter = metrics.counter(
    'rookery_transactions_broken_off_total',
    'Transactions that the database aborted and that were retried, a few times at most.',
    ['why'],
  );
  work.onAborted = (why) => counter.inc({ why });
}

function registerDeadLetterGauge(database: Database, metrics: Metrics): void {
  const help = 'Effects and jobs that failed, by kind and state; `open` waits for an operator.';
  metrics.gauge('rookery_dead_letters', help, ['kind', 'state'], async (gauge) => {
    const rows = await database.query<{ kind: string; state: string; count: number }>(
      `select k.kind, s.state, count(d.id)::int as count
       from unnest(array['event', 'job']) k (kind) cross join unnest(array['open', 'retrying', 'replaying']) s (state)
       left join dead_letters d on d.kind = k.kind and d.state = s.state group by 1, 2`,
    );
    for (const { kind, state, count } of rows) gauge.set({ kind, state }, count);
  });
}
