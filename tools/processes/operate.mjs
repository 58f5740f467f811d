/**
 * Runs an operator's command of a service on the running estate:
 *   npm run dead-letters -- collaboration list|show|replay|discard …
 *   npm run new-epoch -- identity
 *   npm run lost -- collaboration list        and for a line of the list: npm run lost -- identity drop project 50
 *   npm run republish -- collaboration --from 2026-11-21T09:00:00Z
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SERVICES } from './environment.mjs';
import { readRecord } from './process-records.mjs';
import { readSecrets } from './secrets.mjs';
import { restoreEnvironment } from './inherited-environment.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const [command = '', service = '', ...words] = process.argv.slice(2);
const dataDir = process.env.ROOKERY_DATA || join(ROOT, '.rookery');

if (!SERVICES.includes(service)) {
  console.error(`Name the service first: npm run ${command} -- ${SERVICES.join('|')} …`);
  process.exit(64);
}
const environments = readRecord(join(dataDir, 'run/environments.json'));
if (!environments) {
  console.error(`No estate was started on ${dataDir}; name its folder: ROOKERY_DATA=/path npm run ${command} -- …`);
  process.exit(1);
}
let env;
try {
  env = restoreEnvironment(environments[service], readSecrets(dataDir), process.env);
} catch (error) {
  console.error(/** @type {Error} */ (error).message);
  process.exit(64);
}
const main = join(ROOT, `apps/${service}/dist/main.js`);
const { status } = spawnSync(process.execPath, [main, command, ...words], {
  env,
  stdio: 'inherit',
});
process.exit(status ?? 1);
