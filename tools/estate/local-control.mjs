/**
 * How `npm run reset`, `npm run snapshot` and `npm run service` reach the `npm start` of this machine: HTTP on 127.0.0.1, at
 * a port and by a word that only the owner of the data folder can read (`<data>/run/control.json`). There is none in
 * containers and clusters, where nothing supervises by this program. With NODE_ENV=production no state is put back.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describeProcess, isAlive, readRecord, writeRecord } from './processes.mjs';
import { INITIAL, Refused } from './snapshots.mjs';

const LONGEST_COMMAND_MS = 20_000;

const STATES = {
  reset: (snapshots) => snapshots.restore(INITIAL),
  save: (snapshots, name) => snapshots.save(name),
  restore: (snapshots, name) => snapshots.restore(name),
  delete: (snapshots, name) => snapshots.remove(name),
  list: (snapshots) => snapshots.list(),
};
const SERVICE = {
  stop: (estate, name) => estate.stopService(name),
  start: (estate, name) => estate.startService(name),
};
const COMMANDS = { ...STATES, ...SERVICE };

function fileOf(dataDir) {
  return join(dataDir, 'run/control.json');
}

/**
 * One command after the other; what is left to tidy up is done in between. Answers `{ begin(), stop() }`: what is asked for
 * before the estate has started is done when it has.
 */
export async function startLocalControl(estate) {
  const word = randomBytes(24).toString('hex');
  let isStopping = false;
  let begin;
  let last = new Promise((resolve) => (begin = resolve)).then(() => !isStopping && tidied(estate));
  const server = createServer((request, response) => {
    const [, command, name] = request.url.split('/').map(decoded);
    if (request.method !== 'POST' || !isSame(request.headers.authorization, `Bearer ${word}`) || !COMMANDS[command])
      return response.writeHead(404).end();
    const from = performance.now();
    last = last
      .then(() => !isStopping && obey(estate, { command, name, from }, response))
      .then(() => !isStopping && STATES[command] && command !== 'list' && tidied(estate));
  });
  await new Promise((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  writeRecord(fileOf(estate.dataDir), { ...describeProcess(process.pid), url, word });
  const stop = async () => {
    isStopping = true;
    begin();
    rmSync(fileOf(estate.dataDir), { force: true });
    // What is under way ends first, so that it starts nothing after the stop.
    await Promise.race([last, delay(LONGEST_COMMAND_MS, null, { ref: false })]);
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { begin, stop };
}

/** Whoever asks is told how long they waited, also for what the command before left to do. */
async function obey(estate, { command, name, from }, response) {
  const answer = (status, body) => response.writeHead(status).end(JSON.stringify(body));
  try {
    const found = await does(estate, command, name);
    answer(200, { ms: Math.round(performance.now() - from), ...(found ? { found } : {}) });
  } catch (error) {
    answer(error instanceof Refused ? 409 : 500, { message: error.message });
  }
}

function does(estate, command, name) {
  if (SERVICE[command]) return SERVICE[command](estate, name);
  if (!estate.isResettable)
    throw new Refused('The estate was started with NODE_ENV=production and cannot be reset, saved or restored');
  return STATES[command](estate.snapshots, name);
}

/** What fails here fails again, and is told, where somebody waits for it. */
async function tidied(estate) {
  if (estate.isResettable) await estate.snapshots.tidy().catch(() => {});
}

/**
 * Has the running estate do something. Shape: `{ ms, found }`. Errors: a plain Error in words for who asked: no estate
 * runs on this folder, or what the estate refused.
 */
export async function commandEstate(dataDir, command, name) {
  const door = readRecord(fileOf(dataDir));
  if (!isAlive(door)) {
    const isRunning = isAlive(readRecord(join(dataDir, 'run/supervisor.lock')));
    throw new Error(
      isRunning
        ? `The estate on ${dataDir} has not got so far`
        : `No estate runs on ${dataDir}: npm start in another terminal first, or name its folder: ROOKERY_DATA=/path`,
    );
  }
  const path = [command, name].filter(Boolean).map(encodeURIComponent).join('/');
  const response = await fetch(`${door.url}/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${door.word}` },
  });
  const body = await response.json();
  if (response.status !== 200) throw new Error(body.message);
  return body;
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function isSame(given = '', wanted) {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}
