/**
 * Stops or starts one process of the estate that `npm start` runs on this machine; the others keep working:
 *   npm run service -- stop identity      ends the process until it is started again
 *   npm run service -- start identity     migrates its database to the schema of the code, then starts the process
 */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PROCESSES } from './environment.mjs';
import { commandEstate } from './local-control.mjs';

/** @type {Record<string, string>} */
const DONE = { stop: 'stopped', start: 'started' };
const [command = '', name = '', ...more] = process.argv.slice(2);
const dataDir = resolve(process.env.ROOKERY_DATA || fileURLToPath(new URL('../../.rookery', import.meta.url)));

if (!DONE[command] || !PROCESSES.includes(name) || more.length > 0) {
  console.error(`npm run service -- stop|start ${PROCESSES.join('|')}`);
  process.exit(64);
}
try {
  const { ms } = await commandEstate(dataDir, command, name);
  console.log(`${name} ${DONE[command]} in ${(ms / 1000).toFixed(1)} s`);
} catch (error) {
  console.error(/** @type {Error} */ (error).message);
  process.exit(1);
}
