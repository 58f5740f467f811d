import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RouteRows } from './route';

/** The folder of package.json, so that sources and build read the same files. */
const PACKAGE = join(__dirname, '../..');
export const OPENAPI_FILE = join(PACKAGE, 'openapi.json');
export const ASYNCAPI_FILE = join(PACKAGE, 'asyncapi.json');

/** The routes as last generated. */
export function readGeneratedRoutes(): RouteRows {
  return JSON.parse(readFileSync(join(PACKAGE, 'src/routes/routes.generated.json'), 'utf8')) as RouteRows;
}
