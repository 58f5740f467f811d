/**
 * Checks of an estate and its machine: programs, configuration, durability of databases and streams, disk space, clocks
 * and readiness.
 *
 * @typedef {'ok' | 'warning' | 'problem'} Verdict
 * @typedef {{ check: string, verdict: Verdict, about: string }} Finding
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { databaseVariable, PROCESSES, SERVICES } from '../processes/environment.mjs';
import { DECLARED } from '../processes/inherited-environment.mjs';
import { isEstateRunning, recordedEnvironment } from '../processes/operate.mjs';
import { statesOf } from './status.mjs';

/** Oldest git with the options that libs/git uses (libs/git/src/process/version.ts). */
const GIT = { major: 2, minor: 39 };
/** Free space of the data folder below which the estate is in danger, and below which to act soon. Units: bytes. */
const DISK = { problem: 512 * 2 ** 20, warning: 4 * 2 ** 30 };
/** Differences of clocks. Signed contexts are valid for seconds only. Units: ms. */
const SKEW = { problem: 5000, warning: 1000 };

/**
 * Runs all checks. `natsMonitor` is the address of a NATS server's monitoring port. Errors: NoEstate.
 * @param {string} dataDir
 * @param {{ natsMonitor?: string }} [options]
 * @returns {Promise<Finding[]>}
 */
export async function examineEstate(dataDir, { natsMonitor } = {}) {
  const databases = await Promise.all(SERVICES.map((service) => databaseFacts(dataDir, service)));
  return [
    nodeFinding(process.versions.node),
    gitFinding(programOutputOf('git', ['--version'])),
    ...configurationFindings(dataDir, process.env),
    ...databases.flatMap(databaseFindings),
    await natsSyncFinding(dataDir, natsMonitor),
    diskFinding(statfsSync(dataDir)),
    ...(await readinessFindings(dataDir)),
  ];
}

/** @type {(check: string, verdict: Verdict, about: string) => Finding} */
const toFinding = (check, verdict, about) => ({ check, verdict, about });

/** @param {string} version */
export function nodeFinding(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNew = major > 20 || (major === 20 && minor >= 19);
  return toFinding('Node', isNew ? 'ok' : 'problem', isNew ? version : `${version} is older than 20.19`);
}

/** @param {string | null} output  of `git --version`; null if it cannot be started */
export function gitFinding(output) {
  const [, major, minor] = /^git version (\d+)\.(\d+)/.exec(output ?? '') ?? [];
  if (major === undefined) return toFinding('git', 'problem', 'is not installed');
  const isNew = Number(major) > GIT.major || (Number(major) === GIT.major && Number(minor) >= GIT.minor);
  const version = `${major}.${minor}`;
  return toFinding(
    'git',
    isNew ? 'ok' : 'problem',
    isNew ? version : `${version} is older than ${GIT.major}.${GIT.minor}`,
  );
}

/**
 * Settings that no process knows, and settings that weaken an estate for people.
 * @param {string} dataDir
 * @param {Record<string, string | undefined>} shell
 */
function configurationFindings(dataDir, shell) {
  const known = new Set([...DECLARED.plain, ...DECLARED.secret, ...DECLARED.secret.map((name) => `${name}_FILE`)]);
  const environments = PROCESSES.map((name) => recordedEnvironment(dataDir, name, shell));
  const names = new Set([shell, ...environments].flatMap(Object.keys));
  const unknown = [...names].filter(
    (name) => DECLARED.policed.some((prefix) => name.startsWith(prefix)) && !known.has(name),
  );
  const findings = unknown.map((name) => toFinding('configuration', 'problem', `${name} is no setting`));
  if (environments.some((environment) => environment['RATE_LIMITS'] === 'off'))
    findings.push(toFinding('configuration', 'warning', 'RATE_LIMITS=off: requests are not limited'));
  return findings.length > 0 ? findings : [toFinding('configuration', 'ok', 'all settings are known')];
}

/**
 * @typedef {{ service: string, error?: string, version?: string, settings?: Record<string, string>, skewMs?: number }} DatabaseFacts
 * @param {string} dataDir
 * @param {string} service
 * @returns {Promise<DatabaseFacts>}
 */
