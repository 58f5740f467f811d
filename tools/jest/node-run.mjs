/** A run of Node's own test runner, with its results by file (repeats.mjs tells their shape). */
import { join, relative } from 'node:path';
import { run } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Runs test files one after the other, each in a process of its own. Failures are printed as they come.
 * Shape: `files` are absolute; `only` is one of them, given from the root of the repository.
 */
export async function runNodeTests({ files, only = null, say = (text) => console.error(text) }) {
  const chosen = only ? files.filter((file) => nameOf(file) === only) : files;
  const results = new Map(chosen.map((file) => [file, emptyResult(file)]));
  for await (const { type, data } of run({ files: chosen, concurrency: 1, timeout: 1_800_000 })) {
    // A file reports its own end even when it neither passes nor fails by itself.
    if (type === 'test:complete' && results.has(data.name))
      results.get(data.name).seconds = data.details.duration_ms / 1000;
    if (type === 'test:pass' || type === 'test:fail') note(results, type === 'test:fail', data, say);
  }
  return { files: [...results.values()], problem: null };
}

function note(results, hasFailed, { name, file, skip, todo, details }, say) {
  const isFile = results.has(name);
  const result = results.get(isFile ? name : file);
  if (!result) throw new Error(`a test reports from a file that was not run: ${file} (${name})`);
  const { error, type } = details;
  // Suites and files are reported as tests are. They count only if they fail themselves.
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

const nameOf = (file) => relative(ROOT, file).replaceAll('\\', '/');
const emptyResult = (file) => ({ file: nameOf(file), seconds: 0, passed: 0, failed: 0, skipped: 0, failures: [] });
