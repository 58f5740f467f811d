/**
 * One process of the estate: started, supervised, restarted after a crash, and stopped.
 *
 * @import { ChildProcess } from 'node:child_process'
 * @import { Environment } from './environment.mjs'
 * @import { ProcessRecord } from './process-records.mjs'
 */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeProcess, endProcess, isAlive, until } from './process-records.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PACKED_MODULES = join(ROOT, 'tools/processes/packed-modules.cjs');
const READY_WITHIN_MS = 180_000;
/**
 * Number of times that a process resumes after a pause before it is replaced. The job queue (graphile-worker) never frees
 * its configurations, which costs 1 to 4 MB of memory for each resumption of a service.
 */
export const MOST_LIVES = 60;
const LONGEST_LOG_BYTES = 20 * 1024 * 1024;

/** @param {string} name */
export function serviceProgramPath(name) {
  return join(ROOT, 'apps', name, 'dist/main.js');
}

/**
 * A supervised process. `start()` resolves when the process reports that it is ready; `kill(signal)` ends it without a
 * restart; `restart()` and `stop()` resolve when done; `rest()` pauses it and closes its connections, `resume()` starts its
 * work again. `onSpawn(record)` and `onCrash(text)` notify the supervisor.
 */
export class ServiceProcess {
  /** @type {ChildProcess | undefined} */
  child;
  /** @type {ProcessRecord | undefined} */
  record;
  /** Whether the process should run; a crash then leads to a restart. */
  wanted = false;
  isReady = false;
  isResting = false;
  mayResume = false;
  lives = 0;
  crashes = 0;

  /**
   * @param {{ name: string, env: Environment, logs: string, onSpawn?: (record: ProcessRecord) => void,
   *   onCrash?: (text: string) => void, program?: string, mostLives?: number }} options
   */
  constructor({
    name,
    env,
    logs,
    onSpawn = () => {},
    onCrash = () => {},
    program = serviceProgramPath(name),
    mostLives = MOST_LIVES,
  }) {
    this.name = name;
    this.env = env;
    this.onSpawn = onSpawn;
    this.onCrash = onCrash;
    this.program = program;
    this.mostLives = mostLives;
    this.log = join(logs, `${name}.log`);
  }

  get pid() {
    return this.record?.pid;
  }

  get baseUrl() {
    return `http://127.0.0.1:${this.env.PORT}`;
  }

  get managementUrl() {
    return `http://127.0.0.1:${this.env.MANAGEMENT_PORT}`;
  }

  async start() {
    this.wanted = true;
    try {
      return await this.#spawnChild();
    } catch (error) {
      this.wanted = false;
      throw error;
    }
  }

