/**
 * A run of Node's own test runner, with its results by file (repeats.mjs).
 *
 * @import { FileResult, SuiteResult } from './repeats.mjs'
 */
import { join, relative } from 'node:path';
import { run } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Runs test files one after the other, each in a separate process. Failures are printed immediately.
 * `files` are absolute paths; `only` is one of them, as a path from the root of the repository. No file starts after the
 * time `until` (epoch milliseconds); those that did not start are returned as `notRun`.
 * @param {{ files: string[], only?: string | null, until?: number | null, say?: (text: string) => void }} options
 * @returns {Promise<SuiteResult>}
 */
export async function runNodeTests({ files, only = null, until = null, say = (text) => console.error(text) }) {
  if (only)
    return runTestFiles(
      files.filter((file) => relativeNameOf(file) === only),
      say,
    );
  if (until === null) return runTestFiles(files, say);
  /** @type {Required<SuiteResult>} */
  const whole = { files: [], problem: null, notRun: [] };
  for (const file of files) {
    if (Date.now() > until) whole.notRun.push(relativeNameOf(file));
    else whole.files.push(...(await runTestFiles([file], say)).files);
  }
  return whole;
}

/**
 * @param {string[]} chosen
 * @param {(text: string) => void} say
 * @returns {Promise<SuiteResult>}
 */
async function runTestFiles(chosen, say) {
  const results = new Map(chosen.map((file) => [file, emptyResult(file)]));
  for await (const { type, data } of run({ files: chosen, concurrency: 1, timeout: 1_800_000 })) {
    // Every file reports its end, even without a result of its own.
    if (type === 'test:complete') {
      const result = results.get(data.name);
      if (result) result.seconds = data.details.duration_ms / 1000;
    }
    if (type === 'test:pass' || type === 'test:fail') recordTestReport(results, type === 'test:fail', data, say);
  }
  return { files: [...results.values()], problem: null };
}

/**
 * @param {Map<string, FileResult>} results
 * @param {boolean} hasFailed
 * @param {any} data
 * @param {(text: string) => void} say
 */
function recordTestReport(results, hasFailed, { name, file, skip, todo, details }, say) {
  const isFile = results.has(name);
  const result = results.get(isFile ? name : file);
  if (!result) throw new Error(`a test reports from a file that was not run: ${file} (${name})`);
  const { error, type } = details;
  // Suites and files are reported like tests. They count only if they fail themselves.
  if (type === 'suite' || isFile) {
    if (!hasFailed || error?.failureType === 'subtestsFailed') return;
  }
  if (!hasFailed) {
    result[skip !== undefined || todo !== undefined ? 'skipped' : 'passed'] += 1;
    return;
  }
  const message = String(error?.cause?.stack ?? error);
  result.failed += 1;
  result.failures.push({ test: isFile ? null : name, message });
  say(`FAIL ${result.file}: ${isFile ? 'could not be run' : name}: ${message}`);
}

/** @param {string} file */
const relativeNameOf = (file) => relative(ROOT, file).replaceAll('\\', '/');
/** @type {(file: string) => FileResult} */
const emptyResult = (file) => ({
  file: relativeNameOf(file),
  seconds: 0,
  passed: 0,
  failed: 0,
  skipped: 0,
  failures: [],
});
