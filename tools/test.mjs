#!/usr/bin/env node
/**
 * `npm test`: prepares like `npm start`, then runs every suite: unit, database, API and contract specs in one jest run,
 * the estate's own tests, and the journeys through the gateway against a started estate.
 *
 *   node tools/test.mjs [--with-check] [--minutes 60] [--only unit|db|api|contract|e2e|estate|model] [--layout six|one]
 *     [words for jest]
 *
 * Journeys wait more than they compute, so jest runs at the same time. Failed spec files are repeated once, alone, after
 * everything else (tools/jest/repeats.mjs). `--with-check` runs `npm run check` too. `--minutes` ends the suites after
 * that time: recent work is tested first (tools/jest/spec-order.cjs), and files that were not run are named.
 * `--layout one` runs journeys and model against an estate with all services in one process (ADR 0197).
 * The last line contains the totals, `N passed, N failed, N skipped`; a suite that cannot run counts as failed.
 *
 * @import { SchemaDigests } from './processes/build.mjs'
 * @import { SuiteResult } from './jest/repeats.mjs'
 * @typedef {{ name: string, run(only: string | null): Promise<SuiteResult> }} Suite
 * @typedef {Suite & SuiteResult} FinishedSuite
 */
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installDependenciesIfNeeded, refuseOldNode } from './processes/install.mjs';
import { layoutIn } from './processes/environment.mjs';
import { runJest } from './jest/jest-run.mjs';
import { runJourneys } from './jest/journeys.mjs';
import { newestNodeProgram } from './jest/newest-node.mjs';
import { runNodeTests } from './jest/node-run.mjs';
import { repeatFailed } from './jest/repeats.mjs';
import { Report } from './jest/report.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** @type {Record<string, string>} */
const FILES = {
  unit: '\\.spec\\.ts$',
  db: '\\.db-spec\\.ts$',
  api: '\\.api-spec\\.ts$',
  contract: '\\.contract-spec\\.ts$',
};
const TEST_FOLDERS = ['cli', 'processes', 'servers', 'snapshots', 'checks', 'jest', 'drills', 'image'].map(
  (name) => `tools/${name}/test`,
);
/** Settings of a run of the model test only, which is longer. */
const LONG_MODEL_RUN = { MODEL_STEPS: '20000', MODEL_RATE: '100' };
/** A jest worker grows to about this much before its garbage is collected. Units: bytes. */
const WORKER_BYTES = 3 * 2 ** 30;
const USAGE = `npm test [-- --only ${[...Object.keys(FILES), 'e2e', 'estate', 'model'].join('|')}] [--layout six|one] [words for jest]\nwith --with-check and --minutes N before them`;
const report = new Report();

/** @param {string[]} words */
async function main(words) {
  const isChecked = words[0] === '--with-check' && Boolean(words.shift());
  const minutes = words[0] === '--minutes' ? Number(words.splice(0, 2)[1]) : null;
  if (minutes !== null && !(minutes > 0)) throw new Error('--minutes needs a number');
  const until = minutes === null ? null : Date.now() + minutes * 60_000;
  const only = words[0] === '--only' ? (words.splice(0, 2)[1] ?? '') : null;
  const layout = words[0] === '--layout' ? layoutIn({ ROOKERY_LAYOUT: words.splice(0, 2)[1] }) : 'six';
  if (only !== null && !FILES[only] && !['e2e', 'estate', 'model'].includes(only))
    throw new Error(`There is no kind of test "${only}"`);
  refuseOldNode();
  await report.timed('install', () => installDependenciesIfNeeded((text) => console.log(text)));
  const { stopTestServers } = await import('./servers/test-servers.mjs');
  const { build } = await import('./processes/build.mjs');
  const { digests } = await report.timed('build', () => build());
  try {
    const suites = createSuites({ only, layout, words, digests, until });
    const finished = await Promise.all([
      runSuites(suites.filter(({ name }) => name === 'jest')),
      (async () => {
        if (isChecked) await report.timed('check', runCheckCommand);
        return runSuites(suites.filter(({ name }) => name !== 'jest'));
      })(),
    ]);
    const all = finished.flat();
    const failed = all.some(({ files }) => files.some((file) => file.failed > 0));
    if (failed) await report.timed('repeats', () => repeatFailed(all, (text) => console.error(text)));
    for (const suite of all) report.add(suite);
    const isWhole = !all.some(({ notRun = [] }) => notRun.length > 0);
    if (only === null && words.length === 0 && isWhole) await checkRoutesAreTested();
  } finally {
    await stopTestServers();
  }
}

