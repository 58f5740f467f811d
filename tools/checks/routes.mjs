#!/usr/bin/env node
/**
 * Route inventory: planned routes of docs/routes.tsv, served routes of the services' OpenAPI documents, and numbers of tests
 * that call them. `npm run routes` prints every served route with its requirement and the tests of the last run of each
 * spec, then served / planned per service. `--check` fails if a served route is missing in the inventory, cites no
 * requirement or has another name, if a route of a finished issue is not served, or if a row of the inventory is out of order
 * or has an invalid value (docs/reference/README.md). `npm test` ends with a check for served routes that no test called.
 *
 * @typedef {{ method: string, path: string }} MethodAndPath
 * @typedef {MethodAndPath & { service: string, issue: string, tag: string, operation: string, requirement: string }} PlannedRoute
 * @typedef {MethodAndPath & { service: string, aliasOf: string | null, source: string | null, operation: string }} ServedRoute
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Issues whose routes must all be served. */
const DONE = ['foundation', 'identity'];
/** Routes of the gateway itself or of management ports, which are in no OpenAPI document of a service. */
const OUTSIDE_DOCUMENTS = new Set(['GET //-/health/live', 'GET //-/health/ready', 'GET //-/metrics']);
/** Folder with records of specs, see libs/testing/src/route-tests.ts. */
const ROUTE_TESTS = `${root}node_modules/.cache/rookery/route-tests/`;

/**
 * Valid values of the columns of docs/routes.tsv. `auth` and `note` are free; citations.mjs checks `requirement`.
 * @type {Record<string, RegExp>}
 */
const COLUMNS = {
  service: /^(?:admin|collaboration|gateway|identity|import|package)$/,
  issue: /^(?:activity|administration|foundation|identity|imports|operations|packages|repositories|work-tracking)$/,
  tag: /^(?:spec|gap|base|extra)$/,
  method: /^(?:GET|HEAD|POST|PUT|PATCH|DELETE)$/,
  path: /^\/\S+$/,
  operation: /^(?:-|[a-z][A-Za-z]+)$/,
  success: /^(?:2\d\d|302)$/,
  auth: /\S/,
  paging: /^(?:-|offset|keyset)$/,
  requirement: /\S/,
  note: /\S/,
};

/** @param {string} path */
const pathShapeOf = (path) =>
  path
    .replace(/^\/api\/v4/, '')
    .replace(/^\/\//, '/')
    .replace(/\{[^}]+\}|[:*][a-z_]\w*/gi, ':');

/** @param {MethodAndPath} route */
const routeKey = (route) => `${route.method} ${pathShapeOf(route.path)}`;

/** @returns {PlannedRoute[]} */
export function plannedRoutes() {
  const [head = '', ...lines] = readFileSync(`${root}docs/routes.tsv`, 'utf8').trim().split('\n');
  const names = head.split('\t');
  return lines.map(
    (line) =>
      /** @type {PlannedRoute} */ (Object.fromEntries(line.split('\t').map((value, index) => [names[index], value]))),
  );
}

/**
 * Names of operations in generated clients, by `GET /groups/:`.
 * @returns {Record<string, string>}
 */
export function operationNames() {
  const named = plannedRoutes().filter(({ operation }) => operation !== '-');
  return Object.fromEntries(named.map((route) => [routeKey(route), route.operation]));
}

/** @returns {ServedRoute[]} */
export function servedRoutes() {
  const services = ['identity', 'collaboration', 'import', 'package', 'admin'].flatMap(routesOf);
  // The gateway's document describes the whole API; its own routes are those that no service has.
  const known = new Set(services.map((route) => `${route.method} ${route.path}`));
  return [...services, ...routesOf('gateway').filter((route) => !known.has(`${route.method} ${route.path}`))];
}

/**
 * @param {string} service
 * @returns {ServedRoute[]}
 */
function routesOf(service) {
  const file = `${root}apps/${service}/openapi.json`;
  if (!existsSync(file)) return [];
  /** @type {{ paths?: Record<string, Record<string, any>> }} */
  const document = JSON.parse(readFileSync(file, 'utf8'));
  return Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => ['get', 'post', 'put', 'patch', 'delete'].includes(method))
      .map(([method, operation]) => ({
        service,
        method: method.toUpperCase(),
        path,
        // An alias is another path of the same endpoint.
        aliasOf: operation['x-rookery-alias-of'] ?? null,
        source: operation['x-rookery-source'] ?? null,
        operation: operation.operationId,
      })),
  );
}

