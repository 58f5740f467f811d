/**
 * One process of the estate that runs by `npm start` on this machine, while the others work on:
 *   npm run service -- stop identity      it ends, and stays away
 *   npm run service -- start identity     its database is brought to the schema of the code, then it begins
 */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PROCESSES } from './environment.mjs';
import { commandEstate } from './local-control.mjs';

const DONE = { stop: 'stopped', start: 'started' };
const [command, name, ...more] = process.argv.slice(2);
const dataDir = resolve(process.env.ROOKERY_DATA || fileURLToPath(new URL('../../.rookery', import.meta.url)));

if (!DONE[command] || !PROCESSES.includes(name) || more.length > 0) {
  console.error(`npm run service -- stop|start ${PROCESSES.join('|')}`);
  process.exit(64);
}
try {
  const { ms } = await commandEstate(dataDir, command, name);
  console.log(`${name} ${DONE[command]} in ${(ms / 1000).toFixed(1)} s`);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
