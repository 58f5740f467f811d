/**
 * Databases and roles of the services in the embedded PostgreSQL. Each service has a role that may enter its database only
 * and has rights to rows there, and a role that owns the database and its tables, for migrations (ADR 0211).
 */
import pg from 'pg';
import { SERVICES } from '../processes/environment.mjs';

/**
 * Creates missing databases and roles, and gives databases of earlier versions to their owners. Resolves to the address of
 * each database, by service: as the role of the service, and as the owner.
 * @param {import('./postgres.mjs').PostgresServer} server
 * @param {Pick<import('../processes/secrets.mjs').Secrets, 'databases' | 'owners'>} passwords
 * @returns {Promise<{ databases: Record<string, string>, owners: Record<string, string> }>}
 */
export async function ensureDatabases(server, passwords, services = SERVICES) {
  const client = new pg.Client({ connectionString: server.url() });
  await client.connect();
  try {
    const roles = await selectNames(client, 'SELECT rolname AS name FROM pg_roles');
    const databases = await selectNames(client, 'SELECT datname AS name FROM pg_database');
    const owned = await selectNames(
      client,
      `SELECT datname AS name FROM pg_database WHERE pg_get_userbyid(datdba) = datname || '_owner'`,
    );
    for (const service of services) {
      const name = databaseNameOf(service);
      const owner = databaseOwnerOf(service);
      if (!roles.has(name)) await client.query(`CREATE ROLE ${name} LOGIN PASSWORD '${passwords.databases[service]}'`);
      // An earlier version of these programs, started in between, removes the password from the secrets.
      await client.query(
        `${roles.has(owner) ? 'ALTER' : 'CREATE'} ROLE ${owner} LOGIN PASSWORD '${passwords.owners[service]}'`,
      );
      if (!databases.has(name)) await client.query(`CREATE DATABASE ${name} STRATEGY FILE_COPY`);
      if (owned.has(name)) continue;
      if (databases.has(name)) await giveTablesToOwner(server, service);
      for (const statement of databaseRights(service)) await client.query(statement);
    }
  } finally {
    await client.end();
  }
  /** @type {(roleOf: (service: string) => string, passwords: Record<string, string>) => Record<string, string>} */
  const addresses = (roleOf, passwords) =>
    Object.fromEntries(
      services.map((service) => [
        service,
        server.nearUrl(databaseNameOf(service), roleOf(service), passwords[service]),
      ]),
    );
  return {
    databases: addresses(databaseNameOf, passwords.databases),
    owners: addresses(databaseOwnerOf, passwords.owners),
  };
}

/**
 * Statements that give a database to its owner, and admit its service and no other role. A copy of a database has neither
 * the owner nor the rights of the original.
 * @param {string} service
 */
export function databaseRights(service) {
  const name = databaseNameOf(service);
  return [
    `ALTER DATABASE ${name} OWNER TO ${databaseOwnerOf(service)}`,
    `REVOKE ALL ON DATABASE ${name} FROM PUBLIC`,
    `GRANT CONNECT ON DATABASE ${name} TO ${name}`,
  ];
}

/**
 * Gives the tables of a database to its owner. In databases and snapshots of earlier versions the role of the service owns
 * them.
 * @param {{ url(database?: string): string }} server
 * @param {string} service
 */
export async function giveTablesToOwner(server, service) {
  const client = new pg.Client({ connectionString: server.url(databaseNameOf(service)) });
  await client.connect();
  try {
    await client.query(`REASSIGN OWNED BY ${databaseNameOf(service)} TO ${databaseOwnerOf(service)}`);
  } finally {
    await client.end();
  }
}

/**
 * Name of the database of a service, and of the role of the service.
 * @param {string} service
 */
export function databaseNameOf(service) {
  return `rookery_${service}`;
}

/**
 * Name of the role that owns the database of a service and its tables.
 * @param {string} service
 */
export function databaseOwnerOf(service) {
  return `${databaseNameOf(service)}_owner`;
}

/**
 * @param {pg.Client} client
 * @param {string} statement
 */
async function selectNames(client, statement) {
  const { rows } = await client.query(statement);
  return new Set(rows.map((row) => row.name));
}
