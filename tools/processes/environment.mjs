/**
 * Names of processes and databases, and the environment variables of each process.
 *
 * @typedef {Record<string, string | undefined>} Environment
 * @typedef {{ http: number, management: number }} Ports
 * @typedef {{ contextKeys: Record<string, string>, internalKeys: Record<string, string>, session: string }} Keys
 * @typedef {{ host?: string, ports: Record<string, Ports>, databases: Record<string, string>,
 *   owners?: Record<string, string>, natsUrls?: Record<string, string>, smtpUrl?: string, blobsUrl?: string, repositories?: string, externalUrl?: string, secrets: Keys,
 *   env: Environment }} EstateFacts
 */

/** Services with their own database. */
export const SERVICES = ['identity', 'collaboration', 'import', 'package', 'admin'];
export const PROCESSES = [...SERVICES, 'gateway'];

/**
 * `six`: each service is a process of its own. `one`: all are in one process (`apps/one`, ADR 0197).
 * @typedef {'six' | 'one'} Layout
 */
/** Name of the process that contains all services in the layout `one`. */
export const TOGETHER = 'one';

/**
 * Reads the layout from `ROOKERY_LAYOUT`. Errors: a plain Error for an unknown one.
 * @param {Environment} env
 * @returns {Layout}
 */
export function layoutIn(env) {
  const name = env.ROOKERY_LAYOUT || 'six';
  if (name !== 'six' && name !== 'one') throw new Error(`ROOKERY_LAYOUT is six or one, not "${name}"`);
  return name;
}

/** Address that all processes listen on. The operator can choose another one for the gateway with `HOST`. */
export const LOOPBACK = '127.0.0.1';

/**
 * Caller and callee of the internal routes.
 * @type {[caller: string, callee: string][]}
 */
export const INTERNAL_PAIRS = [
  ...PROCESSES.filter((name) => name !== 'identity').map(pairWithCallee('identity')),
  ...['identity', 'import', 'package'].map(pairWithCallee('collaboration')),
  ...['identity', 'import'].map(pairWithCallee('package')),
  ...['identity'].map(pairWithCallee('import')),
  ...['identity', 'collaboration', 'package'].map(pairWithCallee('admin')),
];

/**
 * @param {string} callee
 * @returns {(caller: string) => [string, string]}
 */
function pairWithCallee(callee) {
  return (caller) => [caller, callee];
}

/** @param {string} service */
export function databaseVariable(service) {
  return `DATABASE_URL_${service.toUpperCase()}`;
}

/**
 * Whether the operator set a variable, directly or by its `_FILE` twin.
 * @param {Environment} env
 * @param {string} name
 */
export function isGiven(env, name) {
  return Boolean(env[name] || env[`${name}_FILE`]);
}

/** Services that store files (`libs/blobs`). */
const STORES_FILES = ['package'];

/** Services that store repositories (`libs/git`). */
const STORES_REPOSITORIES = ['collaboration'];

/** Variables that only the supervisor reads, or sets for each process. */
const WITHHELD = new Set([
  'PORT',
  'HOST',
  'MANAGEMENT_HOST',
  'MANAGEMENT_PORT',
  'IDENTITY_URL',
  'ADMIN_URL',
  'COLLABORATION_URL',
  'PACKAGE_URL',
  'IMPORT_URL',
  'ROOKERY_CONTEXT_KEYS',
  'ROOKERY_CONTEXT_KEYS_FILE',
  'ROOKERY_INTERNAL_KEYS',
  'ROOKERY_INTERNAL_KEYS_FILE',
  'NATS_SERVER_BIN',
  'ROOKERY_DATA',
  'ROOKERY_SEED',
  'ROOKERY_LAYOUT',
  'ROOKERY_ROOT_TOKEN',
  'ROOKERY_ROOT_TOKEN_FILE',
]);

/**
 * Secrets of the operator, and the processes that receive them; the same holds for their `_FILE` twins.
 * @type {Map<string, string[]>}
 */
const RECIPIENTS = new Map(
  Object.entries({
    AWS_ACCESS_KEY_ID: STORES_FILES,
    AWS_SECRET_ACCESS_KEY: STORES_FILES,
    AWS_SESSION_TOKEN: STORES_FILES,
    GATEWAY_SESSION_SECRET: ['gateway'],
    GEO_SHARED_SECRET: ['admin'],
    SMTP_URL: ['collaboration'],
    NATS_URL: SERVICES,
    ...Object.fromEntries(SERVICES.map((service) => [databaseVariable(service), [service]])),
  }),
);

/**
 * Environment of one process: variables set by the operator, then those set by the estate. `estate` lacks databases and
 * servers for which the operator gave an address.
 * @param {string} name
 * @param {EstateFacts} estate
 * @returns {Environment}
 */
export function environmentOf(name, estate) {
  /** @param {string} service */
  const at = (service) => `http://127.0.0.1:${portsOf(estate, service).http}`;
  return {
    NODE_ENV: 'production',
    ...inheritedVariables(name, estate.env),
    ...omitGivenVariables(estate.env, {
      ROOKERY_EXTERNAL_URL: estate.externalUrl,
      // No load balancer is in front of these processes, so none has to notice that they are about to close.
      SHUTDOWN_DELAY_MS: '0',
      ...(name === 'gateway' ? gatewayVariables(estate) : serverAddressVariablesOf(name, estate)),
    }),
    ROOKERY_CONTEXT_KEYS: contextKeysOf(name, estate.secrets),
    ROOKERY_INTERNAL_KEYS: internalKeysOf(name, estate.secrets),
    IDENTITY_URL: at('identity'),
    ADMIN_URL: at('admin'),
    ...(['identity', 'import', 'package'].includes(name) ? { COLLABORATION_URL: at('collaboration') } : {}),
    ...(['identity', 'import'].includes(name) ? { PACKAGE_URL: at('package') } : {}),
    ...(name === 'identity' ? { IMPORT_URL: at('import') } : {}),
    HOST: name === 'gateway' ? estate.host : LOOPBACK,
    MANAGEMENT_HOST: LOOPBACK,
    PORT: String(portsOf(estate, name).http),
    MANAGEMENT_PORT: String(portsOf(estate, name).management),
  };
}

