/**
 * What of a shell reaches the processes of the estate, and what is kept of what they were told.
 *
 * A process is told the settings that the platform declares (`declared-settings.json`, written by `npm run gen`) and what
 * Node, TLS and the locale need; whatever else stands in the shell of who starts the estate is nobody's business.
 * For operators' commands it is kept, without the shell and without secrets: those stand in `secrets.json`.
 */
import { readFileSync } from 'node:fs';

/** Shape: `{ policed: ['ROOKERY_'…], plain: ['LOG_LEVEL'…], secret: ['SMTP_URL'…] }`. */
export const DECLARED = JSON.parse(readFileSync(new URL('declared-settings.json', import.meta.url), 'utf8'));

const SECRETS = new Set(DECLARED.secret);
const SETTINGS = new Set([...DECLARED.plain, ...DECLARED.secret, ...DECLARED.secret.map((name) => `${name}_FILE`)]);
/** Whether code runs as in production: Node's own convention, read by it and by us. */
const MODE = 'NODE_ENV';

const AMBIENT = new Set([
  ...['PATH', 'HOME', 'TMPDIR', 'TZ', 'LANG', 'LANGUAGE', 'LD_LIBRARY_PATH', 'UV_THREADPOOL_SIZE', 'SystemRoot'],
  ...['NODE_OPTIONS', 'NODE_PATH', 'NODE_DEBUG', 'NODE_NO_WARNINGS', 'NODE_V8_COVERAGE', 'NODE_COMPILE_CACHE'],
  ...['NODE_EXTRA_CA_CERTS', 'NODE_TLS_REJECT_UNAUTHORIZED', 'NODE_ICU_DATA', 'NODE_USE_SYSTEM_CA'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'OPENSSL_CONF', 'OPENSSL_MODULES'],
]);
/** `LC_*`; and OpenTelemetry reads many of its own, which only matter once a setting of ours names its collector. */
const AMBIENT_PREFIXES = ['LC_', 'OTEL_'];

function isAmbient(name) {
  return AMBIENT.has(name) || (AMBIENT_PREFIXES.some((prefix) => name.startsWith(prefix)) && !SETTINGS.has(name));
}

/** A name that bears a prefix of ours goes on, declared or not: the process that finds it wrong says what was meant. */
function isSetting(name) {
  return SETTINGS.has(name) || name === MODE || DECLARED.policed.some((prefix) => name.startsWith(prefix));
}

const chosen = (env, isWanted) => Object.fromEntries(Object.entries(env).filter(([name]) => isWanted(name)));

/** Of a shell: settings, and what Node, TLS and the locale need. */
export function heardOf(shell) {
  return chosen(shell, (name) => isSetting(name) || isAmbient(name));
}

/**
 * What is kept of the environment of a process. Shape: `{ told: { LOG_LEVEL: 'info', … }, given: ['SMTP_URL'…] }`: what
 * secrets.json holds is named by its place there (`<databases.identity>`), and secrets that the operator gave by name only.
 */
export function kept(environment, secrets, given) {
  const own = ([name, value]) => SECRETS.has(name) && given[name] === value;
  const settings = Object.entries(chosen(environment, isSetting));
  const told = settings.filter((one) => !own(one)).map(([name, value]) => [name, placed(value, secrets)]);
  return { told: Object.fromEntries(told), given: settings.filter(own).map(([name]) => name) };
}

/** The environment again, in the shell of an operator. Errors: a secret that was given at the start is not given now. */
export function toldAgain({ told, given }, secrets, shell) {
  const missing = given.filter((name) => !shell[name]);
  if (missing.length > 0) throw new Error(`Give ${missing.join(', ')} as at the start: it is kept nowhere.`);
  const places = new Map(placesIn(secrets));
  const values = Object.entries(told).map(([name, value]) => [
    name,
    value.replaceAll(/<([^<>]+)>/g, (mark, place) => places.get(place) ?? mark),
  ]);
  return {
    ...chosen(shell, isAmbient),
    ...Object.fromEntries(values),
    ...chosen(shell, (name) => given.includes(name)),
  };
}

function placed(value, secrets) {
  return placesIn(secrets).reduce((text, [place, secret]) => text.replaceAll(secret, `<${place}>`), value);
}

/** Shape: `[['databases.identity', 'f00…'], …]`. */
function placesIn(secrets, above = '') {
  return Object.entries(secrets).flatMap(([name, value]) =>
    typeof value === 'string' ? [[`${above}${name}`, value]] : placesIn(value, `${above}${name}.`),
  );
}
