/** State of the processes of an estate on this machine: running, ready, and the figures that need an operator. */
import { join } from 'node:path';
import { PROCESSES, SERVICES } from '../processes/environment.mjs';
import { isEstateRunning, recordedEnvironment } from '../processes/operate.mjs';
import { readRecord, processStartMark } from '../processes/process-records.mjs';

const SERVERS = ['postgres', 'nats'];
/** Longest wait for an answer of a process. Units: ms. */
const PATIENCE_MS = 5000;

/**
 * `management` is the address of health and metrics. A process is `stopped` if an operator stopped it, and `away` if it does
 * not answer or no estate runs.
 * @typedef {{ process: string, state: 'ready' | 'not ready' | 'stopped' | 'away', pid: number | null, management: string | null,
 *   about: string | null, outbox_oldest_seconds: number | null, open_dead_letters: number | null }} ProcessState
 */

/**
 * States of all processes and embedded servers. Errors: NoEstate.
 * @param {string} dataDir
 * @returns {Promise<ProcessState[]>}
 */
export async function statesOf(dataDir) {
  const pids = readRecord(join(dataDir, 'run/pids.json')) ?? {};
  const hasSupervisor = isEstateRunning(dataDir);
  const environments = PROCESSES.map((name) => ({ name, env: recordedEnvironment(dataDir, name) }));
  const processes = environments.map(({ name, env }) => {
    const pid = hasSupervisor ? (pids[name] ?? pids.one ?? null) : null;
    if (hasSupervisor && pid === null) return processWithoutFigures(name, 'stopped');
    return stateOfProcess(name, env['MANAGEMENT_PORT'], pid);
  });
  const servers = SERVERS.filter((name) => pids[name]).map((name) => stateOfServer(name, pids[name]));
  return [...servers, ...(await Promise.all(processes))];
}

/**
 * @param {string} name
 * @param {number} pid
 * @returns {ProcessState}
 */
function stateOfServer(name, pid) {
  const isUp = processStartMark(pid) !== null;
  return isUp ? { ...processWithoutFigures(name, 'ready'), pid } : processWithoutFigures(name, 'away');
}

/**
 * @param {string} name
 * @param {ProcessState['state']} state
 * @returns {ProcessState}
 */
function processWithoutFigures(name, state) {
  const figures = { outbox_oldest_seconds: null, open_dead_letters: null };
  return { process: name, state, pid: null, management: null, about: null, ...figures };
}

/**
 * @param {string} name
 * @param {string | undefined} port  the management port
 * @param {number | null} pid
 * @returns {Promise<ProcessState>}
 */
async function stateOfProcess(name, port, pid) {
  const health = pid === null ? null : await fetchManagement(port, '/-/health/ready');
  if (health === null) return processWithoutFigures(name, 'away');
  const about = health.status === 200 ? null : (JSON.parse(health.text).reasons ?? []).join(', ');
  const metrics = SERVICES.includes(name) ? await fetchManagement(port, '/-/metrics') : null;
  return {
    process: name,
    state: health.status === 200 ? 'ready' : 'not ready',
    pid,
    management: managementUrl(port),
    about,
    outbox_oldest_seconds: sumOfSeries(metrics?.text, /^rookery_outbox_oldest_seconds(?:\{[^}]*\})? (\S+)$/gm),
    open_dead_letters: sumOfSeries(metrics?.text, /^rookery_dead_letters\{[^}]*state="open"[^}]*\} (\S+)$/gm),
  };
}

/** @param {string | undefined} port */
const managementUrl = (port) => `http://127.0.0.1:${port}`;

/**
 * @param {string | undefined} port
 * @param {string} path
 * @returns {Promise<{ status: number, text: string } | null>} null without an answer
 */
async function fetchManagement(port, path) {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const response = await fetch(managementUrl(port) + path, { signal });
    return { status: response.status, text: await response.text() };
  } catch {
    return null;
  }
}

/**
 * Sum of the series of a metric in Prometheus' text format; null if there is none.
 * @param {string | undefined} text
 * @param {RegExp} pattern
 */
function sumOfSeries(text = '', pattern) {
  const values = [...text.matchAll(pattern)].map(([, value]) => Number(value));
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0);
}
