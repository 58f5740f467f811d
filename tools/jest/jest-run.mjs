/**
 * A jest run in a separate process, with its results by spec file (repeats.mjs).
 *
 * @import { FileResult, SuiteResult } from './repeats.mjs'
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const RESULTS = join(ROOT, 'node_modules/.cache/rookery');
const ONE_FILE = join(ROOT, 'tools/jest/one-file.cjs');
let count = 0;

/**
 * Runs jest over the spec files of a configuration.
 * `words` are passed to jest unchanged; `only` narrows their selection to one file, as a path from the root of the
 * repository. jest's report goes to stderr. `isQuiet` hides it. `program` is the Node that runs jest. At the time `until`
 * (epoch milliseconds) the run ends, and the files without a result are returned as `notRun`.
 * @param {{ config: string, workers: number, words?: string[], env?: Record<string, string>, only?: string | null,
 *   isQuiet?: boolean, program?: string, until?: number | null }} options
 * @returns {Promise<SuiteResult>}
 */
export async function runJest({
  config,
  workers,
  words = [],
  env = {},
  only = null,
  isQuiet = false,
  program = process.execPath,
  until = null,
}) {
  mkdirSync(RESULTS, { recursive: true });
  const output = join(RESULTS, `jest-${process.pid}-${++count}.json`);
  const list = `${output}.list`;
  const about = ['-c', join(ROOT, config), '-w', String(only ? 1 : workers), '--passWithNoTests'];
  const alone = only ? ['--filter', ONE_FILE] : [];
  const status = await runToEnd(
    program,
    [join(ROOT, 'node_modules/jest/bin/jest.js'), ...about, '--json', `--outputFile=${output}`, ...alone, ...words],
    {
      ...env,
      ...(only ? { TEST_ONLY_FILE: join(ROOT, only) } : {}),
      ...(until === null || only ? {} : { TEST_UNTIL: String(until), TEST_LIST: list }),
    },
    isQuiet,
  );
  if (!existsSync(output)) return { files: [], problem: `jest ended with status ${status} and wrote no result` };
  const result = JSON.parse(readFileSync(output, 'utf8'));
  rmSync(output);
  /** @type {FileResult[]} */
  const files = result.testResults.map(toFileResult);
  const known = new Set(files.map(({ file }) => file));
  /** @type {string[]} */
  const wanted = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : [];
  rmSync(list, { force: true });
  const notRun = wanted.filter((file) => !known.has(file));
  const isUnexplained = status !== 0 && result.success && notRun.length === 0;
  return {
    files,
    problem: isUnexplained ? `jest ended with status ${status}, though every test passed` : null,
    ...(notRun.length > 0 ? { notRun } : {}),
  };
}

/**
 * Runs a process until it ends. With --json, jest also prints its result to stdout, so stdout is ignored.
 * @param {string} program
 * @param {string[]} words
 * @param {Record<string, string>} env
 * @param {boolean} isQuiet
 * @returns {Promise<number>}
 */
function runToEnd(program, words, env, isQuiet) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', isQuiet ? 'ignore' : 'inherit'],
    });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

/**
 * @param {import('@jest/test-result').FormattedTestResult} result
 * @returns {FileResult}
 */
function toFileResult({ name, status, message, startTime, endTime, assertionResults }) {
  /** @param {...string} wanted */
  const having = (...wanted) => assertionResults.filter((one) => wanted.includes(one.status));
  /** @type {FileResult['failures']} */
  const failures = having('failed').map((one) => ({
    test: one.fullName,
    message: (one.failureMessages ?? []).join('\n'),
  }));
  // A file that could not be loaded, or whose last hook failed, has no failed test.
  if (status === 'failed' && failures.length === 0) failures.push({ test: null, message });
  return {
    file: relative(ROOT, name).replaceAll('\\', '/'),
    seconds: Math.max(0, endTime - startTime) / 1000,
    passed: having('passed').length,
    failed: failures.length,
    skipped: having('pending', 'skipped', 'todo', 'disabled').length,
    failures,
  };
}
