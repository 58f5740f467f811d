import pg from 'pg';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import type { Logger as TypeOrmLogger } from 'typeorm';
import type { DatabaseSettings } from './database.config';
import { LanePools } from './lanes';
import type { LaneLimits } from './lanes';
import { SnakeNaming } from '../sql/naming';
import { rowValues } from '../sql/row-values';
import { SteadyClient } from './steady-client';

/**
 * How long an unused connection stays open; a few for requests never close (`lanes.ts`). A new connection parses and
 * plans its statements by use, five times each until a plan is kept. That costs more than the memory of a connection
 * between two bursts, but less than the memory of thirty for minutes. Units: ms.
 */
const IDLE_MS = 60_000;

/**
 * Options for all connections of a service. Purpose: limits, names and value parsers in one place, for the running
 * process and for migrations alike. A limit of 0 means no limit. Units: milliseconds.
 * Source: reference reliability 5; docs/architecture.md 5.
 */
export function dataSourceOptions(
  settings: DatabaseSettings,
  o: {
    readonly name: string;

    readonly entities: readonly Function[];
    readonly onIdleError: (error: unknown) => void;
  },
): PostgresDataSourceOptions {
  return {
    type: 'postgres',
    url: settings.url,
    applicationName: o.name,
    entities: [...o.entities],
    synchronize: false,
    migrationsRun: false,
    installExtensions: false,
    logger: silent,
    namingStrategy: new SnakeNaming(),
    driver: { ...pg, Pool: LanePools },
    // Without a handler, an idle connection that the server ends would end the process.
    poolErrorHandler: o.onIdleError,
    extra: {
      lanes: laneLimits(settings),
      Client: SteadyClient,
      types: rowValues,
      idleTimeoutMillis: IDLE_MS,
      statement_timeout: settings.statementTimeoutMs,
      lock_timeout: settings.lockTimeoutMs,
      idle_in_transaction_session_timeout: settings.idleInTransactionTimeoutMs,
    },
  };
}

/** Failures reach the caller as errors and are logged there once; TypeORM would print them to the console as well. */
const silent: TypeOrmLogger = {
  logQuery: () => undefined,
  logQueryError: () => undefined,
  logQuerySlow: () => undefined,
  logSchemaBuild: () => undefined,
  logMigration: () => undefined,
  log: () => undefined,
};

/** Connections of the lane `apart`: its units of work are few and short, and it opens connections on demand. */
const APART_COUNT = 2;

function laneLimits(settings: DatabaseSettings): LaneLimits {
  const { poolCount, internalPoolCount, backgroundPoolCount, poolWaitMs } = settings;
  return {
    counts: { requests: poolCount, internal: internalPoolCount, background: backgroundPoolCount, apart: APART_COUNT },
    waitMs: poolWaitMs,
  };
}
