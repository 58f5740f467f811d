/**
 * The embedded nats-server with JetStream. The program is found on the machine or fetched by the system's package manager,
 * and started on 127.0.0.1 with a store below the data folder.
 *
 * @import { ProcessRecord } from '../processes/process-records.mjs'
 * @typedef {{ folder: string, program: string, durable: boolean, passwords: Record<string, string> | null }} NatsPlace
 */
import { execFileSync, spawn } from 'node:child_process';
import {
  accessSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createConnection } from 'node:net';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  describeProcess,
  endProcess,
  freePort,
  isAlive,
  readRecord,
  until,
  writeRecord,
} from '../processes/process-records.mjs';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/rookery', import.meta.url));
const USERS = fileURLToPath(new URL('../../deploy/base/nats/users.conf', import.meta.url));
const USUAL_PLACES = ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin', '/usr/bin', '/opt/homebrew/bin'];

const NOT_FOUND = `There is no nats-server on this machine, and it could not be fetched without a question.
  Debian, Ubuntu:  sudo apt-get install nats-server
  macOS:           brew install nats-server
  elsewhere:       unpack a release of github.com/nats-io/nats-server and set NATS_SERVER_BIN=/path/to/nats-server
  or name a running server with JetStream: NATS_URL=nats://host:4222`;

/**
 * Path of a nats-server: from NATS_SERVER_BIN, PATH, the usual folders or an earlier download, else downloaded now.
 * Errors: none is found.
 * @param {{ fetch?: boolean, say?: (text: string) => void }} [options]
 * @returns {string}
 */
