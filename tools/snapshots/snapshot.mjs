/**
 * Saves and restores states of the estate that `npm start` runs on this machine, while it runs:
 *   npm run reset                        restores the state after the first start
 *   npm run snapshot -- save <name>      saves the current state
 *   npm run snapshot -- restore <name>   restores it
 *   npm run snapshot -- list | delete <name>
 */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandEstate } from '../processes/local-control.mjs';

/** @type {Record<string, string>} */
const DONE = { reset: 'reset', save: 'saved', restore: 'restored', delete: 'deleted' };
const USAGE = 'npm run reset, or npm run snapshot -- save <name> | restore <name> | delete <name> | list';
const [command = '', name, ...more] = process.argv.slice(2);
const dataDir = resolve(process.env.ROOKERY_DATA || fileURLToPath(new URL('../../.rookery', import.meta.url)));
const takesName = ['save', 'restore', 'delete'].includes(command);

if ((!DONE[command] && command !== 'list') || more.length > 0 || takesName !== (name !== undefined)) {
  console.error(USAGE);
  process.exit(64);
}
try {
  const { ms, found } = await commandEstate(dataDir, command, name);
  if (command === 'list') for (const one of found ?? []) console.log(`${one.savedAt}  ${one.name}`);
  else console.log(`${DONE[command]}${name ? ` ${name}` : ''} in ${(ms / 1000).toFixed(1)} s`);
} catch (error) {
  console.error(/** @type {Error} */ (error).message);
  process.exit(1);
}
