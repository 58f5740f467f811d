/**
 * Selects the variables of a shell that reach the processes of the estate, and records environments for operators'
 * commands.
 *
 * A process receives the settings that the platform declares (`declared-settings.json`, written by `npm run gen`) and the
 * variables that Node, TLS and the locale need. All other variables of the shell are withheld. The record for operators'
 * commands contains no variables of the shell and no secrets: secrets are in `secrets.json`.
 *
 * @import { Environment } from './environment.mjs'
 * @typedef {{ [name: string]: string | SecretTree }} SecretTree
 * @typedef {{ settings: Record<string, string>, given: string[] }} RecordedEnvironment
 */
import { readFileSync } from 'node:fs';

/**
 * Declared settings: names in `plain` and `secret`, and prefixes of names in `policed`.
 * @type {{ policed: string[], plain: string[], secret: string[] }}
 */
export const DECLARED = JSON.parse(readFileSync(new URL('declared-settings.json', import.meta.url), 'utf8'));

const SECRETS = new Set(DECLARED.secret);
const SETTINGS = new Set([...DECLARED.plain, ...DECLARED.secret, ...DECLARED.secret.map((name) => `${name}_FILE`)]);
/** Node's own convention for production; Node, libraries and Rookery read it. */
const MODE = 'NODE_ENV';

const AMBIENT = new Set([
  ...['PATH', 'HOME', 'TMPDIR', 'TZ', 'LANG', 'LANGUAGE', 'LD_LIBRARY_PATH', 'UV_THREADPOOL_SIZE', 'SystemRoot'],
  ...['NODE_OPTIONS', 'NODE_PATH', 'NODE_DEBUG', 'NODE_NO_WARNINGS', 'NODE_V8_COVERAGE', 'NODE_COMPILE_CACHE'],
  ...['NODE_EXTRA_CA_CERTS', 'NODE_TLS_REJECT_UNAUTHORIZED', 'NODE_ICU_DATA', 'NODE_USE_SYSTEM_CA'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'OPENSSL_CONF', 'OPENSSL_MODULES'],
]);
/** `LC_*`, and OpenTelemetry's own variables, which have an effect only if a setting of ours names a collector. */
const AMBIENT_PREFIXES = ['LC_', 'OTEL_'];

/** @param {string} name */
function isAmbientVariable(name) {
  return AMBIENT.has(name) || (AMBIENT_PREFIXES.some((prefix) => name.startsWith(prefix)) && !SETTINGS.has(name));
}

/**
 * Whether a variable is a setting. All names with one of our prefixes are passed on, so that the process reports
 * misspelled ones.
 * @param {string} name
 */
function isSettingVariable(name) {
  return SETTINGS.has(name) || name === MODE || DECLARED.policed.some((prefix) => name.startsWith(prefix));
}

/**
 * @param {Environment} env
 * @param {(name: string) => boolean} isWanted
 */
const filterVariables = (env, isWanted) => Object.fromEntries(Object.entries(env).filter(([name]) => isWanted(name)));

/**
 * Variables that processes inherit from a shell: settings, and variables that Node, TLS and the locale need.
 * @param {Environment} shell
 */
export function inheritedFrom(shell) {
  return filterVariables(shell, (name) => isSettingVariable(name) || isAmbientVariable(name));
}

/**
 * Describes the environment of a process for a record: `{ settings: { LOG_LEVEL: 'info', … }, given: ['SMTP_URL'…] }`.
 * A value that contains a secret of secrets.json has its place there instead (`<databases.identity>`). Secrets that the
 * operator gave are recorded only by their names.
 * @param {Environment} environment
 * @param {SecretTree} secrets
 * @param {Environment} given
 * @returns {RecordedEnvironment}
 */
export function recordEnvironment(environment, secrets, given) {
  const all = Object.entries(filterVariables(environment, isSettingVariable));
  /** @type {(entry: [string, string | undefined]) => boolean} */
  const isOperators = ([name, value]) => SECRETS.has(name) && given[name] === value;
  const settings = all
    .filter((one) => !isOperators(one))
    .map(([name, value]) => [name, replaceSecretsByPlaces(value ?? '', secrets)]);
  return { settings: Object.fromEntries(settings), given: all.filter(isOperators).map(([name]) => name) };
}

/**
 * Rebuilds a recorded environment in an operator's shell. Errors: a secret that was given at the start is missing.
 * @param {RecordedEnvironment} recorded
 * @param {SecretTree} secrets
 * @param {Environment} shell
 * @returns {Environment}
 */
export function restoreEnvironment({ settings, given }, secrets, shell) {
  const missing = given.filter((name) => !shell[name]);
  if (missing.length > 0) throw new Error(`Set ${missing.join(', ')} as at the start: these secrets are not stored.`);
  const places = new Map(secretPlacesIn(secrets));
  const values = Object.entries(settings).map(([name, value]) => [
    name,
    value.replaceAll(/<([^<>]+)>/g, (mark, place) => places.get(place) ?? mark),
  ]);
  return {
    ...filterVariables(shell, isAmbientVariable),
    ...Object.fromEntries(values),
    ...filterVariables(shell, (name) => given.includes(name)),
  };
}

/**
 * @param {string} value
 * @param {SecretTree} secrets
 */
function replaceSecretsByPlaces(value, secrets) {
  return secretPlacesIn(secrets).reduce((text, [place, secret]) => text.replaceAll(secret, `<${place}>`), value);
}

/**
 * Returns pairs of place and secret, such as `['databases.identity', 'f00…']`.
 * @param {SecretTree} secrets
 * @returns {[place: string, secret: string][]}
 */
function secretPlacesIn(secrets, above = '') {
  return Object.entries(secrets).flatMap(([name, value]) =>
    typeof value === 'string'
      ? [/** @type {[string, string]} */ ([`${above}${name}`, value])]
      : secretPlacesIn(value, `${above}${name}.`),
  );
}
