import type { ServiceName } from '@rookery/contracts';
import type { MigrateStep } from '@rookery/platform';
import { DataSource } from 'typeorm';
import type { MigrationInterface } from 'typeorm';
import { dataSourceOptions } from '../connections/data-source';
import { databaseSettingsFor } from '../connections/database.config';
import { plumbingMigrations } from './plumbing.migrations';
import { grantRightsToRows } from './service-role';

/**
 * A TypeORM migration in raw SQL. The class name ends in 13 digits, which order it. The field `transaction = false` is
 * for statements that refuse a transaction (create index concurrently).
 */
export type MigrationClass = new () => MigrationInterface;

/** An arbitrary number that only our migrations use; one process at a time migrates a database. */
const MIGRATION_LOCK = 7_316_420_001;

/** Returns the migrations of this library and the given ones, each once, in the order of their numbers. */
function withPlumbingMigrations(migrations: readonly MigrationClass[]): MigrationClass[] {
  const order = (migration: MigrationClass) => Number(migration.name.slice(-13));
  return [...new Set([...plumbingMigrations, ...migrations])].sort((left, right) => order(left) - order(right));
}

/** Names of the migrations that a database has not run yet; all of them when it has never been migrated. */
export async function pendingMigrations(
  dataSource: DataSource,
  migrations: readonly MigrationClass[],
): Promise<string[]> {
  const [table] = (await dataSource.query(`select to_regclass('migrations') is not null as known`)) as {
    known: boolean;
  }[];
  const done = table?.known ? ((await dataSource.query('select name from migrations')) as { name: string }[]) : [];
  const names = new Set(done.map((row) => row.name));
  return withPlumbingMigrations(migrations)
    .map((migration) => migration.name)
    .filter((name) => !names.has(name));
}

/**
 * Migrates a database to the newest schema, each migration in a transaction of its own. The plumbing tables are added
 * when not listed. A second process waits for the first and then finds nothing to do. Afterwards the role
 * `serviceRole`, if given, gets rights to all rows. Returns the names of the migrations that were run.
 * Errors: those of the failing statement; the migrations before it stay. Those of `grantRightsToRows`.
 * Source: reference reliability 9.2; ADR 0023, 0211.
 */
export async function runMigrations(
  url: string,
  migrations: readonly MigrationClass[],
  { serviceRole = null }: { readonly serviceRole?: string | null } = {},
): Promise<string[]> {
  const dataSource = new DataSource({
    ...dataSourceOptions(
      // A lock timeout fails the migration instead of queueing every request behind it.
      {
        url,
        serviceRole,
        poolCount: 1,
        internalPoolCount: 1,
        backgroundPoolCount: 2,
        poolWaitMs: 10_000,
        statementTimeoutMs: 0,
        lockTimeoutMs: 5000,
        idleInTransactionTimeoutMs: 0,
      },
      { name: 'rookery-migrate', entities: [], onIdleError: () => undefined },
    ),
    migrations: withPlumbingMigrations(migrations),
    migrationsTableName: 'migrations',
  });
  await dataSource.initialize();
  try {
    const guard = dataSource.createQueryRunner();
    try {
      await guard.query('set lock_timeout = 0');
      await guard.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
      const done = await dataSource.runMigrations({ transaction: 'each' });
      if (serviceRole !== null) await grantRightsToRows((text, values) => guard.query(text, values), serviceRole);
      return done.map((migration) => migration.name);
    } finally {
      await guard.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
      await guard.release();
    }
  } finally {
    await dataSource.destroy();
  }
}

/** The `migrate` role of a service. Source: ADR 0023. */
export function createMigrateStep(o: {
  readonly service: ServiceName;
  readonly migrations: readonly MigrationClass[];
}): MigrateStep {
  return async (context) => {
    const { url, serviceRole } = context.settings(databaseSettingsFor(o.service));
    const started = Date.now();
    const done = await runMigrations(url, o.migrations, { serviceRole });
    context.logger.info({ migrations: done, ms: Date.now() - started }, `${done.length} migrations were run`);
  };
}
