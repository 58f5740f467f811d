/** Spec files share a worker, its realm and its packages, but not their changes. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

it('a spec file finds no changes of the previous one in the same worker', () => {
  const jest = ['node_modules/jest/bin/jest.js', '-c', 'tools/jest/test/jest.config.cjs', '--runInBand', '--json'];
  const { stdout, stderr } = spawnSync(process.execPath, jest, { cwd: ROOT, encoding: 'utf8' });
  const { numPassedTests, numTotalTests, numTotalTestSuites } = JSON.parse(stdout);
  assert.deepEqual(
    { numPassedTests, numTotalTests, numTotalTestSuites },
    { numPassedTests: 4, numTotalTests: 4, numTotalTestSuites: 2 },
    stderr,
  );
});
