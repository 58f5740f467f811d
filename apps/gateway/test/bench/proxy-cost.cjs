/**
 * Measures the cost of one hop through the gateway: CPU microseconds for each request of the gateway process and of a
 * bare upstream, requested directly and through the gateway in turn. Needs a build: node
 * apps/gateway/test/bench/proxy-cost.cjs
 */
const { fork, spawn } = require('node:child_process');
const { createServer } = require('node:http');
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const autocannon = require('autocannon');
const { Pool } = require('undici');

const ROUNDS = Number(process.env.ROUNDS ?? 3);
const REQUESTS = Number(process.env.REQUESTS ?? 20000);
const CONNECTIONS = Number(process.env.CONNECTIONS ?? 16);
const BODIES = { small: Buffer.from('{"id":1}'), '8 KB': Buffer.from(JSON.stringify({ text: 'x'.repeat(8000) })) };

if (process.argv[2] === 'upstream') upstream();
else if (process.argv[2] === 'hop') hop(process.argv[3]);
else void main();

/** A service and identity in one server, both as cheap as possible. */
function upstream() {
  const holder = {
    user_id: 1,
    username: 'root',
    admin: true,
    external: false,
    bot: false,
    token_id: 1,
    scopes: ['api'],
    impersonator_id: null,
    expires_at: null,
  };
  const mark = { version: 1, epoch: 'e' };
  const server = createServer((request, response) => {
    if (request.url.startsWith('/internal/directory')) return;
    if (request.url.startsWith('/internal/')) {
      response.end(JSON.stringify({ ...mark, outcome: 'valid', holder }));
      return;
    }
    const body = request.url.endsWith('small') ? BODIES.small : BODIES['8 KB'];
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': body.length,
      'x-page': '1',
      'x-per-page': '20',
      'x-next-page': '',
      'x-prev-page': '',
      'x-total': '20',
      'x-total-pages': '1',
      link: '<http://localhost:8080/api/v4/todos?page=1&per_page=20>; rel="first"',
    });
    response.end(body);
  });
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
}

/** The least that a hop can be: no token, no route, no context. */
function hop(origin) {
  const pool = new Pool(origin, { connections: 64 });
  const server = createServer((request, response) => {
    pool.dispatch(
      { path: request.url, method: request.method, headers: { accept: '*/*' } },
      {
        onConnect() {},
        onHeaders(status, raw) {
          response.writeHead(
            status,
            raw.map((part) => part.toString('latin1')),
          );
          return true;
        },
        onData: (chunk) => response.write(chunk),
        onComplete: () => response.end(),
        onError: () => response.destroy(),
      },
    );
  });
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
}

async function main() {
  const service = fork(__filename, ['upstream']);
  const port = await new Promise((resolve) => service.once('message', resolve));
  const at = `http://127.0.0.1:${port}`;
  const gateway = spawn(process.execPath, [join(__dirname, '../../dist/main.js')], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: {
      ...process.env,
      PORT: '0',
      MANAGEMENT_PORT: '0',
      HOST: '127.0.0.1',
      LOG_LEVEL: 'warn',
      RATE_LIMITS: process.env.RATE_LIMITS ?? 'off',
      ROOKERY_INTERNAL_KEYS: `k/gateway/identity:${Buffer.alloc(32, 2).toString('base64')}`,
      ROOKERY_CONTEXT_KEYS: `k:${Buffer.alloc(32, 1).toString('base64')}`,
      IDENTITY_URL: at,
      ...Object.fromEntries(
        ['IDENTITY', 'COLLABORATION', 'IMPORT', 'PACKAGE', 'ADMIN'].map((name) => [`GATEWAY_UPSTREAM_${name}`, at]),
      ),
    },
  });
  const ready = await new Promise((resolve) => gateway.once('message', resolve));
  const bare = fork(__filename, ['hop', at]);
  const bareAt = `http://127.0.0.1:${await new Promise((resolve) => bare.once('message', resolve))}`;
  const through = `http://127.0.0.1:${ready.port}`;
  const path = process.env.BENCH_PATH ?? '/api/v4/broadcast_messages';
  try {
    for (const size of Object.keys(BODIES)) {
      const target = `${path}?${size === 'small' ? 'small' : 'large'}`;
      const rows = { direct: [], hop: [], through: [] };
      for (const base of [through, bareAt]) await load(`${base}${target}`, REQUESTS / 4);
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const [name, base, pid] of [
          ['direct', at, gateway.pid],
          ['hop', bareAt, bare.pid],
          ['through', through, gateway.pid],
        ]) {
          const before = [cpu(service.pid), cpu(pid)];
          const result = await load(`${base}${target}`, REQUESTS);
          const [own, hop] = [cpu(service.pid) - before[0], cpu(pid) - before[1]];
          rows[name].push({ own: (own / REQUESTS) * 1e6, hop: (hop / REQUESTS) * 1e6, rate: result.requests.average });
        }
      }
      const direct = median(rows.direct);
      const least = median(rows.hop);
      const hop = median(rows.through);
      process.stdout.write(
        `${size}: bare upstream ${direct.own.toFixed(0)} us/request, ${direct.rate.toFixed(0)}/s; through the gateway ` +
          `${hop.hop.toFixed(0)} us in the gateway + ${hop.own.toFixed(0)} us upstream, ${hop.rate.toFixed(0)}/s ` +
          `(least hop: ${least.hop.toFixed(0)} + ${least.own.toFixed(0)} us, ${least.rate.toFixed(0)}/s); ` +
          `CPU x ${((hop.hop + hop.own) / direct.own).toFixed(2)}\n`,
      );
    }
  } finally {
    gateway.kill('SIGINT');
    service.kill();
    bare.kill();
  }
}

async function load(url, amount) {
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    amount: Math.round(amount),
    headers: { 'private-token': 'glpat-bench-0123456789ab', accept: '*/*', 'user-agent': 'bench' },
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} not 2xx, ${result.errors} errors: ${url}`);
  return result;
}

/** Seconds of user and system time of a process and its threads. */
function cpu(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function median(rows) {
  const of = (key) => rows.map((row) => row[key]).sort((a, b) => a - b)[Math.floor(rows.length / 2)];
  return { own: of('own'), hop: of('hop'), rate: of('rate') };
}
