/**
 * The servers of the tests: one PostgreSQL that never waits for the disk and one nats-server, shared by all jest runs of
 * this clone, also by simultaneous ones. `TEST_POSTGRES_URL` and `TEST_NATS_URL` in the environment replace them.
 *
 *   node tools/servers/test-servers.mjs start | stop
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isNatsListening, natsProgram, startNats } from './nats.mjs';
import { discardPostgres } from './postgres-files.mjs';
import { startPostgres, TEST_SETTINGS } from './postgres.mjs';
import {
  describeProcess,
  endProcess,
  isAlive,
  readRecord,
  withLock,
  writeRecord,
} from '../processes/process-records.mjs';

const FOLDER = fileURLToPath(new URL('../../node_modules/.cache/rookery-test/', import.meta.url));
const STATE = join(FOLDER, 'state.json');
const LOCK = join(FOLDER, 'lock');
const USERS = join(FOLDER, 'users');

/**
 * Starts missing servers, and registers the calling process as a user of them.
 * @returns {Promise<{ postgresUrl: string, natsUrl: string, natsProgram: string | null }>}
 */
export async function ensureTestServers(env = process.env) {
  mkdirSync(USERS, { recursive: true });
  writeRecord(join(USERS, `${process.pid}.json`), describeProcess(process.pid));
  return withLock(LOCK, async () => {
    const state = readRecord(STATE) ?? {};
    const own = { ...state };
    if (!env.TEST_POSTGRES_URL) own.postgres = await reuseOrStartPostgres(state.postgres);
    writeRecord(STATE, own);
    if (!env.TEST_NATS_URL) own.nats = await reuseOrStartNats(state.nats);
    writeRecord(STATE, own);
    return {
      postgresUrl: env.TEST_POSTGRES_URL ?? own.postgres.url,
      natsUrl: env.TEST_NATS_URL ?? own.nats.url,
      natsProgram: natsProgramOrNull(),
    };
  });
}

/** @param {any} recorded */
async function reuseOrStartPostgres(recorded) {
  if (recorded?.record && isAlive(recorded.record)) return recorded;
  discardPostgres(FOLDER);
  const server = await startPostgres({
    folder: FOLDER,
    password: randomBytes(12).toString('hex'),
    settings: TEST_SETTINGS,
  });
  return { url: server.url(), record: server.record };
}

/** @param {any} recorded */
async function reuseOrStartNats(recorded) {
  if (recorded?.record && isAlive(recorded.record) && (await isNatsListening(recorded.port))) return recorded;
  rmSync(join(FOLDER, 'nats'), { recursive: true, force: true });
  const server = await startNats({ folder: join(FOLDER, 'nats'), durable: false });
  return { url: server.url, port: server.port, record: server.record };
}

function natsProgramOrNull() {
  try {
    return natsProgram({ fetch: false });
  } catch {
    return null;
  }
}

/** Ends the servers and deletes their data, unless another living process still uses them. */
export async function stopTestServers() {
  if (!existsSync(FOLDER)) return;
  await withLock(LOCK, async () => {
    const others = readServerUserRecords().filter((user) => user.pid !== process.pid && isAlive(user));
    if (others.length > 0) return;
    const state = readRecord(STATE) ?? {};
    if (state.postgres?.record) await endProcess(state.postgres.record, { signal: 'SIGINT' });
    if (state.nats?.record) await endProcess(state.nats.record);
    discardPostgres(FOLDER);
    for (const name of ['nats', 'users', 'state.json']) rmSync(join(FOLDER, name), { recursive: true, force: true });
  });
}

function readServerUserRecords() {
  return existsSync(USERS)
    ? readdirSync(USERS)
        .map((name) => readRecord(join(USERS, name)))
        .filter(Boolean)
    : [];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv[2] === 'stop') await stopTestServers();
  else console.log(JSON.stringify(await ensureTestServers(), null, 2));
}
