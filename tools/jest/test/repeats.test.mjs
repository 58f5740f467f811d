/**
 * Real runs of both runners with small spec files that fail once, fail always or cannot be loaded.
 *
 * @import { FileResult, Suite } from '../repeats.mjs'
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { flakyLine, MOST_FLAKY, MOST_REPEATED, repeatFailed } from '../repeats.mjs';
import { Report } from '../report.mjs';

const RUN = fileURLToPath(new URL('failing/run.mjs', import.meta.url));
const FOLDER = 'tools/jest/test/failing';

/**
 * Runs a suite with its repeats in another process, because Node's runner refuses to run inside a test.
 * @param {string} runner
 * @returns {{ suite: Suite & { repeated: Record<string, string[]>, flaky: FileResult[] }, messages: string[] }}
 */
function runOf(runner) {
  const marks = mkdtempSync(join(tmpdir(), 'rookery-repeats-'));
  const { NODE_TEST_CONTEXT, ...env } = process.env;
  try {
    const words = [RUN, runner];
    const { stdout, stderr } = spawnSync(process.execPath, words, {
      env: { ...env, FAILING_MARKS: marks },
      encoding: 'utf8',
      timeout: 300_000,
    });
    assert.notEqual(stdout, '', stderr);
    return JSON.parse(stdout);
  } finally {
    rmSync(marks, { recursive: true });
  }
}

/** @param {Suite} suite */
const countsOf = ({ files }) =>
  Object.fromEntries(files.map(({ file, passed, failed, skipped }) => [file, [passed, failed, skipped]]));

describe('jest', () => {
  const { suite, messages } = runOf('jest');
  /** @param {string} name */
  const file = (name) => `${FOLDER}/${name}.spec.cjs`;

  it('counts the second result of each failed file, with passed, failed and skipped tests', () => {
    assert.deepEqual(countsOf(suite), {
      [file('fails-once')]: [2, 0, 0],
      [file('loads-the-second-time')]: [1, 0, 0],
      [file('fails-always')]: [1, 1, 0],
      [file('never-loads')]: [0, 1, 0],
      [file('last-hook-fails')]: [1, 1, 0],
      [file('passes')]: [1, 0, 1],
    });
    assert.equal(suite.problem, null);
  });

  it('lists the files that passed on the repeat with the first failure', () => {
    assert.deepEqual(suite.flaky.map(flakyLine).sort(), [
      `flaky: ${file('fails-once')}: a file fails the first time: Error: expect(received).toBe(expected) // Object.is equality | Expected: 2 | Received: 1`,
      `flaky: ${file('loads-the-second-time')}: could not be loaded: not loaded the first time`,
    ]);
  });

  it('repeats each failed file once, alone', () => {
    const failed = ['fails-always', 'fails-once', 'last-hook-fails', 'loads-the-second-time', 'never-loads'];
    assert.deepEqual(
      [...messages].sort(),
      failed.map((name) => `repeating ${file(name)}, which failed`),
    );
    for (const name of failed) assert.deepEqual(suite.repeated[file(name)], [file(name)]);
  });

  it('reports the duration of each file that could be loaded', () => {
    const result = suite.files.find((one) => one.file === file('fails-once'));
    assert.ok((result?.seconds ?? 0) > 0);
  });
});

describe('Node’s runner', () => {
  const { suite } = runOf('node');
  /** @param {string} name */
  const file = (name) => `${FOLDER}/${name}.mjs`;

  it('counts the second result of each failed file', () => {
    assert.deepEqual(countsOf(suite), {
      [file('fails-once')]: [2, 0, 1],
      [file('fails-always')]: [1, 1, 0],
      [file('never-loads')]: [0, 1, 0],
    });
    for (const { seconds } of suite.files) assert.ok(seconds > 0);
  });

  it('repeats each failed file alone', () => {
    for (const name of ['fails-once', 'fails-always', 'never-loads'])
      assert.deepEqual(suite.repeated[file(name)], [file(name)]);
  });

  it('lists the flaky file by its test', () => {
    const [line = '', ...others] = suite.flaky.map(flakyLine);
    assert.match(line, /^flaky: tools\/jest\/test\/failing\/fails-once\.mjs: fails the first time: .*1 !== 2/);
    assert.deepEqual(others, []);
  });
});

