#!/usr/bin/env node
/**
 * Route inventory: what docs/routes.tsv plans, and what the services' OpenAPI documents serve.
 * `npm run routes` prints served / planned per service; `--check` fails when a route is served that the inventory does
 * not know, when the inventory calls an issue done whose route is missing, or when a served route cites no requirement.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Issues whose routes must all be served. */
const DONE = ['foundation'];
/** Served by the gateway itself or on a management port, so in no OpenAPI document of a service. */
const OUTSIDE_DOCUMENTS = new Set(['GET //-/health/live', 'GET //-/health/ready', 'GET //-/metrics']);

const shapeOf = (path) =>
  path
    .replace(/^\/api\/v4/, '')
    .replace(/^\/\//, '/')
    .replace(/\{[^}]+\}|:[a-z_]+/gi, ':');

export function plannedRoutes() {
  const [head, ...lines] = readFileSync(`${root}docs/routes.tsv`, 'utf8').trim().split('\n');
  const names = head.split('\t');
  return lines.map((line) => Object.fromEntries(line.split('\t').map((value, index) => [names[index], value])));
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
        source: operation['x-rookery-source'] ?? null,
      })),
  );
}

function main() {
  const planned = plannedRoutes();
  const served = servedRoutes();
  const key = (route) => `${route.method} ${shapeOf(route.path)}`;
  const servedKeys = new Set(served.map(key));
  const plannedKeys = new Set(planned.map(key));
  const services = [...new Set(planned.map((route) => route.service))].sort();

  const rows = services.map((service) => {
    const mine = planned.filter((route) => route.service === service);
    const done = mine.filter(
      (route) => servedKeys.has(key(route)) || OUTSIDE_DOCUMENTS.has(`${route.method} ${route.path}`),
    );
    return { service, served: done.length, planned: mine.length };
  });
  for (const row of rows)
    process.stdout.write(
      `${row.service.padEnd(14)} ${String(row.served).padStart(4)} served / ${row.planned} planned\n`,
    );

  const problems = [
    ...served
      .filter((route) => !plannedKeys.has(key(route)))
      .map((route) => `served but not in docs/routes.tsv: ${route.service} ${key(route)}`),
    ...served.filter((route) => !route.source).map((route) => `cites no requirement: ${route.service} ${key(route)}`),
    ...planned
      .filter((route) => DONE.includes(route.issue))
      .filter((route) => !servedKeys.has(key(route)) && !OUTSIDE_DOCUMENTS.has(`${route.method} ${route.path}`))
      .map((route) => `planned for a finished issue but not served: ${route.service} ${route.method} ${route.path}`),
  ];
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  if (process.argv.includes('--check') && problems.length > 0) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
