/** What each process of the estate is told: the one place that names processes, databases and variables. */

/** Services with a database of their own. */
export const SERVICES = ['identity', 'collaboration', 'import', 'package', 'admin'];
export const PROCESSES = [...SERVICES, 'gateway'];

export function databaseVariable(service) {
  return `DATABASE_URL_${service.toUpperCase()}`;
}

/** Variables that only the supervisor reads, or that belong to one process. */
function isWithheld(name) {
  return (
    ['PORT', 'HOST', 'MANAGEMENT_PORT', 'ROOKERY_DATA', 'ROOKERY_ROOT_TOKEN', 'NATS_SERVER_BIN'].includes(name) ||
    name.startsWith('DATABASE_URL_') ||
    name.startsWith('npm_')
  );
}

/**
 * The environment of one process.
 * Shape of `estate`: `{ ports: { identity: { http, management }… }, host, databases: { identity: url… }, natsUrl, smtpUrl,
 * secrets, externalUrl, env }`; `env` is what the operator set, and wins where it is meant for the processes.
 */
export function environmentOf(name, estate) {
  const inherited = Object.entries(estate.env).filter(([key, value]) => value !== undefined && !isWithheld(key));
  const at = (service) => `http://127.0.0.1:${estate.ports[service].http}`;
  const own =
    name === 'gateway'
      ? Object.fromEntries(SERVICES.map((service) => [`GATEWAY_UPSTREAM_${service.toUpperCase()}`, at(service)]))
      : { [databaseVariable(name)]: estate.databases[name], NATS_URL: estate.natsUrl };
  return {
    NODE_ENV: 'production',
    ROOKERY_INTERNAL_SECRET: estate.secrets.internalSecret,
    ROOKERY_CONTEXT_KEYS: estate.secrets.contextKeys,
    ROOKERY_EXTERNAL_URL: estate.externalUrl,
    ...(name === 'collaboration' ? { SMTP_URL: estate.smtpUrl } : {}),
    ...Object.fromEntries(inherited),
    ...own,
    IDENTITY_URL: at('identity'),
    HOST: name === 'gateway' ? estate.host : '127.0.0.1',
    PORT: String(estate.ports[name].http),
    MANAGEMENT_PORT: String(estate.ports[name].management),
  };
}
