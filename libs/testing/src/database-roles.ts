import { withAdministratorClient, newDatabaseName, TEMPLATE_LOCK, databaseUrlOf } from './database';
import type { TestDatabase } from './database';

/** Roles of the test server, which all runs share. They own only databases of tests, and can do nothing else. */
const OWNER = { name: 'test_owner', password: 'owner' };
const SERVICE = { name: 'test_service', password: 'service' };

/** A database with two roles, as `npm start` and the manifests make it. `url` is that of the superuser. */
export interface TestDatabaseWithRoles extends TestDatabase {
  /** Address as the role that owns the database, and the tables that it creates. */
  readonly ownerUrl: string;
  /** Address as the role of the running service, which has no rights before a migration. */
  readonly serviceUrl: string;
  readonly owner: string;
  readonly service: string;
}

/** Creates an empty database with two roles. */
export async function testDatabaseWithRoles(): Promise<TestDatabaseWithRoles> {
  const name = newDatabaseName();
  await withAdministratorClient(async (client) => {
    await client.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK]);
    const { rows } = await client.query<{ rolname: string }>('select rolname from pg_roles');
    for (const role of [OWNER, SERVICE])
      if (!rows.some(({ rolname }) => rolname === role.name))
        await client.query(`create role ${role.name} login password '${role.password}'`);
    await client.query(`create database ${name} owner ${OWNER.name} template template0`);
    await client.query(`revoke all on database ${name} from public`);
  });
  return {
    url: databaseUrlOf(name),
    ownerUrl: databaseUrlOf(name, OWNER),
    serviceUrl: databaseUrlOf(name, SERVICE),
    owner: OWNER.name,
    service: SERVICE.name,
    drop: () =>
      withAdministratorClient(
        async (client) => void (await client.query(`drop database if exists ${name} with (force)`)),
      ),
  };
}