/**
 * Numbers of tests by route, in the last run of every existing spec; null if none has run on this machine.
 * @returns {Map<string, number> | null}
 */
export function routeTestCounts() {
  if (!existsSync(ROUTE_TESTS)) return null;
  const counts = new Map();
  for (const name of readdirSync(ROUTE_TESTS)) {
    /** @type {{ spec: string, tests: Record<string, number> }} */
    const { spec, tests } = JSON.parse(readFileSync(`${ROUTE_TESTS}${name}`, 'utf8'));
    if (!existsSync(`${root}${spec}`)) continue;
    for (const [route, count] of Object.entries(tests)) {
      const [method = '', path = ''] = route.split(' ');
      counts.set(routeKey({ method, path }), (counts.get(routeKey({ method, path })) ?? 0) + count);
    }
  }
  return counts;
}

/** Served routes that no test has called. */
export function untestedRoutes() {
  const counts = routeTestCounts() ?? new Map();
  return servedRoutes()
    .filter((route) => testCountOf(route, counts) === 0)
    .map(describeRoute);
}

/** @type {(route: ServedRoute, counts: Map<string, number>) => number} */
const testCountOf = (route, counts) => counts.get(routeKey({ ...route, path: route.aliasOf ?? route.path })) ?? 0;
/** @param {MethodAndPath & { service: string }} route */
const describeRoute = (route) => `${route.service} ${route.method} ${route.path}`;

/**
 * @param {PlannedRoute[]} planned
 * @param {ServedRoute[]} served
 */
function findRouteProblems(planned, served) {
  const servedKeys = new Set(served.map(routeKey));
  const plannedKeys = new Set(planned.map(routeKey));
  const names = Object.fromEntries(planned.map((route) => [routeKey(route), route.operation]));
  return [
    ...served
      .filter((route) => !plannedKeys.has(routeKey(route)))
      .map((route) => `served but not in docs/routes.tsv: ${describeRoute(route)}`),
    ...served
      .filter((route) => route.operation !== names[routeKey(route)])
      .map(
        (route) =>
          `is named ${route.operation}, but ${names[routeKey(route)]} in docs/routes.tsv: ${describeRoute(route)}`,
      ),
    ...served.filter((route) => !route.source).map((route) => `cites no requirement: ${describeRoute(route)}`),
    ...planned
      .filter((route) => route.requirement.includes('to come') && servedKeys.has(routeKey(route)))
      .map((route) => `served, but its requirement in docs/routes.tsv is still "to come": ${describeRoute(route)}`),
    ...planned
      .filter((route) => DONE.includes(route.issue))
      .filter((route) => !isServed(route, servedKeys))
      .map((route) => `planned for a finished issue but not served: ${describeRoute(route)}`),
  ];
}

/**
 * Problems of the text of the inventory, by line.
 * @param {string} text
 */
export function routeInventoryProblems(text) {
  const [head = [], ...rows] = text
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'));
  const names = Object.keys(COLUMNS);
  if (head.join() !== names.join()) return [`docs/routes.tsv:1: the columns are not ${names.join(', ')}`];
  /** @type {(row: string[], name: string) => string} */
  const valueOf = (row, name) => row[names.indexOf(name)] ?? '';
  /** @param {string[]} row */
  const orderOf = (row) => ['service', 'path', 'method'].map((name) => valueOf(row, name)).join('\t');
  const named = rows.map((row) => valueOf(row, 'operation'));
  return rows.flatMap((row, index) => {
    const at = `docs/routes.tsv:${index + 2}:`;
    if (row.length !== names.length) return [`${at} has ${row.length} columns`];
    const before = index === 0 ? '' : orderOf(rows[index - 1] ?? []);
    return [
      ...names
        .filter((name) => !COLUMNS[name]?.test(valueOf(row, name)))
        .map((name) => `${at} "${valueOf(row, name)}" is no valid ${name}`),
      ...(/^(?:spec|gap)$/.test(valueOf(row, 'tag')) === valueOf(row, 'requirement').startsWith('requirements ')
        ? []
        : [`${at} routes that cite requirements have the tag spec or gap, and no other routes have it`]),
      ...(named[index] === '-' || named.indexOf(named[index] ?? '') === index
        ? []
        : [`${at} ${named[index]} is taken`]),
      ...(orderOf(row) > before ? [] : [`${at} is out of order after ${before.replaceAll('\t', ' ')}`]),
    ];
  });
}

