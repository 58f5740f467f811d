#!/usr/bin/env node
/**
 * `npm test`: prepares like `npm start`, then runs every suite: unit, database, API and contract in one jest run with
 * two workers, the estate's own tests, and the journeys through the gateway against a started estate.
 *
 *   node tools/test.mjs [--only unit|db|api|contract|e2e|estate|model] [words for jest]
 *
 * The last line holds the totals, `N passed, N failed, N skipped`; a suite that cannot run counts as failed.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installDependencies, refuseOldNode } from './estate/install.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const RESULTS = join(ROOT, 'node_modules/.cache/rookery');
const FILES = {
  unit: '\\.spec\\.ts$',
  db: '\\.db-spec\\.ts$',
  api: '\\.api-spec\\.ts$',
  contract: '\\.contract-spec\\.ts$',
};
/** The model test alone: longer. */
const LONG_MODEL_RUN = { MODEL_STEPS: '20000', MODEL_RATE: '100' };
const totals = { passed: 0, failed: 0, skipped: 0 };

async function main(words) {
  const only = words[0] === '--only' ? words.splice(0, 2)[1] : null;
  if (only !== null && !FILES[only] && !['e2e', 'estate', 'model'].includes(only))
    throw new Error(`There is no kind of test "${only}"`);
  refuseOldNode();
  await installDependencies((text) => console.log(text));
  const { stopTestServers } = await import('./estate/test-servers.mjs');
  const { build } = await import('./estate/build.mjs');
  const { digests } = await build();
  try {
    if (only === null || FILES[only])
      await jest('tools/jest/all.cjs', ['-w', '2', ...(only ? ['--testPathPatterns', FILES[only]] : []), ...words]);
    if (only === null || only === 'estate') await estateTests();
    if (only === null || only === 'e2e') await journeys(digests, words);
    if (only === null && words.length === 0) await routesAreTested();
    if (only === 'model') await journeys(digests, ['--testPathPatterns', 'e2e/model/', ...words], LONG_MODEL_RUN);
  } finally {
    await stopTestServers();
  }
}

/** One jest run; its own summary goes to the terminal, its figures into the totals. */
async function jest(config, words, env = {}) {
  mkdirSync(RESULTS, { recursive: true });
  const file = join(RESULTS, `jest-${process.pid}.json`);
  const about = ['-c', join(ROOT, config), '--json', `--outputFile=${file}`, '--passWithNoTests'];
  // Without --silent output jest prints its JSON to stdout too, so that stream is dropped; the report goes to stderr.
  const code = await run(process.execPath, [join(ROOT, 'node_modules/jest/bin/jest.js'), ...about, ...words], env);
  if (!existsSync(file)) {
    totals.failed += 1;
    return;
  }
  const result = JSON.parse(readFileSync(file, 'utf8'));
  rmSync(file);
  totals.passed += result.numPassedTests;
  totals.failed += result.numFailedTests + result.numRuntimeErrorTestSuites;
  totals.skipped += result.numPendingTests + result.numTodoTests;
  if (code !== 0 && result.success) totals.failed += 1;
}

function run(command, words, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, words, {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

/** Every suite has run, so every served route must have been called by a test. */
async function routesAreTested() {
  const { untestedRoutes } = await import('./checks/routes.mjs');
  const untested = untestedRoutes();
  for (const route of untested) console.error(`called by no test: ${route}`);
  totals[untested.length > 0 ? 'failed' : 'passed'] += 1;
}

/** Tests of `npm start`, the checks and the drill on a busy machine, on Node's own runner: they start whole estates. */
async function estateTests() {
  const folders = ['tools/estate/test', 'tools/checks/test', 'tools/jest/test', 'tools/drills/test'].map((name) =>
    join(ROOT, name),
  );
  const files = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.test.mjs'))
      .map((name) => join(folder, name)),
  );
  const { run: runTests } = await import('node:test');
  const stream = runTests({ files, concurrency: 1, timeout: 1_800_000 });
  for await (const { type, data } of stream) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const error = data.details.error;
    // Suites and files are reported like tests; they count only when they fail by themselves.
    if (data.details.type === 'suite' || files.includes(data.name)) {
      if (type === 'test:pass' || error?.failureType === 'subtestsFailed') continue;
    }
    if (type === 'test:fail') console.error(`estate: ${data.name}: ${error?.cause?.stack ?? error}`);
    const isLeftOut = data.skip !== undefined || data.todo !== undefined;
    totals[type === 'test:fail' ? 'failed' : isLeftOut ? 'skipped' : 'passed'] += 1;
  }
}

async function journeys(digests, words, modelRun) {
  const { startEstate } = await import('./estate/estate.mjs');
  const { startControl } = await import('./estate/control.mjs');
  const { freePort } = await import('./estate/processes.mjs');
  const { sharedTemporary } = await import('./estate/postgres-files.mjs');
  const dataDir = mkdtempSync(join(sharedTemporary(), 'rookery-e2e-'));
  const { WITHOUT_RATES } = await import('./estate/environment.mjs');
  const warn = (text) => console.error(text);
  const second = new SecondEstate(startEstate, { dataDir: `${dataDir}-second`, port: await freePort(), digests, warn });
  const env = { ...WITHOUT_RATES, ...second.geo };
  const estate = await startEstate({ dataDir, port: await freePort(), env, digests, warn });
  const control = await startControl(Object.assign(estate, { second }));
  try {
    await jest('apps/e2e/jest.config.cjs', ['-i', ...words], {
      TEST_BASE_URL: estate.baseUrl,
      TEST_ROOT_TOKEN: estate.token,
      TEST_MAIL_DIR: estate.mailDir,
      TEST_CONTROL_URL: control.url,
      TEST_SECOND_URL: second.url,
      TEST_DATABASE_URLS: JSON.stringify(estate.databases),
      ...modelRun,
      ...given('MODEL_'),
    });
  } finally {
    await control.stop();
    await second.discard();
    await estate.stop();
    await estate.discard();
  }
}

/** Another estate, for journeys that need one: it starts when one asks, and is a geo site of the first. */
class SecondEstate {
  #running = null;
  #stopped = null;
  #startEstate;

  constructor(startEstate, options) {
    this.#startEstate = startEstate;
    this.options = options;
    this.port = options.port;
    this.url = `http://127.0.0.1:${this.port}`;
    this.geo = { GEO_SHARED_SECRET: randomBytes(32).toString('hex'), EGRESS_ALLOW: `127.0.0.1:${this.port}` };
  }

  async start() {
    const { GEO_SHARED_SECRET } = this.geo;
    this.#running ??= await this.#startEstate({ ...this.options, env: { RATE_LIMITS: 'off', GEO_SHARED_SECRET } });
  }

  async stop() {
    const running = this.#running;
    this.#running = null;
    await running?.stop();
    this.#stopped = running ?? this.#stopped;
  }

  async discard() {
    await this.stop();
    await this.#stopped?.discard();
  }
}

/** Variables of the environment, which win over what is set here. */
function given(prefix) {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith(prefix)));
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  totals.failed += 1;
  console.error(error.message);
}
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exit(totals.failed > 0 ? 1 : 0);
