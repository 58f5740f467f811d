/**
 * States of the estate that runs by `npm start` on this machine; it goes on running.
 *   npm run reset                        back to the end of the first start
 *   npm run snapshot -- save <name>      keeps the present state
 *   npm run snapshot -- restore <name>   puts it back
 *   npm run snapshot -- list | delete <name>
 */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandEstate } from './local-control.mjs';

const DONE = { reset: 'reset', save: 'saved', restore: 'restored', delete: 'deleted' };
const USAGE = 'npm run reset, or npm run snapshot -- save <name> | restore <name> | delete <name> | list';
const [command, name, ...more] = process.argv.slice(2);
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
  console.error(error.message);
  process.exit(1);
}
