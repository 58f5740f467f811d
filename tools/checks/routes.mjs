#!/usr/bin/env node
/**
 * Route inventory: what docs/routes.tsv plans, what the services' OpenAPI documents serve, and how many tests call it.
 * `npm run routes` prints every served route with its requirement and the tests of the last run of each spec, then
 * served / planned per service; `--check` fails when a route is served that the inventory does not know, when the
 * inventory calls an issue done whose route is missing, when a served route cites no requirement or has another name, or when a row of the
 * inventory is out of order or holds what its columns do not know (docs/reference/README.md). `npm test` ends with a
 * look for served routes that no test called.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Issues whose routes must all be served. */
const DONE = ['foundation', 'identity'];
/** Served by the gateway itself or on a management port, so in no OpenAPI document of a service. */
const OUTSIDE_DOCUMENTS = new Set(['GET //-/health/live', 'GET //-/health/ready', 'GET //-/metrics']);
/** Left by specs, see libs/testing/src/route-tests.ts. */
const ROUTE_TESTS = `${root}node_modules/.cache/rookery/route-tests/`;

/** What the columns of docs/routes.tsv hold; `auth` and `note` are free, `requirement` is judged by citations.mjs. */
const COLUMNS = {
  service: /^(?:admin|collaboration|gateway|identity|import|package)$/,
  issue: /^(?:activity|administration|foundation|identity|imports|operations|packages|repositories|work-tracking)$/,
  tag: /^(?:spec|gap|base|extra)$/,
  method: /^(?:GET|HEAD|POST|PUT|PATCH|DELETE)$/,
  path: /^\/\S+$/,
  operation: /^(?:-|[a-z][A-Za-z]+)$/,
  success: /^2\d\d$/,
  auth: /\S/,
  paging: /^(?:-|offset|keyset)$/,
  requirement: /\S/,
  note: /\S/,
};

const shapeOf = (path) =>
  path
    .replace(/^\/api\/v4/, '')
    .replace(/^\/\//, '/')
    .replace(/\{[^}]+\}|[:*][a-z_]+/gi, ':');
const key = (route) => `${route.method} ${shapeOf(route.path)}`;

export function plannedRoutes() {
  const [head, ...lines] = readFileSync(`${root}docs/routes.tsv`, 'utf8').trim().split('\n');
  const names = head.split('\t');
  return lines.map((line) => Object.fromEntries(line.split('\t').map((value, index) => [names[index], value])));
}

/** What generated clients call each operation that has a name, by `GET /groups/:`. */
export function operationNames() {
  const named = plannedRoutes().filter(({ operation }) => operation !== '-');
  return Object.fromEntries(named.map((route) => [key(route), route.operation]));
}

export function servedRoutes() {
  const services = ['identity', 'collaboration', 'import', 'package', 'admin'].flatMap(routesOf);
  // The gateway's document is that of the whole API; its own routes are those that no service has.
  const known = new Set(services.map((route) => `${route.method} ${route.path}`));
  return [...services, ...routesOf('gateway').filter((route) => !known.has(`${route.method} ${route.path}`))];
}

function routesOf(service) {
  const file = `${root}apps/${service}/openapi.json`;
  if (!existsSync(file)) return [];
  const document = JSON.parse(readFileSync(file, 'utf8'));
  return Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => ['get', 'post', 'put', 'patch', 'delete'].includes(method))
      .map(([method, operation]) => ({
        service,
        method: method.toUpperCase(),
        path,
        // An alias is the same endpoint as the path that it names.
        aliasOf: operation['x-rookery-alias-of'] ?? null,
        source: operation['x-rookery-source'] ?? null,
        operation: operation.operationId,
      })),
  );
}

/** Tests by route, over the last run of every spec that still exists; null when none has run on this machine. */
export function testCounts() {
  if (!existsSync(ROUTE_TESTS)) return null;
  const counts = new Map();
  for (const name of readdirSync(ROUTE_TESTS)) {
    const { spec, tests } = JSON.parse(readFileSync(`${ROUTE_TESTS}${name}`, 'utf8'));
    if (!existsSync(`${root}${spec}`)) continue;
    for (const [route, count] of Object.entries(tests)) {
      const [method, path] = route.split(' ');
      counts.set(key({ method, path }), (counts.get(key({ method, path })) ?? 0) + count);
    }
  }
  return counts;
}

/** Served routes that no test has called. */
export function untestedRoutes() {
  const counts = testCounts() ?? new Map();
  return servedRoutes()
    .filter((route) => testsOf(route, counts) === 0)
    .map(nameOf);
}

const testsOf = (route, counts) => counts.get(key({ ...route, path: route.aliasOf ?? route.path })) ?? 0;
const nameOf = (route) => `${route.service} ${route.method} ${route.path}`;

