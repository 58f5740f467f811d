/**
 * Lets test files, which cannot import this ES module, act on the estate that runs under them.
 *   POST /processes/<name>/{kill,restart,start}   POST /nats/{stop,start,kill}   POST /postgres/{stop,start,kill,restart}
 *   POST /replicas/<name> -> { baseUrl, managementUrl, pid }                GET /
 *   POST /second/{start,stop}: a second estate, of `second`, which starts on the same data and port each time
 * Listens on 127.0.0.1 and asks for a token.
 */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { freePort } from './processes.mjs';

/** Each answers false for what there is not. */
const ACTIONS = {
  second: (estate, action) => act(estate.second, ['start', 'stop'], action),
  processes: (estate, name, action) => act(estate.processes[name], ['kill', 'restart', 'start'], action),
  nats: (estate, action) => act(estate.nats, ['stop', 'start', 'kill'], action),
  postgres: (estate, action) => act(estate.postgres, ['stop', 'start', 'kill', 'restart'], action),
  replicas: async (estate, name) => estate.processes[name] && addressOf(await estate.replica(name)),
};

async function act(target, allowed, action) {
  if (!target || !allowed.includes(action)) return false;
  await target[action]();
  return true;
}

/** Answers `{ url, stop() }`; the token is part of the URL's path. */
export async function startControl(estate) {
  const token = randomBytes(12).toString('hex');
  const server = createServer((request, response) => {
    const [, given, kind, ...words] = request.url.split('/');
    answer(estate, given === token, request.method, kind, words).then(
      (body) => response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      (error) => response.writeHead(500).end(JSON.stringify({ message: error.message })),
    );
  });
  const port = await freePort();
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  const stop = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}/${token}`, stop };
}

async function answer(estate, isAllowed, method, kind, words) {
  if (!isAllowed) return null;
  if (method === 'GET') return { baseUrl: estate.baseUrl, pids: estate.pids, mailDir: estate.mailDir };
  if (!ACTIONS[kind]) return null;
  const outcome = await ACTIONS[kind](estate, ...words);
  if (!outcome) return null;
  return outcome === true ? { pids: estate.pids } : outcome;
}

function addressOf({ baseUrl, managementUrl, pid }) {
  return { baseUrl, managementUrl, pid };
}
