/**
 * Measures the cost of our own layer on a hot GET: CPU microseconds a request of a bare Fastify route, and of the same
 * answer through context, parameters, parent, permission, presenter and headers. Alternates the targets and prints the
 * median of three rounds.
 * Run: `node libs/api-v4/bench/hot-get.mjs` (after `npm run build` of kernel, contracts, platform and api-v4).
 */
import { fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const PATH = '/api/v4/projects/1/widgets/7';
const KEYS = `bench:${Buffer.alloc(32, 7).toString('base64')}`;
const ROW = { id: 7, title: 'A widget of some length, as titles are', open: true, createdAt: new Date(0), note: null };

if (process.send) await serveInChildProcess(process.argv[2]);
else await measureCpuPerRequest(process.argv.slice(2));

async function serveInChildProcess(kind) {
  require('reflect-metadata');
  const port = kind === 'bare' ? await startBareFastify() : await startEndpointServer(kind);
  process.send({ port });
  process.on('message', (message) => (message === 'cpu' ? process.send(process.cpuUsage()) : process.exit(0)));
}

async function startBareFastify() {
  const app = require('fastify')();
  app.get('/api/v4/projects/:id/widgets/:widget_id', (request, reply) =>
    reply.header('content-type', 'application/json').send(JSON.stringify(ROW)),
  );
  await app.listen({ port: 0, host: '127.0.0.1' });
  return app.server.address().port;
}

async function startEndpointServer(kind) {
  const api = require('@rookery/api-v4');
  const { PlatformModule, platformSettings, readSettings } = require('@rookery/platform');
  const { Controller, Module } = require('@nestjs/common');
  const widget = api.presenter('Widget').fields({
    id: [api.int, (row) => row.id],
    title: [api.text, (row) => row.title],
    open: [api.bool, (row) => row.open],
    created_at: [api.instant, (row) => row.createdAt],
    note: [api.nullable(api.text), (row) => row.note],
  });
  class WidgetParams {}
  api.Int()(WidgetParams.prototype, 'widget_id');
  api.Flag({ default: false })(WidgetParams.prototype, 'with_all');
  class Widgets {
    read() {
      return ROW;
    }
    page() {
      return { rows: Array(20).fill(ROW), total: 200, hasNext: true };
    }
  }
  const common = { about: 'x', source: 'x', may: api.anyone(), params: WidgetParams, within: api.project() };
  const declare = (key, path, answers) => api.Endpoint('GET', path, { ...common, answers })(Widgets.prototype, key, {});
  declare('read', ':widget_id', api.one(widget));
  declare('page', ':widget_id/all', api.page(widget));
  Controller('projects/:id/widgets')(Widgets);
  class Directory {}
  const scope = { kind: 'project', id: 1, level: 10 };
  const resolver = { project: async () => scope, group: async () => null, fresh: async () => undefined };
  Module({ providers: [{ provide: api.SCOPE_RESOLVER, useValue: resolver }], controllers: [Widgets] })(Directory);
  const values = readSettings([platformSettings], {
    ROOKERY_INTERNAL_KEYS: `bench/gateway/identity:${Buffer.alloc(32).toString('base64')}`,
    ROOKERY_CONTEXT_KEYS: KEYS,
  });
  class Root {}
  Module({
    imports: [
      PlatformModule.forRoot({ service: 'package', values }),
      api.ApiV4Module.forRoot({ service: 'package' }),
      Directory,
    ],
  })(Root);
  const app = await api.createApiV4App(Root, false);
  await app.listen(0, '127.0.0.1');
  return app.getHttpServer().address().port;
}

async function measureCpuPerRequest([rounds = '3', amount = '20000']) {
  const autocannon = require('autocannon');
  const { parseContextKeys, contextRequest, signContext } = require('@rookery/platform');
  const contextFor = (path) => {
    const claims = { sub: 1, usr: 'a', tok: 1, scp: ['api'], adm: false, ext: false, bot: false, imp: null, ver: 5 };
    const now = { iat: Date.now(), ddl: Date.now() + 600_000, rid: 'bench', epo: 'e', aud: 'package' };
    return signContext({ ...claims, ...now, req: contextRequest('GET', path) }, parseContextKeys(KEYS));
  };
  const targets = [];
  for (const [name, kind, path] of [
    ['bare Fastify route', 'bare', PATH],
    ['endpoint, one widget', 'ours', PATH],
    ['endpoint, page of 20', 'ours', `${PATH}/all?per_page=20`],
  ]) {
    const child = fork(fileURLToPath(import.meta.url), [kind]);
    targets.push({ name, path, child, port: (await askChild(child)).port, costs: [] });
  }
  for (let round = 0; round <= Number(rounds); round++) {
    for (const target of targets) {
      const before = await askChild(target.child, 'cpu');
      const result = await autocannon({
        url: `http://127.0.0.1:${target.port}${target.path}`,
        // A context is valid for half a minute.
        headers: { 'x-rookery-context': contextFor(target.path) },
        connections: 16,
        amount: round === 0 ? 5000 : Number(amount),
      });
      const after = await askChild(target.child, 'cpu');
      if (result.non2xx + result.errors > 0) throw new Error(`${target.name}: ${result.non2xx} refusals`);
      const cost = (after.user + after.system - before.user - before.system) / result['2xx'];
      if (round > 0) target.costs.push(cost);
    }
  }
  for (const { name, costs, child } of targets) {
    const median = costs.sort((a, b) => a - b)[costs.length >> 1];
    process.stdout.write(`${name.padEnd(22)} ${median.toFixed(1)} us CPU a request\n`);
    child.send('end');
  }
}

function askChild(child, message) {
  return new Promise((resolve) => {
    child.once('message', resolve);
    if (message) child.send(message);
  });
}
