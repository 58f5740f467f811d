/**
 * Commands that a service executes: dead letters of one or all services, and a rebuild of all copies of the directory.
 *
 * @import { Output } from './output.mjs'
 */
import pg from 'pg';
import { databaseVariable, SERVICES } from '../processes/environment.mjs';
import { runOperatorCommand, runningEnvironment } from '../processes/operate.mjs';
import { until } from '../processes/process-records.mjs';
import { EXIT, CommandFailure } from './output.mjs';

/** Longest wait for the copies of the directory after a rebuild. Units: ms. */
const REBUILD_WITHIN_MS = 300_000;

/** @param {string} service */
function requireKnownService(service) {
  if (!SERVICES.includes(service))
    throw new CommandFailure(`There is no service ${service}; there are ${SERVICES.join(', ')}`, EXIT.usage);
}

/**
 * Runs a command of a service, whose output goes to the terminal. Errors: Failure if it fails.
 * @param {string} data
 * @param {string} service
 * @param {string[]} words
 */
export async function runServiceCommand(data, service, words) {
  requireKnownService(service);
  const { status } = await runOperatorCommand(data, service, words);
  if (status !== 0) throw new CommandFailure('', EXIT.failed);
}

/**
 * Lists dead letters of one service, or of all.
 * @param {string} data
 * @param {Output} output
 * @param {{ service?: string, filters: string[] }} options
 */
export async function listDeadLetters(data, output, { service, filters }) {
  if (service !== undefined) requireKnownService(service);
  const services = service === undefined ? SERVICES : [service];
  const lists = await Promise.all(
    services.map(async (name) => {
      const words = ['dead-letters', 'list', '--json', ...filters];
      const { status, output: text } = await runOperatorCommand(data, name, words, { isCaptured: true });
      if (status !== 0) throw new CommandFailure(`${name} did not list its dead letters`);
      return JSON.parse(text).map((/** @type {object} */ letter) => ({ service: name, ...letter }));
    }),
  );
  const columns = ['service', 'id', 'kind', 'state', 'effect', 'subject', 'attempts', 'last_failed_at', 'error'];
  output.rows(lists.flat(), columns);
}

/**
 * Begins another history of the directory and waits until every service has loaded it. Meanwhile services refuse
 * decisions for moments.
 * @param {string} data
 * @param {Output} output
 */
export async function rebuildCopies(data, output) {
  const { status, output: text } = await runOperatorCommand(data, 'identity', ['new-epoch'], { isCaptured: true });
  const [, epoch] = /^epoch (\S+), version (\d+)$/m.exec(text) ?? [];
  if (status !== 0 || epoch === undefined)
    throw new CommandFailure('identity did not begin another history of the directory');
  const copies = SERVICES.filter((name) => name !== 'identity');
  const progress = output.progress('copies of the directory');
  const isDone = await until(
    async () => {
      const loaded = await Promise.all(copies.map(async (name) => (await directoryEpochOf(data, name)) === epoch));
      progress.report(loaded.filter(Boolean).length, copies.length);
      return loaded.every(Boolean);
    },
    REBUILD_WITHIN_MS,
    200,
  );
  progress.end();
  if (!isDone)
    throw new CommandFailure(`not every service has loaded the directory of epoch ${epoch}: npx rookery status`);
  output.result(`every service has loaded the directory of epoch ${epoch}`, { epoch, services: copies });
}

/**
 * Epoch of a service's copy of the directory; null if its database does not answer. Errors: NoEstate.
 * @param {string} data
 * @param {string} service
 * @returns {Promise<string | null>}
 */
async function directoryEpochOf(data, service) {
  const connectionString = runningEnvironment(data, service)[databaseVariable(service)];
  const client = new pg.Client({ connectionString });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query('select epoch from directory_state');
    return rows[0]?.epoch ?? null;
  } catch {
    return null;
  } finally {
    await client.end().catch(() => {});
  }
}