/** A resource with fewer routes has no row of its own; its routes count as those of projects, groups or users. */
const ROUTES_OF_A_RESOURCE = 4;
/** @type {Record<string, string>} */
const WIDER = { projects: 'projects', groups: 'groups', users: 'users', user: 'users' };

/**
 * Numbers of served and planned routes by resource, sorted by name.
 * @returns {[name: string, served: number, planned: number][]}
 */
export function routesByResource() {
  const served = new Set(servedRoutes().map(routeKey));
  const planned = plannedRoutes().map((route) => ({ ...nounOfPath(route.path), isServed: isServed(route, served) }));
  /** @param {string} name */
  const isOwn = (name) => planned.filter(({ noun }) => noun === name).length >= ROUTES_OF_A_RESOURCE;
  const named = planned.map(({ noun, wider, isServed: done }) => ({ name: isOwn(noun) ? noun : wider, done }));
  return [...new Set(named.map(({ name }) => name))].sort().map((resource) => {
    const routes = named.filter(({ name }) => name === resource);
    return [resource, routes.filter(({ done }) => done).length, routes.length];
  });
}

/** @type {(route: MethodAndPath, served: Set<string>) => boolean} */
const isServed = (route, served) =>
  served.has(routeKey(route)) || OUTSIDE_DOCUMENTS.has(`${route.method} ${route.path}`);

/**
 * The noun of a path, and the wider resource that a small noun counts as: `/projects/:id/issues/:iid` is about issues.
 * @param {string} path
 */
function nounOfPath(path) {
  const [first = '', ...rest] = path
    .replace(/^\/api\/v4/, '')
    .split('/')
    .filter((word) => word !== '' && word !== '-');
  const within = WIDER[first] !== undefined && /^[:*]/.test(rest[0] ?? '') ? rest.slice(1) : rest;
  const wider = WIDER[first] ?? 'others';
  const noun = WIDER[first] === undefined ? first : within.find((word) => !/^[:*]/.test(word));
  return { noun: WIDER[noun ?? ''] ?? noun ?? wider, wider };
}

/**
 * @param {ServedRoute[]} served
 * @param {Map<string, number> | null} counts
 */
function printRoutes(served, counts) {
  const rows = served.map((route) => [
    route.service,
    route.method,
    route.path,
    route.source ?? '-',
    counts === null ? '-' : String(testCountOf(route, counts)),
  ]);
  process.stdout.write(`${['service', 'method', 'path', 'requirement', 'tests'].join('\t')}\n`);
  for (const row of rows) process.stdout.write(`${row.join('\t')}\n`);
  if (counts === null) process.stdout.write('no test has run on this machine yet: npm test counts them\n');
}

/**
 * @param {PlannedRoute[]} planned
 * @param {ServedRoute[]} served
 */
function printServedCounts(planned, served) {
  const servedKeys = new Set(served.map(routeKey));
  for (const service of [...new Set(planned.map((route) => route.service))].sort()) {
    const mine = planned.filter((route) => route.service === service);
    const done = mine.filter((route) => isServed(route, servedKeys));
    process.stdout.write(`${service.padEnd(14)} ${String(done.length).padStart(4)} served / ${mine.length} planned\n`);
  }
}

/** @param {boolean} isChecking */
function main(isChecking) {
  const planned = plannedRoutes();
  const served = servedRoutes();
  if (!isChecking) printRoutes(served, routeTestCounts());
  printServedCounts(planned, served);
  const problems = [
    ...routeInventoryProblems(readFileSync(`${root}docs/routes.tsv`, 'utf8')),
    ...findRouteProblems(planned, served),
  ];
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  if (isChecking && problems.length > 0) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.includes('--check'));
