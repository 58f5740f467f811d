import { runMigrations } from '@rookery/persistence';
import type { MigrationClass } from '@rookery/persistence';
import { Client } from 'pg';
import { testDatabaseWithRoles } from '../database-roles';
import type { TestDatabaseWithRoles } from '../database-roles';

const SCHEMAS = `select oid from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'`;
/** Relations of all schemas, with the rights that the role of the connection has. */
const RELATIONS = `
  select c.oid::regclass::text as name, c.relkind as kind, c.relrowsecurity as "hasRowSecurity",
         has_table_privilege(c.oid, 'select') as "mayRead",
         has_table_privilege(c.oid, 'insert') and has_table_privilege(c.oid, 'update') and
           has_table_privilege(c.oid, 'delete') as "mayWrite",
         has_table_privilege(c.oid, 'truncate, references, trigger, maintain') as "mayChange"
    from pg_class c where c.relnamespace in (${SCHEMAS}) and c.relkind in ('r', 'p', 'v', 'm')`;
const UNUSABLE_SEQUENCES = `
  select c.oid::regclass::text as name from pg_class c
   where c.relnamespace in (${SCHEMAS}) and c.relkind = 'S' and not
         (has_sequence_privilege(c.oid, 'usage') and has_sequence_privilege(c.oid, 'select') and has_sequence_privilege(c.oid, 'update'))`;
const UNUSABLE_ROUTINES = `
  select p.oid::regprocedure::text as name from pg_proc p
   where p.pronamespace in (${SCHEMAS}) and not has_function_privilege(p.oid, 'execute')`;
/** Versions of the catalogue's rows with rights. */
const RIGHTS = `
  select 'relation ' || oid::regclass as name, xmin::text, relacl::text as rights from pg_class where relnamespace in (${SCHEMAS})
  union all select 'schema ' || nspname, xmin::text, nspacl::text from pg_namespace where oid in (${SCHEMAS})
  union all select 'database', xmin::text, datacl::text from pg_database where datname = current_database()
  order by 1`;

interface Relation {
  readonly name: string;
  readonly kind: string;
  readonly hasRowSecurity: boolean;
  readonly mayRead: boolean;
  readonly mayWrite: boolean;
  readonly mayChange: boolean;
}

/**
 * Checks the rights that the role of a running service gets from the migration of its database: to the rows of all tables,
 * and to nothing else. Source: reference reliability 9.3; ADR 0211.
 */
export function registerServiceRoleTests(o: {
  readonly migrations: readonly MigrationClass[];
  readonly table: string;
}): void {
  let database: TestDatabaseWithRoles;
  let client: Client;
  const migrate = (): Promise<string[]> =>
    runMigrations(database.ownerUrl, o.migrations, { serviceRole: database.service });
  const relations = async (): Promise<Relation[]> => (await client.query<Relation>(RELATIONS)).rows;

  describe('the role of the running service', () => {
    beforeAll(async () => {
      database = await testDatabaseWithRoles();
      await migrate();
      client = new Client({ connectionString: database.serviceUrl });
      await client.connect();
    });
    afterAll(async () => {
      await client.end();
      await database.drop();
    });

    it('reads and writes the rows of all tables, except the records of migrations', async () => {
      const found = await relations();
      expect(found.length).toBeGreaterThan(10);
      expect(found.map(({ name }) => name)).toEqual(expect.arrayContaining([o.table, 'outbox']));
      expect(found.filter(({ mayRead }) => !mayRead)).toEqual([]);
      const readOnly = found.filter(({ mayWrite }) => !mayWrite).map(({ name }) => name);
      expect(readOnly.filter((name) => !/^(?:graphile_worker\.)?migrations$/.test(name))).toEqual([]);
      expect(readOnly).toContain('migrations');
    });

    it('has no table whose rows only the owner sees', async () => {
      expect((await relations()).filter(({ hasRowSecurity }) => hasRowSecurity)).toEqual([]);
    });

    it('uses all sequences and routines', async () => {
      expect((await client.query(UNUSABLE_SEQUENCES)).rows).toEqual([]);
      expect((await client.query(UNUSABLE_ROUTINES)).rows).toEqual([]);
    });

    it('changes no table, and owns none', async () => {
      expect((await relations()).filter(({ mayChange }) => mayChange)).toEqual([]);
      const denied = [
        'create table nests (id int)',
        'create schema nests',
        'create temporary table nests (id int)',
        `create index on ${o.table} (id)`,
        `drop table ${o.table}`,
        `truncate ${o.table}`,
        `alter table ${o.table} add column egg int`,
        `alter table ${o.table} disable trigger all`,
        'update migrations set name = name',
        `set role ${database.owner}`,
      ];
      for (const statement of denied)
        await expect(client.query(statement)).rejects.toThrow(/permission denied|must be owner/);
    });

    it('keeps its rights when the database is migrated again, which changes nothing', async () => {
      const before = (await client.query(RIGHTS)).rows;
      expect(await migrate()).toEqual([]);
      expect((await client.query(RIGHTS)).rows).toEqual(before);
    });
  });
}
