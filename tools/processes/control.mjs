/**
 * HTTP server by which test files, which cannot import this ES module, control the estate under test.
 *   POST /processes/<name>/{kill,restart,start}: with all services in one process, only restart, of all
 *   POST /nats/{stop,start,kill}   POST /postgres/{stop,start,kill,restart}
 *   POST /replicas/<name> -> { baseUrl, managementUrl, pid }                GET /
 *   POST /second/{start,stop}: a second estate (`second`), which has the same data and port at each start
 * Listens on 127.0.0.1 and requires a token.
 *
 * @import { Estate } from './estate.mjs'
 * @typedef {{ start(): Promise<void>, stop(): Promise<void> }} SecondEstate
 * @typedef {Estate & { second: SecondEstate }} ControlledEstate
 * @typedef {(estate: ControlledEstate, ...words: string[]) => Promise<unknown>} Action
 */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { PROCESSES, TOGETHER } from './environment.mjs';
import { freePort } from './process-records.mjs';

/**
 * Actions by the first part of the path; each resolves to false or undefined for an unknown target.
 * @type {Record<string, Action>}
 */
const ACTIONS = {
  second: (estate, action) => runAllowedAction(estate.second, ['start', 'stop'], action),
  processes: (estate, name, action) =>
    estate.layout === 'one'
      ? runAllowedAction(estate.processes[TOGETHER], ['restart'], action)
      : runAllowedAction(estate.processes[name], ['kill', 'restart', 'start'], action),
  nats: (estate, action) => runAllowedAction(estate.nats, ['stop', 'start', 'kill'], action),
  postgres: (estate, action) => runAllowedAction(estate.postgres, ['stop', 'start', 'kill', 'restart'], action),
  replicas: async (estate, name) => PROCESSES.includes(name) && toProcessAddress(await estate.replica(name)),
};

/**
 * @param {any} target
 * @param {string[]} allowed
 * @param {string} action
 */
async function runAllowedAction(target, allowed, action) {
  if (!target || !allowed.includes(action)) return false;
  await target[action]();
  return true;
}

/**
 * Starts the server. The token is part of the URL's path.
 * @param {ControlledEstate} estate
 * @returns {Promise<{ url: string, stop(): Promise<unknown> }>}
 */
export async function startControl(estate) {
  const token = randomBytes(12).toString('hex');
  const server = createServer((request, response) => {
    const [, given, kind = '', ...words] = (request.url ?? '').split('/');
    answerControlRequest(estate, { isAllowed: given === token, method: request.method, kind, words }).then(
      (body) => response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      (error) => response.writeHead(500).end(JSON.stringify({ message: error.message })),
    );
  });
  const port = await freePort();
  await new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(undefined)));
  const stop = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}/${token}`, stop };
}

/**
 * @param {ControlledEstate} estate
 * @param {{ isAllowed: boolean, method: string | undefined, kind: string, words: string[] }} request
 */
async function answerControlRequest(estate, { isAllowed, method, kind, words }) {
  if (!isAllowed) return null;
  if (method === 'GET') return { baseUrl: estate.baseUrl, pids: estate.pids, mailDir: estate.mailDir };
  const action = ACTIONS[kind];
  if (!action) return null;
  const outcome = await action(estate, ...words);
  if (!outcome) return null;
  return outcome === true ? { pids: estate.pids } : outcome;
}

/** @param {import('./service-process.mjs').ServiceProcess} process */
function toProcessAddress({ baseUrl, managementUrl, pid }) {
  return { baseUrl, managementUrl, pid };
}