async function databaseFacts(dataDir, service) {
  // After the estate's end another program may hold the recorded port and would receive the password.
  if (!isEstateRunning(dataDir)) return { service, error: `No estate runs on ${dataDir}` };
  const connectionString = recordedEnvironment(dataDir, service)[databaseVariable(service)];
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query(
      `select name, setting from pg_settings
       where name in ('fsync', 'synchronous_commit', 'full_page_writes', 'data_checksums', 'server_version')`,
    );
    const from = Date.now();
    const clock = await client.query('select extract(epoch from clock_timestamp()) * 1000 as ms');
    const skewMs = Number(clock.rows[0].ms) - (from + Date.now()) / 2;
    const settings = Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
    return { service, version: settings['server_version'], settings, skewMs };
  } catch (error) {
    return { service, error: /** @type {Error} */ (error).message };
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * @param {DatabaseFacts} facts
 * @returns {Finding[]}
 */
export function databaseFindings({ service, error, version, settings = {}, skewMs = 0 }) {
  const check = `database of ${service}`;
  if (error !== undefined) return [toFinding(check, 'problem', error || 'cannot be reached')];
  const findings = ['fsync', 'full_page_writes']
    .filter((name) => settings[name] !== 'on')
    .map((name) => toFinding(check, 'problem', `${name} is ${settings[name]}: a power cut damages the database`));
  if (settings['synchronous_commit'] === 'off')
    findings.push(toFinding(check, 'problem', 'synchronous_commit is off: acknowledged writes may be lost'));
  if (settings['data_checksums'] === 'off')
    findings.push(toFinding(check, 'warning', 'data_checksums is off: damage of the disk stays unnoticed'));
  if (findings.length === 0) findings.push(toFinding(check, 'ok', `PostgreSQL ${version}, fsync and checksums are on`));
  return [...findings, clockFinding(service, skewMs)];
}

/**
 * @param {string} service
 * @param {number} skewMs
 */
function clockFinding(service, skewMs) {
  const size = Math.abs(skewMs);
  const verdict = size > SKEW.problem ? 'problem' : size > SKEW.warning ? 'warning' : 'ok';
  return toFinding(`clock of the database of ${service}`, verdict, `differs by ${(size / 1000).toFixed(1)} s`);
}

/**
 * Whether NATS writes each message to the disk before it acknowledges it. The embedded server is read from its
 * configuration, another one is asked at its monitoring port.
 * @param {string} dataDir
 * @param {string} [monitor]
 */
async function natsSyncFinding(dataDir, monitor) {
  const check = 'NATS sync interval';
  if (monitor === undefined) return embeddedNatsSyncFinding(check, dataDir);
  try {
    const response = await fetch(`${monitor.replace(/\/$/, '')}/varz`, { signal: AbortSignal.timeout(5000) });
    const { jetstream, version } = /** @type {any} */ (await response.json());
    if (!jetstream?.config) return toFinding(check, 'problem', `JetStream is off (NATS ${version})`);
    const isDurable = jetstream.config.sync_always === true;
    return toFinding(check, isDurable ? 'ok' : 'problem', isDurable ? `always (NATS ${version})` : LOSES);
  } catch (error) {
    return toFinding(check, 'problem', `${monitor}: ${/** @type {Error} */ (error).message}`);
  }
}

const LOSES = 'is not "always": acknowledged events may be lost in a power cut';

/**
 * @param {string} check
 * @param {string} dataDir
 */
function embeddedNatsSyncFinding(check, dataDir) {
  /** @type {string} */
  let configuration;
  try {
    configuration = readFileSync(join(dataDir, 'nats/nats.conf'), 'utf8');
  } catch {
    return toFinding(check, 'warning', 'unknown: name the monitoring port of the server with --nats-monitor');
  }
  const isDurable = /^\s*sync_interval: always$/m.test(configuration);
  return toFinding(check, isDurable ? 'ok' : 'warning', isDurable ? 'always' : `${LOSES}; NATS 2.10 and newer can`);
}

/** @param {{ bavail: number | bigint, bsize: number | bigint }} statistics */
export function diskFinding({ bavail, bsize }) {
  const free = Number(bavail) * Number(bsize);
  const verdict = free < DISK.problem ? 'problem' : free < DISK.warning ? 'warning' : 'ok';
  return toFinding('disk of the data folder', verdict, `${(free / 2 ** 30).toFixed(1)} GiB are free`);
}

/** @param {string} dataDir */
async function readinessFindings(dataDir) {
  const states = await statesOf(dataDir);
  return states.map(({ process: name, state, about }) =>
    toFinding(name, state === 'ready' ? 'ok' : 'problem', about ? `${state}: ${about}` : state),
  );
}

/**
 * @param {string} program
 * @param {string[]} words
 */
function programOutputOf(program, words) {
  try {
    return execFileSync(program, words, { encoding: 'utf8', timeout: 5000 });
  } catch {
    return null;
  }
}