/** @param {EstateFacts} estate */
function gatewayVariables(estate) {
  return {
    ...upstreamVariables(estate),
    ...connectionLimitVariables(estate),
    GATEWAY_SESSION_SECRET: estate.secrets.session,
  };
}

/**
 * Environment of the one process that contains those with the given environments. Variables with the same value in all
 * of them are passed once, the others by process in `ESTATE_ENVIRONMENTS` (libs/platform/src/boot/environments.ts). The
 * ports are those of the gateway, which clients reach.
 * @param {Record<string, Environment>} environments
 * @param {EstateFacts} estate
 * @returns {Environment}
 */
export function environmentOfAll(environments, estate) {
  const each = Object.values(environments);
  /** @type {(entry: [string, string | undefined]) => boolean} */
  const isCommon = ([key, value]) => each.every((environment) => environment[key] === value);
  const own = Object.entries(environments).map(([name, environment]) => [
    name,
    Object.fromEntries(Object.entries(environment).filter((entry) => !isCommon(entry))),
  ]);
  const { http, management } = portsOf(estate, 'gateway');
  return {
    ...Object.fromEntries(Object.entries(each[0] ?? {}).filter(isCommon)),
    ESTATE_ENVIRONMENTS: JSON.stringify(Object.fromEntries(own)),
    PORT: String(http),
    MANAGEMENT_PORT: String(management),
  };
}

/**
 * @param {Pick<EstateFacts, 'ports'>} estate
 * @param {string} name
 */
function portsOf({ ports }, name) {
  const found = ports[name];
  if (!found) throw new Error(`${name} has no ports`);
  return found;
}

/**
 * Keys for signed request contexts. The gateway signs for every service; a service has only its own key.
 * @param {string} name
 * @param {Keys} keys
 */
function contextKeysOf(name, { contextKeys }) {
  return name === 'gateway' ? Object.values(contextKeys).join(',') : contextKeys[name];
}

/**
 * Keys of the internal calls that a process makes or answers.
 * @param {string} name
 * @param {Keys} keys
 */
function internalKeysOf(name, { internalKeys }) {
  return INTERNAL_PAIRS.filter((pair) => pair.includes(name))
    .map((pair) => internalKeys[pair.join('/')])
    .join(',');
}

/**
 * Addresses of the services for the gateway: for requests and for readiness checks.
 * @param {EstateFacts} estate
 */
function upstreamVariables(estate) {
  return Object.fromEntries(
    SERVICES.flatMap((service) => [
      [`GATEWAY_UPSTREAM_${service.toUpperCase()}`, `http://127.0.0.1:${portsOf(estate, service).http}`],
      [`GATEWAY_MANAGEMENT_${service.toUpperCase()}`, `http://127.0.0.1:${portsOf(estate, service).management}`],
    ]),
  );
}

/**
 * Removes the limit of connections per address on loopback, where all clients are on this machine.
 * @param {EstateFacts} estate
 * @returns {Environment}
 */
function connectionLimitVariables({ host }) {
  return host === LOOPBACK ? { GATEWAY_SOCKETS_PER_ADDRESS_COUNT: '0' } : {};
}

/**
 * @param {string} name
 * @param {EstateFacts} estate
 */
function serverAddressVariablesOf(name, { databases, natsUrls, smtpUrl, blobsUrl, repositories }) {
  const mail = name === 'collaboration' ? { SMTP_URL: smtpUrl } : {};
  const files = STORES_FILES.includes(name) ? { BLOBS_URL: blobsUrl } : {};
  const code = STORES_REPOSITORIES.includes(name) ? { ROOKERY_REPOSITORIES: repositories } : {};
  return { [databaseVariable(name)]: databases[name], NATS_URL: natsUrls?.[name], ...mail, ...files, ...code };
}

/**
 * Variables that a process inherits: the address of its own database only, and no secret of another process.
 * @param {string} name
 * @param {Environment} env
 */
function inheritedVariables(name, env) {
  return Object.fromEntries(
    Object.entries(env).filter(([key, value]) => {
      if (value === undefined || WITHHELD.has(key) || key.startsWith('npm_')) return false;
      return RECIPIENTS.get(key.replace(/_FILE$/, ''))?.includes(name) ?? true;
    }),
  );
}

/**
 * @param {Environment} env
 * @param {Environment} values
 */
function omitGivenVariables(env, values) {
  return Object.fromEntries(Object.entries(values).filter(([key, value]) => value !== undefined && !isGiven(env, key)));
}

/** Settings of tests, drills and benchmarks that send many requests from one address as few users. */
export const WITHOUT_RATES = { RATE_LIMITS: 'off' };
/** Settings of tests that check each e-mail: without a sending limit, no e-mails wait and are combined into one. */
export const EVERY_MAIL = {
  MAILER_PER_RECIPIENT_PER_MINUTE_COUNT: '100000',
  MAILER_PER_RECIPIENT_BURST_COUNT: '100000',
};
