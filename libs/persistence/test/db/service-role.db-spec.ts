import { testDatabaseWithRoles } from '@rookery/testing';
import type { TestDatabaseWithRoles } from '@rookery/testing';
import { Client } from 'pg';
import { plumbingMigrations, runMigrations } from '../../src';
import type { MigrationClass } from '../../src';

class CreateNests1790000000002 {
  async up(runner: { query(sql: string): Promise<unknown> }): Promise<void> {
    await runner.query('create schema "Odd ones"');
    await runner.query('create table "Odd ones"."Nests" (id serial)');
  }
}
const nests = CreateNests1790000000002 as unknown as MigrationClass;
/** A name that is no plain identifier. */
const ODD = `test"; drop table migrations; --'`;

let database: TestDatabaseWithRoles;
let administrator: Client;
const migrate = (serviceRole: string | null, migrations: readonly MigrationClass[] = plumbingMigrations) =>
  runMigrations(database.ownerUrl, migrations, { serviceRole });

beforeEach(async () => {
  database = await testDatabaseWithRoles();
  administrator = new Client({ connectionString: database.url });
  await administrator.connect();
});
afterEach(async () => {
  await administrator.end();
  await database.drop();
});

async function asService<T>(use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: database.serviceUrl });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

it('a role gets rights to tables of later migrations, and to those that were there before it was named', async () => {
  await migrate(null);
  await expect(asService((client) => client.query('select 1'))).rejects.toThrow('permission denied for database');
  await expect(migrate(database.service)).resolves.toEqual([]);
  await expect(migrate(database.service, [nests])).resolves.toHaveLength(1);
  await asService(async (client) => {
    await client.query('delete from outbox');
    const { rows } = await client.query('insert into "Odd ones"."Nests" default values returning id');
    expect(rows).toEqual([{ id: 1 }]);
  });
});

it('a role that does not exist is named by the error, and its name is never part of a statement', async () => {
  await expect(migrate(ODD)).rejects.toThrow(`the role "${ODD}" of DATABASE_SERVICE_ROLE does not exist`);
  const quoted = administrator.escapeIdentifier(ODD);
  await administrator.query(`create role ${quoted}`);
  try {
    await migrate(ODD);
    const { rows } = await administrator.query(
      `select has_table_privilege($1, 'outbox', 'delete') as "mayDelete", to_regclass('migrations') is not null as "isThere"`,
      [ODD],
    );
    expect(rows).toEqual([{ mayDelete: true, isThere: true }]);
  } finally {
    await administrator.query(`drop owned by ${quoted}`);
    await administrator.query(`drop role ${quoted}`);
  }
});

it('the owner of the tables, and a superuser, are refused as the role of the service', async () => {
  await expect(migrate(database.owner)).rejects.toThrow(
    `"${database.owner}" of DATABASE_SERVICE_ROLE may act as ${database.owner}, which migrates`,
  );
  await expect(migrate('postgres')).rejects.toThrow('"postgres" of DATABASE_SERVICE_ROLE may act as');
});

it.each([
  ['a table', 'create table eggs (); alter table eggs owner to test_service', 'owns the table eggs'],
  [
    'the database',
    'alter database this owner to test_service; grant connect on database this to test_owner',
    'owns the database',
  ],
  [
    'a function',
    'create function egg() returns int return 1; alter function egg owner to test_service',
    'owns the fun',
  ],
])('a role that owns %s is refused', async (_, statements, message) => {
  await migrate(null);
  const [{ name } = { name: '' }] = (await administrator.query<{ name: string }>('select current_database() as name'))
    .rows;
  await administrator.query(statements.replaceAll('database this', `database ${name}`));
  await expect(migrate(database.service)).rejects.toThrow(`"test_service" of DATABASE_SERVICE_ROLE ${message}`);
});

it.each([
  ['grant create on schema public to test_service', 'may create tables in the schema public'],
  ['grant create on schema public to public', 'may create tables in the schema public'],
  ['create table eggs (); grant all on eggs to test_service', 'may truncate the table eggs or add triggers to it'],
])('a role with more than rights to rows is refused: %s', async (statements, message) => {
  await administrator.query(statements);
  await expect(migrate(database.service)).rejects.toThrow(message);
});
