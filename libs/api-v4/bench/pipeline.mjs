/**
 * Measures the cost of the pipeline without sockets: CPU microseconds a request through context, parameters, parent,
 * permission, presenter and headers, with an empty handler. CPU time does not depend on the load of the machine.
 * Run: `node libs/api-v4/bench/pipeline.mjs` (after `npm run build` of kernel, contracts, platform and api-v4).
 */
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
require('reflect-metadata');
const api = require('../dist/index.js');
const { EndpointPipeline } = require('../dist/pipeline.js');
const { Traffic } = require('../dist/runtime.js');
const { parseContextKeys, contextRequest, Links, Metrics, signContext } = require('@rookery/platform');

const WARM_UP = 20_000;
const REQUESTS = 50_000;
const ITEM = '/api/v4/projects/1/widgets/7';
const LIST = `${ITEM}?per_page=20`;
const keys = parseContextKeys(`bench:${Buffer.alloc(32, 7).toString('base64')}`);
const row = { id: 7, title: 'A widget of some length, as titles are', open: true, at: '2020-01-15T12:36:29.590Z' };

const widget = api.presenter('Widget').fields({
  id: [api.int, (one) => one.id],
  title: [api.text, (one) => one.title],
  open: [api.bool, (one) => one.open],
  created_at: [api.instant, (one) => one.at],
  note: [api.nullable(api.text), () => null],
});
class WidgetParams {}
api.Int()(WidgetParams.prototype, 'widget_id');
api.Flag({ default: false })(WidgetParams.prototype, 'with_all');
class Widgets {}

const runtime = {
  service: 'package',
  keys,
  clock: { now: () => new Date() },
  log: console,
  links: new Links('http://localhost:8080'),
  services: {},
  resolver: { project: async () => ({ kind: 'project', id: 1, level: 10 }) },
  traffic: new Traffic(new Metrics()),
  writeHeaders: null,
};

const rows = Array(20).fill(row);
await measurePipelineCpu('one widget', api.one(widget), ITEM, row);
await measurePipelineCpu('page of 20, presented', api.page(widget), LIST, { rows, total: 200, hasNext: true });
await measurePipelineCpu('page of 20, JSON text', api.page(widget), LIST, { json: '[]', total: 200, hasNext: true });

async function measurePipelineCpu(name, answers, url, result) {
  const options = { about: 'x', source: 'x', may: api.anyone(), params: WidgetParams, within: api.project(), answers };
  const endpoint = { method: 'GET', path: '', options, controller: Widgets, handler: 'x', file: null };
  const template = '/api/v4/projects/:id/widgets/:widget_id';
  const pipeline = new EndpointPipeline(endpoint, template, () => result, runtime);
  const request = {
    raw: { method: 'GET', url, headers: { 'x-rookery-context': signedContextFor(url) } },
    headers: {},
    params: { id: '1', widget_id: '7' },
    query: url === LIST ? { per_page: '20' } : {},
  };
  const raw = { statusCode: 0, writeHead: (status) => (raw.statusCode = status), end: () => undefined };
  const reply = { raw, hijack: () => undefined };
  for (let i = 0; i < WARM_UP; i++) await pipeline.handle(request, reply);
  if (raw.statusCode !== 200) throw new Error(`${name} answered ${raw.statusCode}`);
  const before = process.cpuUsage();
  for (let i = 0; i < REQUESTS; i++) await pipeline.handle(request, reply);
  const spent = process.cpuUsage(before);
  process.stdout.write(`${name.padEnd(22)} ${((spent.user + spent.system) / REQUESTS).toFixed(1)} us CPU a request\n`);
}

function signedContextFor(url) {
  const who = { sub: 1, usr: 'alice', tok: 1, scp: ['api'], adm: false, ext: false, bot: false, imp: null };
  const when = { ver: 500, epo: 'bench', rid: 'bench', iat: Date.now(), ddl: Date.now() + 600_000 };
  return signContext({ ...who, ...when, aud: 'package', req: contextRequest('GET', url) }, keys);
}
