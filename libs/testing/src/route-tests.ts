import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { EndpointRecord } from '@rookery/api-v4';
import type { ProcessName } from '@rookery/platform';

/**
 * The folder that `npm run routes` reads. It has one file for each spec, with the content
 * `{ spec, service, tests: { "GET /groups": 7 } }`.
 */
const FOLDER = 'node_modules/.cache/rookery/route-tests';
const ROOT = resolve(__dirname, '../../..');
/** Names of tests by route. A spec file has a module registry of its own, so this is the spec's. */
const seen = new Map<string, Set<string>>();

/** Records that the running test called this endpoint. Calls before the first test are set-up and do not count. */
export function recordTestedRoute({ method, path }: Pick<EndpointRecord, 'method' | 'path'>): void {
  const test = stateOfJest()?.currentTestName;
  if (test === undefined) return;
  const route = `${method} ${path}`;
  seen.set(route, (seen.get(route) ?? new Set()).add(test));
}

/** Writes the counts of this spec for the route inventory; those of its previous run are replaced. */
export function writeRouteTestCounts(service: ProcessName): void {
  const path = stateOfJest()?.testPath;
  if (path === undefined || seen.size === 0) return;
  const spec = relative(ROOT, path).replaceAll('\\', '/');
  const tests = Object.fromEntries([...seen].map(([route, names]) => [route, names.size]));
  mkdirSync(join(ROOT, FOLDER), { recursive: true });
  writeFileSync(join(ROOT, FOLDER, `${spec.replaceAll('/', '~')}.json`), JSON.stringify({ spec, service, tests }));
}

interface JestState {
  readonly currentTestName?: string;
  readonly testPath?: string;
}

/** This library is not a spec itself, so jest's globals are looked up and not imported. */
function stateOfJest(): JestState | undefined {
  return (globalThis as { expect?: { getState?: () => JestState } }).expect?.getState?.();
}
