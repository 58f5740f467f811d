/**
 * Connection from the command line (`npx rookery reset`, `snapshot`, `service`) to the `npm start` of this machine: HTTP on
 * 127.0.0.1, with a port and a password that only the owner of the data folder can read (`<data>/run/control.json`). It does
 * not exist in containers and clusters, where this program does not supervise. With NODE_ENV=production no state can be
 * saved or restored.
 *
 * @import { ServerResponse } from 'node:http'
 * @import { Estate } from './estate.mjs'
 * @import { Snapshots } from '../snapshots/snapshots.mjs'
 * @import { BackupEstate } from '../snapshots/backup.mjs'
 * @import { Report } from '../snapshots/checked-copies.mjs'
 * @typedef {Pick<Estate, 'dataDir' | 'isResettable' | 'snapshots' | 'stopService' | 'startService'> & BackupEstate} CommandedEstate
 * @typedef {{ begin(): void, stop(): Promise<unknown> }} LocalControl
 * @typedef {{ name: string, savedAt: string }[]} SnapshotList
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { describeProcess, isAlive, readRecord, writeRecord } from './process-records.mjs';
import { INITIAL, CommandRefused } from '../snapshots/snapshots.mjs';
import { isEstateRunning, NoEstate } from './operate.mjs';

const LONGEST_COMMAND_MS = 20_000;

/** @type {Record<string, (snapshots: Snapshots, name: string) => Promise<void> | SnapshotList>} */
const STATES = {
  reset: (snapshots) => snapshots.restore(INITIAL),
  save: (snapshots, name) => snapshots.save(name),
  restore: (snapshots, name) => snapshots.restore(name),
  delete: (snapshots, name) => snapshots.remove(name),
  list: (snapshots) => snapshots.list(),
};
/** @type {Record<string, (estate: CommandedEstate, name: string) => Promise<void>>} */
const SERVICE = {
  stop: (estate, name) => estate.stopService(name),
  start: (estate, name) => estate.startService(name),
};
/** Commands that report progress: `report(done, total)`. @type {Record<string, (estate: CommandedEstate, name: string, report: Report) => Promise<object>>} */
const LONG = {
  backup: async (estate, folder, report) =>
    (await import('../snapshots/backup.mjs')).takeBackup(estate, folder, report),
};
const COMMANDS = { ...STATES, ...SERVICE, ...LONG };

/** @param {string} dataDir */
function controlFileOf(dataDir) {
  return join(dataDir, 'run/control.json');
}

/**
 * Starts the server. Commands are executed one after the other, with cleaning up in between. Commands that arrive before
 * `begin()` wait for it.
 * @param {CommandedEstate} estate
 * @returns {Promise<LocalControl>}
 */
export async function startLocalControl(estate) {
  const word = randomBytes(24).toString('hex');
  let isStopping = false;
  /** @type {() => void} */
  let begin = () => {};
  /** @type {Promise<unknown>} */
  let last = new Promise((resolve) => (begin = () => resolve(undefined))).then(() =>
    isStopping ? undefined : tidySnapshots(estate),
  );
  const server = createServer((request, response) => {
    const [, command = '', name = ''] = (request.url ?? '').split('/').map(decodeUriPartOrKeep);
    if (
      request.method !== 'POST' ||
      !isSameSecret(request.headers.authorization, `Bearer ${word}`) ||
      !COMMANDS[command]
    )
      return response.writeHead(404).end();
    const from = performance.now();
    last = last
      .then(() => (isStopping ? undefined : executeCommand(estate, { command, name, from }, response)))
      .then(() => (isStopping || !STATES[command] || command === 'list' ? undefined : tidySnapshots(estate)));
  });
  await new Promise((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const url = `http://127.0.0.1:${port}`;
  writeRecord(controlFileOf(estate.dataDir), { ...describeProcess(process.pid), url, word });
  const stop = async () => {
    isStopping = true;
    begin();
    rmSync(controlFileOf(estate.dataDir), { force: true });
    // The running command ends first, so that it starts no process after the stop.
    await Promise.race([last, delay(LONGEST_COMMAND_MS, null, { ref: false })]);
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { begin, stop };
}

/**
 * Executes a command and answers with its duration, which includes waiting for earlier commands. The answer to a long
 * command has lines with `{ done, total }` before.
 * @param {CommandedEstate} estate
 * @param {{ command: string, name: string, from: number }} request
 * @param {ServerResponse} response
 */
async function executeCommand(estate, { command, name, from }, response) {
  /**
   * @param {number} status
   * @param {unknown} body
   */
  const answer = (status, body) =>
    (response.headersSent ? response : response.writeHead(status)).end(JSON.stringify(body));
  if (LONG[command]) response.writeHead(200);
  /** @type {Report} */
  const report = (done, total) => void response.write(`${JSON.stringify({ done, total })}\n`);
  try {
    const found = await (LONG[command]?.(estate, name, report) ?? runShortCommand(estate, command, name));
    answer(200, { ms: Math.round(performance.now() - from), ...(found ? { found } : {}) });
  } catch (error) {
    answer(error instanceof CommandRefused ? 409 : 500, { message: /** @type {Error} */ (error).message });
  }
}

/**
 * @param {CommandedEstate} estate
 * @param {string} command
 * @param {string} name
 */
function runShortCommand(estate, command, name) {
  if (SERVICE[command]) return SERVICE[command](estate, name);
  if (!estate.isResettable)
    throw new CommandRefused('The estate was started with NODE_ENV=production and cannot be reset, saved or restored');
  return STATES[command]?.(estate.snapshots, name);
}

/**
 * Cleans up after a command. Errors are ignored here, because the next command fails with the same error and reports it.
 * @param {CommandedEstate} estate
 */
async function tidySnapshots(estate) {
  if (estate.isResettable) await estate.snapshots.tidy().catch(() => {});
}

/**
 * Sends a command to the running estate. Errors: NoEstate; a plain Error with a message for the user if the estate
 * refused the command.
 * @param {string} dataDir
 * @param {string} command
 * @param {string} [name]
 * @param {Report} [report]
 * @returns {Promise<{ ms: number, found?: any }>}
 */
export async function commandEstate(dataDir, command, name = '', report = () => {}) {
  /** @type {{ pid: number, mark: string, url: string, word: string } | null} */
  const address = readRecord(controlFileOf(dataDir));
  if (!address || !isAlive(address)) {
    throw new NoEstate(
      isEstateRunning(dataDir)
        ? `The estate on ${dataDir} does not accept commands yet`
        : `No estate runs on ${dataDir}: npm start in another terminal first, or name its folder: ROOKERY_DATA=/path`,
    );
  }
  const path = [command, name].filter(Boolean).map(encodeURIComponent).join('/');
  const response = await fetch(`${address.url}/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${address.word}` },
  });
  /** @type {any} */
  let body = {};
  for await (const line of createInterface({ input: Readable.fromWeb(/** @type {any} */ (response.body)) })) {
    body = JSON.parse(line);
    if ('done' in body) report(body.done, body.total);
  }
  if (body.message) throw new Error(body.message);
  if (body.ms === undefined) throw new Error(`The estate ended during the command: ${command}`);
  return body;
}

/** @param {string} part */
function decodeUriPartOrKeep(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * @param {string | undefined} sent
 * @param {string} expected
 */
function isSameSecret(sent = '', expected) {
  const [a, b] = [Buffer.from(sent), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
