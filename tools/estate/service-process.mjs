/** One process of the estate: started, watched, started again when it dies by itself, and stopped. */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeProcess, endProcess, isAlive, until } from './processes.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PACKED_MODULES = join(ROOT, 'tools/estate/packed-modules.cjs');
const READY_WITHIN_MS = 180_000;
/**
 * The queue of jobs (graphile-worker) keeps every configuration that it ever had, and with it 1 to 4 MB of each life of a
 * process. So after this many another process takes over.
 */
const MOST_LIVES = 60;
const LONGEST_LOG_BYTES = 20 * 1024 * 1024;

export function programOf(name) {
  return join(ROOT, 'apps', name, 'dist/main.js');
}

/**
 * Shape: `start()` resolves when the process says that it is ready; `kill(signal)` ends it at once and leaves it dead;
 * `restart()` and `stop()` resolve when done; `rest()` has it let go of everything, `resume()` begin anew. `onSpawn(record)`
 * and `onCrash(text)` tell the supervisor.
 */
export class ServiceProcess {
  constructor({
    name,
    env,
    logs,
    onSpawn = () => {},
    onCrash = () => {},
    program = programOf(name),
    mostLives = MOST_LIVES,
  }) {
    Object.assign(this, { name, env, onSpawn, onCrash, program, mostLives });
    this.log = join(logs, `${name}.log`);
    this.wanted = false;
    this.isReady = false;
    this.isResting = false;
    this.mayResume = false;
    this.lives = 0;
    this.crashes = 0;
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
      return await this.#begin();
    } catch (error) {
      this.wanted = false;
      throw error;
    }
  }

  async #begin() {
    const output = openLog(this.log);
    const before = statSync(this.log).size;
    // An IPC channel tells the child when this process is gone, however it went; an own session keeps Ctrl-C from it.
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
    let ended = null;
    this.isReady = this.isResting = false;
    this.lives = 1;
    child.on('message', (message) => {
      if (child !== this.child) return;
      if (message?.type === 'ready') ready = this.isReady = true;
      if (message?.type === 'resting') this.isResting = true;
    });
    child.once('error', (error) => (ended = error.message));
    child.once('exit', (code, signal) => {
      ended = `it ended with ${signal ?? code}`;
      if (ready) this.#died(child, `${this.name}: ${ended}`);
    });
    await until(() => ready || ended, READY_WITHIN_MS, 10);
    if (ready) return this;
    await endProcess(this.record, { graceMs: 0 });
    throw new Error(
      `${this.name} did not become ready: ${ended ?? `no word in ${READY_WITHIN_MS / 1000} s`}\n${lastWords(this.log, before)}`,
    );
  }

  #died(child, how) {
    if (!this.wanted || child !== this.child) return;
    const pause = Math.min(250 * 2 ** this.crashes++, 10_000);
    this.onCrash(`${how}; starting it again (log: ${this.log})`);
    setTimeout(() => {
      // Once it was there, one that ends before it is ready again is begun again like any other.
      if (!this.wanted || child !== this.child) return;
      this.#begin().catch((error) => this.#died(this.child, error.message.split('\n', 1)[0]));
    }, pause);
  }

  /** Ends it without any grace, and does not start it again. Resolves when it is gone. */
  async kill(signal = 'SIGKILL') {
    this.wanted = false;
    await endProcess(this.record, { signal, graceMs: 30_000 });
  }

  async restart() {
    await this.kill();
    await this.start();
  }

  /**
   * Resolves when nothing of the process reads or writes any more (docs/reference/reliability.md 6.5). One that has
   * work in hand for longer than `withinMs` is ended instead.
   */
  async rest(withinMs) {
    this.wanted = false;
    this.mayResume = true;
    if (this.isResting && isAlive(this.record)) return;
    if (this.isReady && this.lives < this.mostLives && this.#tell('rest'))
      await until(() => this.isResting || !isAlive(this.record), withinMs, 5);
    if (!this.isResting) await this.kill();
  }

  /** Resolves when it is ready again: the process that rests, or else another. A process that was stopped stays so. */
  async resume() {
    this.isReady = false;
    if (this.isResting && this.#tell('resume')) {
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

  #tell(type) {
    if (!isAlive(this.record) || !this.child.connected) return false;
    this.child.send({ type }, () => {});
    return true;
  }

  async stop() {
    this.wanted = this.mayResume = false;
    if (this.record) await endProcess(this.record, { graceMs: 20_000 });
  }
}

/** Appends; a log that grew long is put aside first, so at most two of that size are kept. */
function openLog(file) {
  if (existsSync(file) && statSync(file).size > LONGEST_LOG_BYTES) renameSync(file, `${file}.1`);
  return openSync(file, 'a', 0o600);
}

/** What a process wrote since `from`, in words: the text of its last JSON log lines, errors with their stack. */
function lastWords(file, from) {
  const text = readFileSync(file).subarray(from).toString();
  const lines = text.trim().split('\n').slice(-40).map(inWords);
  return [...new Set(lines)].slice(-10).join('\n');
}

function inWords(line) {
  try {
    const { msg, err } = JSON.parse(line);
    return [msg, err?.stack ?? err?.message].filter(Boolean).join(': ').split('\n').slice(0, 8).join('\n');
  } catch {
    return line;
  }
}
