import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { plumbingMigrations, runMigrations, type MigrationClass } from '@rookery/persistence';
import { Client } from 'pg';
import { until } from './bus';
import { testServerUrl } from './servers';

export interface TestDatabase {
  readonly url: string;
  /** Ends every connection to it and deletes it. */
  drop(): Promise<void>;
}

/** Waits until so many transactions of the database wait for a lock; `ask` sends a statement to it. */
export function untilBlocked(ask: (sql: string) => Promise<QueryRows>, count = 1): Promise<void> {
  const blocked = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return until(async () => {
    const answer = await ask(blocked);
    return ('rows' in answer ? answer.rows : answer).length >= count;
  }, `${count} transactions that wait for a lock`);
}

type QueryRows = readonly unknown[] | { readonly rows: readonly unknown[] };

/** Advisory lock for creating and deleting test databases; an arbitrary number, the same everywhere. */
export const TEMPLATE_LOCK = 7_205_221;
const IS_ENTERED = `SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'`;
const machine = createHash('sha256').update(hostname()).digest('hex').slice(0, 6);
let count = 0;
let sweep: Promise<void> | null = null;

/**
 * Creates a migrated, empty database in a real PostgreSQL. The migrations run once into a template for each set of
 * migrations; every caller gets a copy of it, which takes some 50 ms.
 *
 * Source: ADR 0015.
 */
export async function testDatabase(service: string, migrations: readonly MigrationClass[]): Promise<TestDatabase> {
  const template = `template_${service.replaceAll('-', '_')}_${await fingerprintOf(migrations)}`;
  const name = newDatabaseName();
  await withAdministratorClient(async (client) => {
    await (sweep ??= dropAbandonedDatabases(client));
    if (!(await isTemplateDatabaseComplete(client, template)))
      await buildTemplateDatabase(client, template, migrations);
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  });
  return {
    url: databaseUrlOf(name),
    drop: () =>
      withAdministratorClient(
        async (client) => void (await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
      ),
  };
}

/** A name that `dropAbandonedDatabases` knows. */
export function newDatabaseName(): string {
  return `test_${machine}_${process.pid}_${Date.now().toString(36)}_${++count}`;
}

/** Address of a database of the test server, as its superuser or as `role`. */
export function databaseUrlOf(database: string, role?: { readonly name: string; readonly password: string }): string {
  const url = new URL(testServerUrl('TEST_POSTGRES_URL'));
  if (role) [url.username, url.password] = [role.name, role.password];
  url.pathname = `/${database}`;
  return url.href;
}

export async function withAdministratorClient<T>(use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: testServerUrl('TEST_POSTGRES_URL') });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/**
 * Stores an initial answer of admin without features and settings: a service without one waits for it at its first
 * start.
 */
async function storeInitialInstanceSettings(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ found: boolean }>(
      `SELECT to_regclass('instance_answers') IS NOT NULL AS found`,
    );
    if (rows[0]?.found !== true) return;
    await client.query(
      `INSERT INTO instance_answers VALUES (1, -1, '{"version": -1, "features": {}, "settings": {}}')`,
    );
  } finally {
    await client.end();
  }
}

/** A template is marked as such only after its last migration. */
async function isTemplateDatabaseComplete(client: Client, template: string): Promise<boolean> {
  const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1 AND datistemplate', [template]);
  return found.rows.length === 1;
}

async function buildTemplateDatabase(
  client: Client,
  template: string,
  migrations: readonly MigrationClass[],
): Promise<void> {
  await client.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK]);
  try {
    if (await isTemplateDatabaseComplete(client, template)) return;
    await client.query(`DROP DATABASE IF EXISTS ${template} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${template} TEMPLATE template0`);
    await runMigrations(databaseUrlOf(template), migrations);
    await storeInitialInstanceSettings(databaseUrlOf(template));
    await client.query(`ALTER DATABASE ${template} WITH ALLOW_CONNECTIONS false`);
    // A database can be copied only without connections, and the server may be slow to notice the end of those of the
    // migrations.
    await until(
      async () => (await client.query(IS_ENTERED, [template])).rows.length === 0,
      'the end of the migrations',
    );
    await client.query(`ALTER DATABASE ${template} WITH IS_TEMPLATE true`);
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [TEMPLATE_LOCK]);
  }
}

/**
 * A digest of the migrations: their source text, and the statements that they send. The source alone would miss a
 * statement from another file.
 */
async function fingerprintOf(migrations: readonly MigrationClass[]): Promise<string> {
  const hash = createHash('sha256');
  for (const migration of [...plumbingMigrations, ...migrations]) {
    hash.update(`${migration.name}\n${migration.toString()}\n`);
    for (const statement of await recordStatements(migration)) hash.update(`${statement}\n`);
  }
  return hash.digest('hex').slice(0, 12);
}

/**
 * Records every call on the runner and answers with an empty result; a migration that needs a real result stops there.
 */
async function recordStatements(migration: MigrationClass): Promise<string[]> {
  const statements: string[] = [];
  const recorder = new Proxy({} as never, {
    get: (_, method) =>
      method === 'then'
        ? undefined
        : (...values: unknown[]) => {
            statements.push(`${String(method)} ${JSON.stringify(values)}`);
            return Promise.resolve([]);
          },
  });
  try {
    await new migration().up(recorder);
  } catch (error) {
    statements.push(String(error));
  }
  return statements;
}

/** Deletes databases whose process of this machine is dead: a killed test run never dropped them. */
async function dropAbandonedDatabases(client: Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT datname AS name FROM pg_database WHERE datname LIKE $1`,
    [`test_${machine}_%`],
  );
  for (const { name } of rows) {
    if (!isProcessRunning(Number(name.split('_')[2])))
      await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  }
}

function isProcessRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