function problemsOf(planned, served) {
  const servedKeys = new Set(served.map(key));
  const plannedKeys = new Set(planned.map(key));
  const names = Object.fromEntries(planned.map((route) => [key(route), route.operation]));
  return [
    ...served
      .filter((route) => !plannedKeys.has(key(route)))
      .map((route) => `served but not in docs/routes.tsv: ${nameOf(route)}`),
    ...served
      .filter((route) => route.operation !== names[key(route)])
      .map((route) => `is called ${route.operation}, but ${names[key(route)]} in docs/routes.tsv: ${nameOf(route)}`),
    ...served.filter((route) => !route.source).map((route) => `cites no requirement: ${nameOf(route)}`),
    ...planned
      .filter((route) => route.requirement.includes('to come') && servedKeys.has(key(route)))
      .map((route) => `served, but docs/routes.tsv says that its reference is to come: ${nameOf(route)}`),
    ...planned
      .filter((route) => DONE.includes(route.issue))
      .filter((route) => !isServed(route, servedKeys))
      .map((route) => `planned for a finished issue but not served: ${nameOf(route)}`),
  ];
}

/** What is wrong with the text of the inventory, by line. */
export function problemsOfInventory(text) {
  const [head, ...rows] = text
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'));
  const names = Object.keys(COLUMNS);
  if (head.join() !== names.join()) return [`docs/routes.tsv:1: the columns are not ${names.join(', ')}`];
  const orderOf = (row) => ['service', 'path', 'method'].map((name) => row[names.indexOf(name)]).join('\t');
  const named = rows.map((row) => row[names.indexOf('operation')]);
  return rows.flatMap((row, index) => {
    const at = `docs/routes.tsv:${index + 2}:`;
    if (row.length !== names.length) return [`${at} has ${row.length} columns`];
    const before = index === 0 ? '' : orderOf(rows[index - 1]);
    return [
      ...names
        .filter((name, column) => !COLUMNS[name].test(row[column]))
        .map((name) => `${at} ${name} does not hold "${row[names.indexOf(name)]}"`),
      ...(/^(?:spec|gap)$/.test(row[names.indexOf('tag')]) ===
      row[names.indexOf('requirement')].startsWith('requirements ')
        ? []
        : [`${at} what cites requirements is spec or gap, and nothing else is`]),
      ...(named[index] === '-' || named.indexOf(named[index]) === index ? [] : [`${at} ${named[index]} is taken`]),
      ...(orderOf(row) > before ? [] : [`${at} stands after ${before.replaceAll('\t', ' ')}`]),
    ];
  });
}

/** Fewer routes are no row of their own: they belong to the projects, groups or people that they are about. */
const ROUTES_OF_A_RESOURCE = 4;
const WIDER = { projects: 'projects', groups: 'groups', users: 'users', user: 'users' };

/** Served and planned routes by resource. Shape: rows of name, served and planned, by name. */
export function routesByResource() {
  const served = new Set(servedRoutes().map(key));
  const planned = plannedRoutes().map((route) => ({ ...resourceOf(route.path), isServed: isServed(route, served) }));
  const isOwn = (name) => planned.filter(({ noun }) => noun === name).length >= ROUTES_OF_A_RESOURCE;
  const named = planned.map(({ noun, wider, isServed: done }) => ({ name: isOwn(noun) ? noun : wider, done }));
  return [...new Set(named.map(({ name }) => name))].sort().map((resource) => {
    const routes = named.filter(({ name }) => name === resource);
    return [resource, routes.filter(({ done }) => done).length, routes.length];
  });
}

const isServed = (route, served) => served.has(key(route)) || OUTSIDE_DOCUMENTS.has(`${route.method} ${route.path}`);

/** The noun of a path, and what it is counted to where it is none: `/projects/:id/issues/:iid` is about issues. */
function resourceOf(path) {
  const [first, ...rest] = path
    .replace(/^\/api\/v4/, '')
    .split('/')
    .filter((word) => word !== '' && word !== '-');
  const within = WIDER[first] !== undefined && /^[:*]/.test(rest[0] ?? '') ? rest.slice(1) : rest;
  const wider = WIDER[first] ?? 'others';
  const noun = WIDER[first] === undefined ? first : within.find((word) => !/^[:*]/.test(word));
  return { noun: WIDER[noun] ?? noun ?? wider, wider };
}

function printRoutes(served, counts) {
  const rows = served.map((route) => [
    route.service,
    route.method,
    route.path,
    route.source ?? '-',
    counts === null ? '-' : String(testsOf(route, counts)),
  ]);
  process.stdout.write(`${['service', 'method', 'path', 'requirement', 'tests'].join('\t')}\n`);
  for (const row of rows) process.stdout.write(`${row.join('\t')}\n`);
  if (counts === null) process.stdout.write('no test has run on this machine yet: npm test counts them\n');
}

function printServices(planned, served) {
  const servedKeys = new Set(served.map(key));
  for (const service of [...new Set(planned.map((route) => route.service))].sort()) {
    const mine = planned.filter((route) => route.service === service);
    const done = mine.filter((route) => isServed(route, servedKeys));
    process.stdout.write(`${service.padEnd(14)} ${String(done.length).padStart(4)} served / ${mine.length} planned\n`);
  }
}

function main(isChecking) {
  const planned = plannedRoutes();
  const served = servedRoutes();
  if (!isChecking) printRoutes(served, testCounts());
  printServices(planned, served);
  const problems = [
    ...problemsOfInventory(readFileSync(`${root}docs/routes.tsv`, 'utf8')),
    ...problemsOf(planned, served),
  ];
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  if (isChecking && problems.length > 0) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.includes('--check'));
