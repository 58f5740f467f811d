/** A real run of jest whose time ends while its second spec file runs. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { runJest } from '../jest-run.mjs';
import { Report } from '../report.mjs';

const FILES = ['tools/jest/test/timed/one.spec.cjs', 'tools/jest/test/timed/two.spec.cjs'];
/** Longest time in which jest runs the first file on a busy machine. */
const FIRST_WITHIN_MS = 10_000;
const run = { config: 'tools/jest/test/timed.config.cjs', workers: 1, isQuiet: true };

it('a file that does not end in time is named as not run, and the others have their results', async () => {
  const { files, notRun = [], problem } = await runJest({ ...run, until: Date.now() + FIRST_WITHIN_MS });
  assert.equal(problem, null);
  assert.deepEqual(
    files.map(({ passed, failed }) => ({ passed, failed })),
    [{ passed: 1, failed: 0 }],
  );
  assert.deepEqual([...files.map(({ file }) => file), ...notRun].sort(), FILES);

  const report = new Report();
  report.add({ files, notRun });
  assert.equal(report.hasFailed, false);
  assert.ok(report.lines().includes(`not run, because the time was up: ${notRun[0]}`));
});

it('without a time, all files run', async () => {
  const { files, notRun } = await runJest(run);
  assert.deepEqual(files.map(({ file }) => file).sort(), FILES);
  assert.equal(notRun, undefined);
});
