import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { ServiceName } from '@rookery/contracts';
import { CLOCK } from '@rookery/kernel';
import type { Clock } from '@rookery/kernel';
import { awaitedByMany, LOGGER, Metrics, Readiness } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from './data-source';
import { Database } from './database';
import type { DatabaseSettings } from './database.config';
import { DeadLetters } from './dead-letters';
import { LANES } from './lanes';
import { Inbox } from './inbox';
import { pendingMigrations } from './migrate';
import type { MigrationClass } from './migrate';
import { Work } from './work';

export interface PersistenceOptions {
  readonly service: ServiceName;
  /** Every entity of the service (`entitiesOf` its module): nothing is found by scanning folders. */
  readonly entities: readonly Function[];
  readonly settings: DatabaseSettings;
  /** When given, the process is not ready while one of them is pending. */
  readonly migrations?: readonly MigrationClass[];
}

/**
 * The service's database: TypeORM's DataSource (through @nestjs/typeorm), `Database`, `Work`, `Inbox`, `DeadLetters`. Global.
 * Shape: never synchronizes the schema and never migrates; that is the `migrate` role. Needs `PlatformModule`.
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
            // A database that comes up a moment later is waited for; the platform restarts what waits longer.
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
            showLanes(database, metrics);
            readiness.require('database', readinessOf(database, o.migrations));
            return database;
          },
        },
        {
          provide: Work,
          inject: [DataSource, CLOCK, LOGGER],
          useFactory: (dataSource: DataSource, clock: Clock, logger: Logger) =>
            new Work(dataSource, o.service, clock, logger),
        },
        Inbox,
        DeadLetters,
      ],
      exports: [Database, Work, Inbox, DeadLetters, TypeOrmModule],
    };
  }
}

/** Answers `select 1`, and until the schema was new enough once, looks for pending migrations. */
function readinessOf(database: Database, migrations?: readonly MigrationClass[]): () => Promise<string | null> {
  let isCurrent = migrations === undefined;
  return async () => {
    if (isCurrent) {
      await awaitedByMany(() => database.query('select 1'));
      return null;
    }
    const pending = await pendingMigrations(database.dataSource, migrations ?? []);
    isCurrent = pending.length === 0;
    return isCurrent ? null : `the schema lacks ${pending.join(', ')}`;
  };
}

function showLanes(database: Database, metrics: Metrics): void {
  metrics.gauge(
    'rookery_database_connections',
    'Connections by what they are for: in use, idle, and how many wait for one.',
    ['lane', 'state'],
    (gauge) => {
      for (const lane of LANES) {
        const { totalCount, idleCount, waitingCount } = database.pool.of(lane);
        gauge.set({ lane, state: 'used' }, totalCount - idleCount);
        gauge.set({ lane, state: 'idle' }, idleCount);
        gauge.set({ lane, state: 'waiting' }, waitingCount);
      }
    },
  );
}