describe('repeats', () => {
  /** @type {(name: string) => FileResult} */
  const failing = (name) => ({
    file: name,
    seconds: 1,
    passed: 0,
    failed: 1,
    skipped: 0,
    failures: [{ test: 't', message: 'm' }],
  });
  /** @type {(name: string) => FileResult} */
  const passing = (name) => ({ ...failing(name), passed: 1, failed: 0, failures: [] });
  /** @param {number} count */
  const names = (count) => Array.from({ length: count }, (_, at) => `${at}.spec.ts`);

  it('are skipped when too many files failed', async () => {
    const run = () => assert.fail('repeated');
    /** @type {Suite[]} */
    const suites = [{ run, files: names(MOST_REPEATED + 1).map(failing), problem: null }];
    await repeatFailed(suites);
    assert.deepEqual([suites[0]?.flaky, suites[0]?.files.every(({ failed }) => failed === 1)], [[], true]);
  });

  it('leave a file failed when its repeat throws, ends with a problem or runs no test', async () => {
    /** @type {Suite['run'][]} */
    const outcomes = [
      async () => Promise.reject(new Error('no estate')),
      async (file) => ({ files: [passing(file)], problem: 'jest ended with status 1' }),
      async (file) => ({ files: [{ ...passing(file), passed: 0 }], problem: null }),
      async () => ({ files: [], problem: null }),
    ];
    /** @type {Suite[]} */
    const suites = outcomes.map((run) => ({ run, files: [failing('a.spec.ts')], problem: null }));
    await repeatFailed(suites);
    for (const { files, flaky } of suites) assert.deepEqual([files[0]?.failed, flaky], [1, []]);
  });

  for (const { count, outcome } of [
    { count: MOST_FLAKY, outcome: `${MOST_FLAKY} passed, 0 failed, 0 skipped` },
    { count: MOST_FLAKY + 1, outcome: `${MOST_FLAKY + 1} passed, 1 failed, 0 skipped` },
  ])
    it(`of ${count} flaky files end in "${outcome}"`, async () => {
      /** @type {Suite['run']} */
      const run = async (file) => ({ files: [passing(file)], problem: null });
      /** @type {Suite} */
      const suite = { run, files: names(count).map(failing), problem: null };
      await repeatFailed([suite]);
      const report = new Report();
      report.add(suite);
      const lines = report.lines();
      assert.equal(lines.at(-1), outcome);
      assert.equal(lines.filter((line) => line.startsWith('flaky: ')).length, count);
      assert.equal(report.hasFailed, count > MOST_FLAKY);
    });
});

describe('the report', () => {
  /** @type {(name: string, seconds: number) => FileResult} */
  const file = (name, seconds) => ({ file: name, seconds, passed: 1, failed: 0, skipped: 0, failures: [] });

  it('lists the ten slowest files of all suites, the slowest first', () => {
    const report = new Report();
    report.add({ files: Array.from({ length: 8 }, (_, at) => file(`a${at}`, at)) });
    report.add({ files: Array.from({ length: 8 }, (_, at) => file(`b${at}`, at + 0.5)) });
    const slow = report.lines().filter((line) => line.startsWith('slow: '));
    assert.equal(slow.length, 10);
    assert.deepEqual(slow.slice(0, 3), ['slow: b7: 7.5 s', 'slow: a7: 7.0 s', 'slow: b6: 6.5 s']);
    assert.equal(slow.at(-1), 'slow: a3: 3.0 s');
  });

  it('lists failed tests right before the totals', () => {
    const failures = [{ test: 'adds', message: 'Error: 1 !== 2\n    at add (sum.ts:1:1)' }];
    const report = new Report();
    report.add({ files: [file('a', 1), { ...file('b', 1), failed: 1, failures }], notRun: ['c'] });
    assert.deepEqual(report.lines().slice(-2), ['failed: b: adds: Error: 1 !== 2', '2 passed, 1 failed, 0 skipped']);
  });

  it('has a line for each phase, also for one that failed', async () => {
    const report = new Report();
    await report.timed('build', async () => {});
    await assert.rejects(report.timed('jest', () => Promise.reject(new Error('no server'))));
    const phases = report.lines().filter((line) => line.startsWith('phase '));
    assert.deepEqual(
      phases.map((line) => line.split(':')[0]),
      ['phase build', 'phase jest'],
    );
  });

  it('counts a suite that could not run as failed, with the reason', () => {
    const report = new Report();
    report.add({ files: [file('a', 1)], problem: 'jest wrote no result' });
    assert.deepEqual(report.lines().slice(-2), ['jest wrote no result', '1 passed, 1 failed, 0 skipped']);
    assert.ok(report.hasFailed);
  });

  it('fails with npm run check, but its totals count only tests', () => {
    const report = new Report();
    report.count('passed');
    assert.ok(!report.hasFailed);
    report.checkFailed(2);
    assert.ok(report.hasFailed);
    assert.deepEqual(report.lines().slice(-2), ['npm run check failed with status 2', '1 passed, 0 failed, 0 skipped']);
  });
});
