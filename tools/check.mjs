#!/usr/bin/env node
/**
 * `npm run check`: everything that must hold of the sources, on a laptop as in CI. As many steps run at once as there
 * are cores. Each runs even when another failed, so that one run shows all that is wrong; the exit status is non-zero
 * when any failed. `npm run check -- --only routes,wings` runs single steps.
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
/** @param {string} name */
const binPath = (name) => `${root}node_modules/.bin/${name}`;

/**
 * The longest steps first, because they determine the total duration.
 * @type {[name: string, command: string, args: string[]][]}
 */
const STEPS = [
  ['lint', binPath('eslint'), ['.']],
  ['types', binPath('oxlint'), ['apps', 'libs']],
  ['tool-types', binPath('tsc'), ['--project', 'tools/tsconfig.json']],
  ['generated', process.execPath, ['tools/generate/gen.mjs', '--check']],
  ['cycles', binPath('depcruise'), ['--config', '.dependency-cruiser.cjs', '--output-type', 'err', 'apps', 'libs']],
  ['unused', binPath('knip'), ['--include', 'exports,types', '--no-progress', '--no-config-hints']],
  ['words', process.execPath, ['tools/checks/words.mjs', '--check']],
  ['wings', process.execPath, ['tools/checks/wings.mjs', '--check']],
  ['tables', process.execPath, ['tools/checks/table-owners.mjs', '--check']],
  ['expand-first', process.execPath, ['tools/checks/expand-first.mjs', '--check']],
  ['distribution', process.execPath, ['tools/checks/distribution.mjs']],
  ['routes', process.execPath, ['tools/checks/routes.mjs', '--check']],
  ['openapi', process.execPath, ['tools/checks/openapi-lint.mjs']],
  ['citations', process.execPath, ['tools/checks/citations.mjs']],
  ['format', binPath('oxfmt'), ['--check']],
  ['manifests', process.execPath, ['tools/checks/manifests.mjs']],
];

const { values } = parseArgs({ options: { only: { type: 'string' } } });
const only = values.only?.split(',');
const unknown = (only ?? []).filter((wanted) => !STEPS.some(([name]) => name === wanted));
if (unknown.length > 0) {
  process.stderr.write(`no step ${unknown.join(', ')}; there are ${STEPS.map(([name]) => name).join(', ')}\n`);
  process.exit(2);
}

const waiting = STEPS.filter((step) => only?.includes(step[0]) ?? true);
/** @type {string[]} */
const failed = [];
/** Steps are independent. Each prints at its end, so that outputs do not mix. */
await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    for (let step = waiting.shift(); step; step = waiting.shift()) {
      const [name, command, args] = step;
      const started = Date.now();
      const { status, output } = await runToEnd(command, args);
      const seconds = ((Date.now() - started) / 1000).toFixed(1);
      process.stdout.write(`${output}${status === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)\n`);
      if (status !== 0) failed.push(name);
    }
  }),
);
if (failed.length > 0) {
  process.stdout.write(`check: ${failed.join(', ')} failed\n`);
  process.exitCode = 1;
}

/**
 * Runs a step to its end; a program that cannot be started has failed.
 * @param {string} command
 * @param {string[]} args
 * @returns {Promise<{ status: number | null, output: string }>}
 */
function runToEnd(command, args) {
  return new Promise((resolve) => {
    /** @type {Buffer[]} */
    const parts = [];
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => parts.push(part));
    child.once('error', (error) => resolve({ status: 1, output: `${error.message}\n` }));
    child.once('close', (status) => resolve({ status, output: Buffer.concat(parts).toString() }));
  });
}
