/**
 * The development loop of `npm run dev`: rebuilds changed sources and restarts the processes that use them.
 *
 *   npm run dev                              all six processes
 *   npm run dev -- package identity          only these; the others keep the code that they started with
 *   npm run dev -- --inspect package         the same as `npm run dev`, with the Node inspector in one process
 */
import { watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from './build.mjs';
import { PROCESSES } from './environment.mjs';

/**
 * @typedef {import('./estate.mjs').Estate} Estate
 * @typedef {(text: string) => void} Say
 * @typedef {{ names: readonly string[], inspected: string | null }} DevelopmentOptions
 */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Editors write a file in several steps, and formatters write many files. */
const SETTLE_MS = 150;
const INSPECTOR = '127.0.0.1:9229';

/**
 * Reads the arguments of `npm run dev`. Returns the `names` of the processes to restart, and the `inspected` process
 * with the inspector or null. Errors: an Error with the usage for an unknown process or option.
 * @param {string[]} args
 * @returns {DevelopmentOptions}
 */
export function developmentOptions(args) {
  const usage = `npm run dev -- [--inspect NAME] [NAME ...]; names: ${PROCESSES.join(', ')}`;
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { inspect: { type: 'string' } },
    });
    const unknown = [...positionals, ...(values.inspect === undefined ? [] : [values.inspect])].find(
      (name) => !PROCESSES.includes(name),
    );
    if (unknown !== undefined) throw new Error(`There is no process "${unknown}"`);
    return { names: positionals.length > 0 ? positionals : PROCESSES, inspected: values.inspect ?? null };
  } catch (error) {
    throw new Error(`${/** @type {Error} */ (error).message}\n${usage}`, { cause: error });
  }
}

/**
 * Names of the processes that run a source file: one for a file of an app, all for a file of a library.
 * @param {string} file
 */
export function processesOf(file) {
  const [kind, name] = file.split('/');
  return kind === 'apps' ? PROCESSES.filter((process) => process === name) : PROCESSES;
}

/**
 * Watches the sources of a running estate until the program ends. `say` prints a line. A source that does not compile and a
 * process that does not start are reported; the next change is tried again.
 * @param {Estate} estate
 * @param {DevelopmentOptions} options
 * @param {Say} say
 */
export async function watchSourcesAndRestart(estate, { names, inspected }, say) {
  if (inspected) {
    const process = estate.processes[inspected];
    if (!process) throw new Error(`${inspected} does not run`);
    process.env = { ...process.env, NODE_OPTIONS: `--inspect=${INSPECTOR}` };
    await restart(estate, [inspected], say);
    say(`${inspected} has its inspector on ${INSPECTOR}`);
  }
  let [changed, notify] = createChangeSignal();
  for (const folder of ['apps', 'libs'])
    watch(join(ROOT, folder), { recursive: true }, (_, file) => isCompiledSourceFile(file) && notify());
  say(`watching the sources of ${names.join(', ')}`);
  for (;;) {
    await changed;
    await delay(SETTLE_MS);
    [changed, notify] = createChangeSignal();
    await rebuildAndRestartServices(estate, names, say);
  }
}

/** @returns {[changed: Promise<void>, notify: () => void]} */
function createChangeSignal() {
  let notify = () => {};
  const changed = new Promise((resolve) => (notify = () => resolve(undefined)));
  return [changed, notify];
}

/** @param {string | null} file */
function isCompiledSourceFile(file) {
  return file !== null && /^[^/]+\/src\//.test(file) && !/(\.spec|-spec)\.ts$/.test(file);
}

/**
 * @param {Estate} estate
 * @param {readonly string[]} names
 * @param {Say} say
 */
async function rebuildAndRestartServices(estate, names, say) {
  try {
    const { changed } = await build();
    const affected = names.filter((name) => changed.some((file) => processesOf(file).includes(name)));
    if (changed.length > 0) say(`${changed.length} files built`);
    await restart(estate, affected, say);
  } catch (error) {
    console.error(/** @type {Error} */ (error).message);
  }
}

/**
 * @param {Estate} estate
 * @param {readonly string[]} names
 * @param {Say} say
 */
async function restart(estate, names, say) {
  for (const name of names) {
    await estate.stopService(name);
    await estate.startService(name);
    say(`${name} restarted`);
  }
}
