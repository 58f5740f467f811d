#!/usr/bin/env node
/**
 * `npm run check`: everything that must hold of the sources, on a laptop as in CI. Each step runs even when an earlier
 * one failed, so that one run shows all that is wrong; the exit status is non-zero when any failed.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = (name) => `${root}node_modules/.bin/${name}`;

const STEPS = [
  ['format', bin('prettier'), ['--check', '--log-level', 'warn', '.']],
  ['types', bin('tsc'), ['-b', 'tsconfig.base.json']],
  ['lint and boundaries', bin('eslint'), ['.', '--max-warnings', '0']],
  ['room cycles', bin('depcruise'), ['--config', '.dependency-cruiser.cjs', '--output-type', 'err', 'apps', 'libs']],
  ['generated files', process.execPath, ['tools/gen.mjs', '--check']],
  ['routes', process.execPath, ['tools/checks/routes.mjs', '--check']],
  ['manifests', process.execPath, ['tools/checks/manifests.mjs']],
];

const failed = [];
for (const [name, command, args] of STEPS) {
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
