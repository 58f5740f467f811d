/**
 * Records of processes that may outlive the process that started them, lock files, and free ports.
 *
 * The operating system reuses process ids. A record therefore also holds the moment when the process started, and a
 * process is signalled only if both match.
 *
 * @typedef {{ pid: number, mark: string | null, [fact: string]: unknown }} ProcessRecord
 */
import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Returns a text that differs between two processes that had the same id at different times, or null without a process.
 * @param {number | undefined} pid
 */
export function processStartMark(pid) {
  if (pid === undefined || !Number.isInteger(pid) || pid <= 0) return null;
  if (process.platform !== 'linux') return processStartMarkByPs(pid);
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command in brackets may contain spaces and brackets, so fields are counted from the last bracket.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    return `${readBootId()}:${fields[19]}`;
  } catch {
    return null;
  }
}

/** @param {number} pid */
function processStartMarkByPs(pid) {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return line === '' || line.startsWith('Z') ? null : line.replace(/^\S+\s+/, '');
  } catch {
    return null;
  }
}

/** @type {string | undefined} */
let boot;
function readBootId() {
  boot ??= existsSync('/proc/sys/kernel/random/boot_id')
    ? readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    : 'boot';
  return boot;
}

/**
 * Describes a process for a record file, as `{ pid, mark, ...facts }`.
 * @param {number | undefined} pid
 * @returns {ProcessRecord}
 */
export function describeProcess(pid, facts = {}) {
  return { pid: /** @type {number} */ (pid), mark: processStartMark(pid), ...facts };
}

/**
 * Whether the process of a record still runs.
 * @param {ProcessRecord | null | undefined} record
 * @returns {record is ProcessRecord}
 */
export function isAlive(record) {
  return record != null && record.mark !== null && processStartMark(record.pid) === record.mark;
}

/**
 * Parses a record file; null if it is missing or damaged.
 * @param {string} file
 * @returns {any}
 */
export function readRecord(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

/**
 * Writes a record to a temporary file and renames it, so that readers never see half a record.
 * @param {string} file
 * @param {unknown} record
 */
export function writeRecord(file, record) {
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}.draft`;
  writeFileSync(draft, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}

/**
 * Waits until `holds()` is truthy and returns that value, or null after `withinMs`.
 * @template T
 * @param {() => T | Promise<T>} holds
 * @param {number} withinMs
 * @returns {Promise<T | null>}
 */
export async function until(holds, withinMs, everyMs = 20) {
  const end = Date.now() + withinMs;
  for (;;) {
    const value = await holds();
    if (value) return value;
    if (Date.now() >= end) return null;
    await delay(everyMs);
  }
}

/**
 * Ends the process of a record with `signal`, and with SIGKILL after `graceMs`. Does nothing if another process has the id.
 * @param {ProcessRecord | null | undefined} record
 * @param {{ signal?: NodeJS.Signals, graceMs?: number }} [options]
 */
export async function endProcess(record, { signal = 'SIGTERM', graceMs = 8000 } = {}) {
  if (!isAlive(record)) return;
  signalProcess(record, signal);
  if (await until(() => !isAlive(record), graceMs)) return;
  signalProcess(record, 'SIGKILL');
  await until(() => !isAlive(record), 5000);
}

/**
 * @param {ProcessRecord} record
 * @param {NodeJS.Signals} signal
 */
function signalProcess(record, signal) {
  try {
    if (isAlive(record)) process.kill(record.pid, signal);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error;
  }
}

/**
 * Takes a lock file for this process. Returns null, or the record of the living process that holds the lock.
 * The lock of a dead process is first renamed: of several processes that try, only one can rename that file.
 * @param {string} file
 * @returns {ProcessRecord | null}
 */
export function tryLock(file, facts = {}) {
  mkdirSync(dirname(file), { recursive: true });
  const mine = `${file}.${process.pid}`;
  writeFileSync(mine, JSON.stringify(describeProcess(process.pid, facts)), { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < 10; attempt++) {
      try {
        linkSync(mine, file);
        return null;
      } catch (error) {
        if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
      }
      const holder = readRecord(file);
      if (isAlive(holder)) return holder;
      const replacing = removeDeadLock(file);
      if (replacing) return replacing;
    }
    throw new Error(`The lock ${file} cannot be taken`);
  } finally {
    rmSync(mine, { force: true });
  }
}

/**
 * Removes the lock of a dead process. Puts the file back and returns its holder if the lock turns out to be a new one.
 * @param {string} file
 * @returns {ProcessRecord | null}
 */
function removeDeadLock(file) {
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return null;
    throw error;
  }
  const holder = readRecord(aside);
  try {
    if (!isAlive(holder)) return null;
    linkSync(aside, file);
    return holder;
  } catch {
    return holder;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** @param {string} file */
export function unlock(file) {
  if (readRecord(file)?.pid === process.pid) rmSync(file, { force: true });
}

/**
 * Runs `use` while holding a lock file, and waits for another holder first.
 * @template T
 * @param {string} file
 * @param {() => Promise<T>} use
 */
export async function withLock(file, use, withinMs = 60_000) {
  /** @type {ProcessRecord | null} */
  let holder = null;
  const taken = await until(() => (holder = tryLock(file)) === null, withinMs, 50);
  if (!taken)
    throw new Error(`Process ${/** @type {any} */ (holder)?.pid} holds ${file} for more than ${withinMs / 1000} s`);
  try {
    return await use();
  } finally {
    unlock(file);
  }
}

/** Ports that `freePort` has already returned in this process. Their callers may start to listen later. */
const given = new Set();

/**
 * Returns a free port of 127.0.0.1 that was not returned before in this process. It is below the range of ports for
 * outgoing connections, so it is normally still free when a killed process is restarted on it.
 */
export async function freePort() {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(20_000, 32_000);
    if (given.has(port) || !(await portIsFree(port, '127.0.0.1'))) continue;
    given.add(port);
    return port;
  }
  throw new Error('No free port between 20000 and 32000 was found');
}

/**
 * Returns `count` different free ports, except those in `taken`, which another server is about to use.
 * @param {number} count
 * @param {number[]} [taken]
 */
export async function freePorts(count, taken = []) {
  /** @type {Set<number>} */
  const ports = new Set();
  while (ports.size < count) {
    const port = await freePort();
    if (!taken.includes(port)) ports.add(port);
  }
  return [...ports];
}

/**
 * Whether no process listens on the port.
 * @param {number} port
 * @returns {Promise<boolean>}
 */
export function portIsFree(port, host = '0.0.0.0') {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, host, () => probe.close(() => resolve(true)));
  });
}