export function natsProgram({ fetch = true, say = () => {} } = {}) {
  const named = process.env.NATS_SERVER_BIN;
  if (named) {
    if (isExecutable(named)) return named;
    throw new Error(`NATS_SERVER_BIN names ${named}, which is not a program`);
  }
  const folders = [...(process.env.PATH ?? '').split(delimiter).filter(Boolean), ...USUAL_PLACES, fetchedNatsFolder()];
  const found = folders.map((folder) => join(folder, 'nats-server')).find(isExecutable);
  if (found) return found;
  if (fetch) {
    say('fetching nats-server by apt-get');
    if (fetchNatsByApt() && isExecutable(join(fetchedNatsFolder(), 'nats-server')))
      return join(fetchedNatsFolder(), 'nats-server');
    if (installNatsByApt()) return natsProgram({ fetch: false });
  }
  throw new Error(NOT_FOUND);
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function fetchedNatsFolder() {
  return join(CACHE, 'nats/usr/sbin');
}

/**
 * Downloads the package of the distribution, verified by apt, and unpacks it below node_modules. Nothing is installed, so
 * no system service starts and uses port 4222, and no root permissions are needed (ADR 0015).
 */
function fetchNatsByApt() {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  /** @type {import('node:child_process').ExecFileSyncOptions} */
  const quiet = { stdio: 'ignore', env };
  const draft = join(CACHE, `nats-download.${process.pid}`);
  const download = () => {
    execFileSync('apt-get', ['-qq', '-o', 'APT::Sandbox::User=root', 'download', 'nats-server'], {
      ...quiet,
      cwd: draft,
    });
  };
  try {
    mkdirSync(draft, { recursive: true });
    try {
      download();
    } catch {
      if (process.getuid?.() !== 0) return false;
      execFileSync('apt-get', ['-qq', 'update'], quiet);
      download();
    }
    const file = readdirSync(draft).find((name) => name.endsWith('.deb')) ?? '';
    execFileSync('dpkg-deb', ['-x', join(draft, file), join(draft, 'unpacked')], quiet);
    moveUnpackedNatsToCache(join(draft, 'unpacked'));
    return true;
  } catch {
    return false;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/**
 * Moves the unpacked package to its place. Another process may do the same at this time, and run the program already: a
 * program that is being written cannot be started (ETXTBSY).
 * @param {string} unpacked
 */
function moveUnpackedNatsToCache(unpacked) {
  try {
    renameSync(unpacked, join(CACHE, 'nats'));
  } catch (error) {
    if (!isExecutable(join(fetchedNatsFolder(), 'nats-server'))) throw error;
  }
}

function installNatsByApt() {
  if (process.getuid?.() !== 0) return false;
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    execFileSync('apt-get', ['-qq', 'install', '-y', '--no-install-recommends', 'nats-server'], {
      stdio: 'ignore',
      env,
    });
    return true;
  } catch {
    return false;
  }
}

/**
 * Starts nats-server on the store below `folder`. Resolves when it accepts connections. `start()` after `stop()` uses the
 * same port again. With `passwords`, by user, the server has the accounts of deploy/base/nats/users.conf; without, every
 * client on this machine may connect.
 * @param {{ folder: string, port?: number } & Partial<NatsPlace>} options
 */
export async function startNats({ folder, port = 0, program = natsProgram(), durable = true, passwords = null }) {
  mkdirSync(folder, { recursive: true });
  await endProcess(readRecord(join(folder, 'process.json')));
  const server = new NatsServer({ folder, program, durable, passwords });
  await server.start(port);
  return server;
}

export class NatsServer {
  /** @type {ProcessRecord | undefined} */
  record;
  port = 0;

  /** @param {NatsPlace} place */
  constructor(place) {
    this.place = place;
  }

  async start(port = this.port) {
    for (let attempt = 1; ; attempt++) {
      this.port = port || (await freePort());
      try {
        this.record = await launchNats(this.place, this.port);
        return;
      } catch (error) {
        if (port || attempt === 3) throw error;
      }
    }
  }

  get pid() {
    return this.record?.pid;
  }

  get url() {
    return `nats://127.0.0.1:${this.port}`;
  }

  /** @param {string} user */
  urlOf(user) {
    return `nats://${user}:${this.place.passwords?.[user]}@127.0.0.1:${this.port}`;
  }

  async stop() {
    await endProcess(this.record);
  }

  kill() {
    if (isAlive(this.record)) process.kill(this.record.pid, 'SIGKILL');
  }
}

/**
 * @param {NatsPlace} place
 * @param {number} port
 */
async function launchNats({ folder, program, durable, passwords }, port) {
  const config = join(folder, 'nats.conf');
  const log = join(folder, 'nats.log');
  writeFileSync(config, natsConfiguration({ folder, program, durable, passwords, port }));
  if (passwords) copyFileSync(USERS, join(folder, 'users.conf'));
  const output = openSync(log, 'w');
  const env = { PATH: process.env.PATH, ...passwordVariables(passwords ?? {}) };
  const child = spawn(program, ['-c', config], { cwd: folder, env, detached: true, stdio: ['ignore', output, output] });
  closeSync(output);
  /** @type {Error | null} */
  let failed = null;
  child.once('error', (error) => (failed = error));
  child.once('exit', (code) => (failed ??= new Error(`it ended with ${code}: ${lastLogLines(log)}`)));
  const ready = await until(async () => failed ?? (await isNatsListening(port)), 60_000, 15);
  if (failed !== null || ready === null) {
    if (failed === null) child.kill('SIGKILL');
    throw new Error(`nats-server did not start: ${errorMessageOf(failed) ?? lastLogLines(log)}`);
  }
  child.unref();
  const record = describeProcess(child.pid);
  writeRecord(join(folder, 'process.json'), record);
  return record;
}

/** @param {Error | null} error */
function errorMessageOf(error) {
  return error?.message;
}

/** @param {Record<string, string>} passwords */
function passwordVariables(passwords) {
  return Object.fromEntries(
    Object.entries(passwords).map(([user, password]) => [`NATS_PASSWORD_${user.toUpperCase()}`, password]),
  );
}

/** @param {NatsPlace & { port: number }} options */
function natsConfiguration({ folder, program, durable, passwords, port }) {
  const lines = [`store_dir: ${JSON.stringify(join(folder, 'store'))}`];
  // Servers before 2.10 refuse to start with sync_interval.
  if (durable && supportsSyncInterval(program)) lines.push('sync_interval: always');
  const users = passwords ? 'include users.conf\n' : '';
  return `listen: "127.0.0.1:${port}"\nserver_name: rookery\njetstream {\n  ${lines.join('\n  ')}\n}\n${users}`;
}

/** @param {string} program */
function supportsSyncInterval(program) {
  const [, major, minor] = /v?(\d+)\.(\d+)\./.exec(execFileSync(program, ['--version'], { encoding: 'utf8' })) ?? [];
  return Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 10);
}

/**
 * Whether nats-server accepts connections: it sends INFO first.
 * @param {number} port
 * @returns {Promise<boolean>}
 */
export function isNatsListening(port, host = '127.0.0.1') {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host, timeout: 1000 });
    /** @param {boolean} answer */
    const done = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('data', (chunk) => done(chunk.toString().startsWith('INFO')));
    socket.once('timeout', () => done(false));
    socket.once('error', () => done(false));
  });
}

/** @param {string} file */
function lastLogLines(file) {
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').slice(-5).join('\n') : '';
}
