/**
 * Processes that outlive the one that started them: who they are, whether they are still ours, and how to end them.
 *
 * A process id alone proves nothing: ids are used again. A record therefore holds the moment the process started as
 * well, and only a process that matches both is ever signalled.
 */
import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** A text that differs for two processes that had the same id at different times; null when there is none. */
export function startMark(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return null;
  if (process.platform !== 'linux') return startMarkByPs(pid);
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command in brackets may hold spaces and brackets itself, so fields are counted from the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    return `${bootId()}:${fields[19]}`;
  } catch {
    return null;
  }
}

function startMarkByPs(pid) {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return line === '' || line.startsWith('Z') ? null : line.replace(/^\S+\s+/, '');
  } catch {
    return null;
  }
}

let boot;
function bootId() {
  boot ??= existsSync('/proc/sys/kernel/random/boot_id')
    ? readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    : 'boot';
  return boot;
}

/** `{ pid, mark, ...facts }` for a record file. */
export function describeProcess(pid, facts = {}) {
  return { pid, mark: startMark(pid), ...facts };
}

/** Whether the process of a record still runs. */
export function isAlive(record) {
  return Boolean(record) && record.mark !== null && startMark(record.pid) === record.mark;
}

export function readRecord(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

/** Written aside and renamed, so that a reader never sees half a record. */
export function writeRecord(file, record) {
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}.draft`;
  writeFileSync(draft, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}

/** Waits until `holds()` is truthy and returns that value; null when `withinMs` pass first. */
export async function until(holds, withinMs, everyMs = 20) {
  const end = Date.now() + withinMs;
  for (;;) {
    const value = await holds();
    if (value) return value;
    if (Date.now() >= end) return null;
    await delay(everyMs);
  }
}

/** Ends the process of a record: first politely, after `graceMs` with SIGKILL. A process that is not ours is left alone. */
export async function endProcess(record, { signal = 'SIGTERM', graceMs = 8000 } = {}) {
  if (!isAlive(record)) return;
  signalProcess(record, signal);
  if (await until(() => !isAlive(record), graceMs)) return;
  signalProcess(record, 'SIGKILL');
  await until(() => !isAlive(record), 5000);
}

function signalProcess(record, signal) {
  try {
    if (isAlive(record)) process.kill(record.pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/**
 * Takes a lock file for this process. Answers null, or the record of the living process that holds it.
 * A lock of a dead process is moved aside first: of several that try, one succeeds in moving that very file.
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
        if (error.code !== 'EEXIST') throw error;
      }
      const holder = readRecord(file);
      if (isAlive(holder)) return holder;
      const replacing = moveAside(file);
      if (replacing) return replacing;
    }
    throw new Error(`The lock ${file} cannot be taken`);
  } finally {
    rmSync(mine, { force: true });
  }
}

/** Removes a dead process's lock. Answers the holder when the file turns out to be a fresh lock, which is put back. */
function moveAside(file) {
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if (error.code === 'ENOENT') return null;
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

export function unlock(file) {
  if (readRecord(file)?.pid === process.pid) rmSync(file, { force: true });
}

/** Runs `use` while holding a lock file; waits for another holder. */
export async function withLock(file, use, withinMs = 60_000) {
  let holder = null;
  const taken = await until(() => (holder = tryLock(file)) === null, withinMs, 50);
  if (!taken) throw new Error(`Process ${holder?.pid} holds ${file} for more than ${withinMs / 1000} s`);
  try {
    return await use();
  } finally {
    unlock(file);
  }
}

/** Ports that somebody in this process was given, and may take later. */
const given = new Set();

/**
 * A port of 127.0.0.1 that is free now, and that nobody else in this process was given. It lies below the range from which
 * systems take the ports of outgoing connections, so it is still free when a process that was killed comes back for it.
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

/** So many different free ports, and none of those that somebody is about to take. */
export async function freePorts(count, taken = []) {
  const ports = new Set();
  while (ports.size < count) {
    const port = await freePort();
    if (!taken.includes(port)) ports.add(port);
  }
  return [...ports];
}

/** Whether nobody listens on the port. */
export function portIsFree(port, host = '0.0.0.0') {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, host, () => probe.close(() => resolve(true)));
  });
}