/**
 * The requested suites; `run(null)` runs all files, `run(file)` one.
 * @param {{ only: string | null, layout: string, words: string[], digests: SchemaDigests, until: number | null }} run
 */
function createSuites({ only, layout, words, digests, until }) {
  /** @type {Suite[]} */
  const suites = [];
  const pattern = only === null ? undefined : FILES[only];
  const kind = pattern ? ['--testPathPatterns', pattern] : [];
  const jest = { config: 'tools/jest/all.cjs', workers: testWorkerCount(), words: [...kind, ...words], until };
  const program = () => newestNodeProgram((text) => console.error(text));
  if (only === null || pattern)
    suites.push({ name: 'jest', run: (file) => runJest({ ...jest, only: file, program: program() }) });
  const model = { words: ['--testPathPatterns', 'e2e/model/', ...words], modelRun: LONG_MODEL_RUN };
  const journeys = only === 'model' ? model : { words };
  if (only === null || only === 'e2e' || only === 'model')
    suites.push({ name: 'journeys', run: (file) => runJourneys({ digests, layout, ...journeys, until, only: file }) });
  const tests = listToolTestFiles();
  if (only === null || only === 'estate')
    suites.push({ name: 'estate', run: (file) => runNodeTests({ files: tests, until, only: file }) });
  return suites;
}

/**
 * Runs suites one after the other. A suite that throws does not stop the others.
 * @param {Suite[]} suites
 */
async function runSuites(suites) {
  /** @type {FinishedSuite[]} */
  const finished = [];
  for (const suite of suites) {
    /** @type {(error: Error) => SuiteResult} */
    const failed = (error) => ({ files: [], problem: `${suite.name}: ${error.stack}` });
    finished.push({ ...suite, ...(await report.timed(suite.name, () => suite.run(null).catch(failed))) });
  }
  return finished;
}

/**
 * One worker for each core; fewer with little memory, but at least two. More are slower: specs that wait for the product
 * ask it again and again, and so take the time of those that work.
 */
function testWorkerCount() {
  const fitting = Math.floor(totalmem() / WORKER_BYTES);
  return Math.max(2, Math.min(fitting, availableParallelism()));
}

/** Tests of the tools, for Node's own runner. */
function listToolTestFiles() {
  return TEST_FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith('.test.mjs'))
      .map((name) => join(ROOT, folder, name)),
  );
}

/** Checks, after all suites have run, that every served route was called by a test. */
async function checkRoutesAreTested() {
  const { untestedRoutes } = await import('./checks/routes.mjs');
  const untested = untestedRoutes();
  for (const route of untested) console.error(`no test calls ${route}`);
  report.count(untested.length > 0 ? 'failed' : 'passed');
}

/** Runs `npm run check`. Its steps are no tests: a failure changes the exit status, but not the totals. */
async function runCheckCommand() {
  const status = await new Promise((resolve) => {
    const child = spawn(process.execPath, [join(ROOT, 'tools/check.mjs')], { cwd: ROOT, stdio: 'inherit' });
    child.once('error', () => resolve(1));
    child.once('exit', (code) => resolve(code ?? 1));
  });
  if (status !== 0) report.checkFailed(status);
}

if (process.argv.some((word) => ['-h', '--help'].includes(word))) {
  console.log(USAGE);
  process.exit(0);
}
try {
  await main(process.argv.slice(2));
} catch (error) {
  report.count('failed');
  console.error(/** @type {Error} */ (error).message);
}
for (const line of report.lines()) console.log(line);
process.exit(report.hasFailed ? 1 : 0);
