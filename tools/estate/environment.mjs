/** What each process of the estate is told: the one place that names processes, databases and variables. */

/** Services with a database of their own. */
export const SERVICES = ['identity', 'collaboration', 'import', 'package', 'admin'];
export const PROCESSES = [...SERVICES, 'gateway'];

/** Where all listen but the gateway, and the gateway too unless the operator says `HOST`. */
export const LOOPBACK = '127.0.0.1';

/** Who asks whom, inside: caller and callee of the internal routes. */
export const INTERNAL_PAIRS = [
  ...PROCESSES.filter((name) => name !== 'identity').map((caller) => [caller, 'identity']),
  ['identity', 'collaboration'],
  ...['identity', 'collaboration', 'package'].map((caller) => [caller, 'admin']),
];

export function databaseVariable(service) {
  return `DATABASE_URL_${service.toUpperCase()}`;
}

/** Whether the operator set a variable, directly or by its `_FILE` twin. */
export function isGiven(env, name) {
  return Boolean(env[name] || env[`${name}_FILE`]);
}

/** Services that store files (`libs/blobs`). */
const STORES_FILES = ['package'];

/** Variables that only the supervisor reads, and those that are decided for each process. */
const WITHHELD = new Set([
  'PORT',
  'HOST',
  'MANAGEMENT_HOST',
  'MANAGEMENT_PORT',
  'IDENTITY_URL',
  'ADMIN_URL',
  'COLLABORATION_URL',
  'ROOKERY_CONTEXT_KEYS',
  'ROOKERY_CONTEXT_KEYS_FILE',
  'ROOKERY_INTERNAL_KEYS',
  'ROOKERY_INTERNAL_KEYS_FILE',
  'NATS_SERVER_BIN',
  'ROOKERY_DATA',
  'ROOKERY_SEED',
  'ROOKERY_ROOT_TOKEN',
  'ROOKERY_ROOT_TOKEN_FILE',
]);

/** Secrets of the operator that some processes use, and no other is told, given directly or by their `_FILE` twin. */
const MEANT_FOR = new Map([
  ...['ACCESS_KEY_ID', 'SECRET_ACCESS_KEY', 'SESSION_TOKEN'].map((name) => [`AWS_${name}`, STORES_FILES]),
  ['GEO_SHARED_SECRET', ['admin']],
  ['SMTP_URL', ['collaboration']],
  ['NATS_URL', SERVICES],
  ...SERVICES.map((service) => [databaseVariable(service), [service]]),
]);

/**
 * The environment of one process: what the operator set, then what the estate decides.
 * Shape of `estate`: `{ host, ports: { identity: { http, management }… }, databases: { identity: url… }, natsUrls, smtpUrl, blobsUrl,
 * externalUrl, secrets, env }`. A database or server that the operator named is not in it.
 */
export function environmentOf(name, estate) {
  const at = (service) => `http://127.0.0.1:${estate.ports[service].http}`;
  return {
    NODE_ENV: 'production',
    ...inherited(name, estate.env),
    ...unlessGiven(estate.env, {
      ROOKERY_EXTERNAL_URL: estate.externalUrl,
      // No balancer stands in front of these processes, so nothing has to notice before they close.
      SHUTDOWN_DELAY_MS: '0',
      ...(name === 'gateway' ? { ...upstreams(estate), ...connections(estate) } : ownServers(name, estate)),
    }),
    ROOKERY_CONTEXT_KEYS: contextKeysOf(name, estate.secrets),
    ROOKERY_INTERNAL_KEYS: internalKeysOf(name, estate.secrets),
    IDENTITY_URL: at('identity'),
    ADMIN_URL: at('admin'),
    ...(name === 'identity' ? { COLLABORATION_URL: at('collaboration') } : {}),
    HOST: name === 'gateway' ? estate.host : LOOPBACK,
    MANAGEMENT_HOST: LOOPBACK,
    PORT: String(estate.ports[name].http),
    MANAGEMENT_PORT: String(estate.ports[name].management),
  };
}

/** The gateway signs for every service; a service can check what is meant for itself, and sign for nobody else. */
function contextKeysOf(name, { contextKeys }) {
  return name === 'gateway' ? Object.values(contextKeys).join(',') : contextKeys[name];
}

/** A process has the keys that it presents or checks, and no other. */
function internalKeysOf(name, { internalKeys }) {
  return INTERNAL_PAIRS.filter((pair) => pair.includes(name))
    .map((pair) => internalKeys[pair.join('/')])
    .join(',');
}

/** Where the gateway sends requests, and where it asks whether a service is ready. */
function upstreams({ ports }) {
  return Object.fromEntries(
    SERVICES.flatMap((service) => [
      [`GATEWAY_UPSTREAM_${service.toUpperCase()}`, `http://127.0.0.1:${ports[service].http}`],
      [`GATEWAY_MANAGEMENT_${service.toUpperCase()}`, `http://127.0.0.1:${ports[service].management}`],
    ]),
  );
}

/** Whoever reaches loopback is on this machine: a suite may open what it likes. */
function connections({ host }) {
  return host === LOOPBACK ? { GATEWAY_SOCKETS_PER_ADDRESS_COUNT: '0' } : {};
}

function ownServers(name, { databases, natsUrls, smtpUrl, blobsUrl }) {
  const mail = name === 'collaboration' ? { SMTP_URL: smtpUrl } : {};
  const files = STORES_FILES.includes(name) ? { BLOBS_URL: blobsUrl } : {};
  return { [databaseVariable(name)]: databases[name], NATS_URL: natsUrls?.[name], ...mail, ...files };
}

/** A process sees the address of its own database only, and no secret of another. */
function inherited(name, env) {
  return Object.fromEntries(
    Object.entries(env).filter(([key, value]) => {
      if (value === undefined || WITHHELD.has(key) || key.startsWith('npm_')) return false;
      return MEANT_FOR.get(key.replace(/_FILE$/, ''))?.includes(name) ?? true;
    }),
  );
}

function unlessGiven(env, values) {
  return Object.fromEntries(Object.entries(values).filter(([key, value]) => value !== undefined && !isGiven(env, key)));
}

/** For tests, drills and benchmarks that come from one address and as few people; all else is as by default. */
export const WITHOUT_RATES = { RATE_LIMITS: 'off' };
/** For those that look for each e-mail by itself: nobody has to wait for their share, so nothing is gathered into one. */
export const EVERY_MAIL = {
  MAILER_PER_RECIPIENT_PER_MINUTE_COUNT: '100000',
  MAILER_PER_RECIPIENT_BURST_COUNT: '100000',
};
