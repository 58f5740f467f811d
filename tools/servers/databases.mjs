/** Creates a database and a role for each service in the embedded PostgreSQL; a role can connect to its database only. */
import pg from 'pg';
import { SERVICES } from '../processes/environment.mjs';

/**
 * Creates missing databases and roles. Resolves to the URL of each database, by service.
 * @param {import('./postgres.mjs').PostgresServer} server
 * @param {Record<string, string>} passwords
 * @returns {Promise<Record<string, string>>}
 */
export async function ensureDatabases(server, passwords, services = SERVICES) {
  const client = new pg.Client({ connectionString: server.url() });
  await client.connect();
  try {
    const roles = await selectNames(client, 'SELECT rolname AS name FROM pg_roles');
    const databases = await selectNames(client, 'SELECT datname AS name FROM pg_database');
    for (const service of services) {
      const name = nameOf(service);
      if (!roles.has(name)) await client.query(`CREATE ROLE ${name} LOGIN PASSWORD '${passwords[service]}'`);
      if (databases.has(name)) continue;
      await client.query(`CREATE DATABASE ${name} OWNER ${name} STRATEGY FILE_COPY`);
      await client.query(`REVOKE ALL ON DATABASE ${name} FROM PUBLIC`);
    }
  } finally {
    await client.end();
  }
  return Object.fromEntries(
    services.map((service) => [service, server.nearUrl(nameOf(service), nameOf(service), passwords[service])]),
  );
}

/** @param {string} service */
export function nameOf(service) {
  return `rookery_${service}`;
}

/**
 * @param {pg.Client} client
 * @param {string} statement
 */
async function selectNames(client, statement) {
  const { rows } = await client.query(statement);
  return new Set(rows.map((row) => row.name));
}
