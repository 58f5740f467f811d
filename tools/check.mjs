#!/usr/bin/env node
/**
 * `npm run check`: everything that must hold of the sources, on a laptop as in CI. Each step runs even when an earlier
 * one failed, so that one run shows all that is wrong; the exit status is non-zero when any failed.
 * `npm run check -- --only routes,wings` runs single steps.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = (name) => `${root}node_modules/.bin/${name}`;

const STEPS = [
  ['format', bin('prettier'), ['--check', '--log-level', 'warn', '.']],
  ['types', bin('tsc'), ['-b', 'tsconfig.base.json']],
  ['lint', bin('eslint'), ['.', '--max-warnings', '0']],
  ['cycles', bin('depcruise'), ['--config', '.dependency-cruiser.cjs', '--output-type', 'err', 'apps', 'libs']],
  ['wings', process.execPath, ['tools/checks/wings.mjs', '--check']],
  ['tables', process.execPath, ['tools/checks/table-owners.mjs', '--check']],
  ['generated', process.execPath, ['tools/gen.mjs', '--check']],
  ['routes', process.execPath, ['tools/checks/routes.mjs', '--check']],
  ['citations', process.execPath, ['tools/checks/citations.mjs']],
  ['manifests', process.execPath, ['tools/checks/manifests.mjs']],
];

const { values } = parseArgs({ options: { only: { type: 'string' } } });
const only = values.only?.split(',') ?? STEPS.map(([name]) => name);
const unknown = only.filter((wanted) => !STEPS.some(([name]) => name === wanted));
if (unknown.length > 0) {
  process.stderr.write(`no step ${unknown.join(', ')}; there are ${STEPS.map(([name]) => name).join(', ')}\n`);
  process.exit(2);
}

const failed = [];
for (const [name, command, args] of STEPS.filter(([name]) => only.includes(name))) {
  const started = Date.now();
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  process.stdout.write(
    `${status === 0 ? 'ok    ' : 'FAILED'} ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)\n`,
  );
  if (status !== 0) failed.push(name);
}
if (failed.length > 0) {
  process.stdout.write(`check: ${failed.join(', ')} failed\n`);
  process.exitCode = 1;
}