  async #spawnChild() {
    const output = openLog(this.log);
    const before = statSync(this.log).size;
    // Through the IPC channel, the child notices the end of this process. In its own session it receives no Ctrl-C.
    const child = spawn(process.execPath, ['--require', PACKED_MODULES, this.program, 'all'], {
      cwd: ROOT,
      env: this.env,
      detached: true,
      stdio: ['ignore', output, output, 'ipc'],
    });
    closeSync(output);
    this.child = child;
    this.record = describeProcess(child.pid);
    this.onSpawn(this.record);
    let ready = false;
    /** @type {string | null} */
    let ended = null;
    this.isReady = this.isResting = false;
    this.lives = 1;
    child.on('message', (/** @type {any} */ message) => {
      if (child !== this.child) return;
      if (message?.type === 'ready') ready = this.isReady = true;
      if (message?.type === 'resting') this.isResting = true;
    });
    child.once('error', (error) => (ended = error.message));
    child.once('exit', (code, signal) => {
      ended = `it ended with ${signal ?? code}`;
      if (ready) this.#restartAfterCrash(child, `${this.name}: ${ended}`);
    });
    await until(() => ready || ended, READY_WITHIN_MS, 10);
    if (ready) return this;
    await endProcess(this.record, { graceMs: 0 });
    throw new Error(
      `${this.name} did not become ready: ${ended ?? `not within ${READY_WITHIN_MS / 1000} s`}\n${lastLogLines(this.log, before)}`,
    );
  }

  /**
   * @param {ChildProcess | undefined} child
   * @param {string} how
   */
  #restartAfterCrash(child, how) {
    if (!this.wanted || child !== this.child) return;
    const pause = Math.min(250 * 2 ** this.crashes++, 10_000);
    this.onCrash(`${how}; starting it again (log: ${this.log})`);
    setTimeout(() => {
      // A process that was ready before is restarted even if its restart fails.
      if (!this.wanted || child !== this.child) return;
      this.#spawnChild().catch((error) => this.#restartAfterCrash(this.child, error.message.split('\n', 1)[0] ?? ''));
    }, pause);
  }

  /**
   * Ends the process with a signal, without a restart. Resolves when it has ended.
   * @param {NodeJS.Signals} signal
   */
  async kill(signal = 'SIGKILL') {
    this.wanted = false;
    // Longer than SHUTDOWN_DELAY_MS and SHUTDOWN_GRACE_MS with their defaults.
    await endProcess(this.record, { signal, graceMs: 40_000 });
  }

  async restart() {
    await this.kill();
    await this.start();
  }

  /**
   * Pauses the process. Resolves when it neither reads nor writes (docs/reference/reliability.md 6.5). A process that is
   * busy for longer than `withinMs` is ended instead.
   * @param {number} withinMs
   */
  async rest(withinMs) {
    this.wanted = false;
    this.mayResume = true;
    if (this.isResting && isAlive(this.record)) return;
    if (this.isReady && this.lives < this.mostLives && this.#sendToChild('rest'))
      await until(() => this.isResting || !isAlive(this.record), withinMs, 5);
    if (!this.isResting) await this.kill();
  }

  /** Resumes the paused process, or starts another one. Resolves when it is ready. A process that was stopped stays so. */
  async resume() {
    this.isReady = false;
    if (this.isResting && this.#sendToChild('resume')) {
      this.isResting = false;
      await until(() => this.isReady || !isAlive(this.record), READY_WITHIN_MS, 5);
      this.lives += 1;
      this.wanted = this.mayResume && this.isReady && isAlive(this.record);
      if (this.wanted) return;
    }
    if (!this.mayResume) return;
    await this.kill();
    await this.start();
  }

  /** @param {'rest' | 'resume'} type */
  #sendToChild(type) {
    if (!isAlive(this.record) || !this.child?.connected) return false;
    this.child.send({ type }, () => {});
    return true;
  }

  /** Ends the process until the next `start()`; a stopped process has no record, one that crashed keeps its last. */
  async stop() {
    this.wanted = this.mayResume = false;
    await endProcess(this.record, { graceMs: 20_000 });
    this.record = undefined;
  }
}

/**
 * Opens a log for appending. A log that is too long is renamed first, so at most two files of that size exist.
 * @param {string} file
 */
function openLog(file) {
  if (existsSync(file) && statSync(file).size > LONGEST_LOG_BYTES) renameSync(file, `${file}.1`);
  return openSync(file, 'a', 0o600);
}

/**
 * The last messages that a process logged since the offset `from`: texts of its JSON log lines, errors with their stack.
 * @param {string} file
 * @param {number} from
 */
function lastLogLines(file, from) {
  const text = readFileSync(file).subarray(from).toString();
  const lines = text.trim().split('\n').slice(-40).map(logMessageOf);
  return [...new Set(lines)].slice(-10).join('\n');
}

/** @param {string} line */
function logMessageOf(line) {
  try {
    const { msg, err } = JSON.parse(line);
    return [msg, err?.stack ?? err?.message].filter(Boolean).join(': ').split('\n').slice(0, 8).join('\n');
  } catch {
    return line;
  }
}
