/**
 * The journeys: spec files that use a whole estate through its gateway, one after the other.
 *
 * @import { Estate, startEstate } from '../processes/estate.mjs'
 * @typedef {Parameters<typeof startEstate>[0]} EstateOptions
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { runJest } from './jest-run.mjs';

/**
 * Runs the journeys against an estate that is made for this run and deleted after it. A repeat therefore meets a new
 * estate: the failed file may have left the first one with a stopped service or with changed settings.
 * `layout` is that of the estate (ADR 0197); `until` as in runJest.
 * @param {{ digests: import('../processes/build.mjs').SchemaDigests, layout: string, words: string[],
 *   modelRun?: Record<string, string>, only?: string | null, until?: number | null }} options
 */
export async function runJourneys({ digests, layout, words, modelRun = {}, only = null, until = null }) {
  const { startEstate } = await import('../processes/estate.mjs');
  const { startControl } = await import('../processes/control.mjs');
  const { freePort } = await import('../processes/process-records.mjs');
  const { sharedTemporaryFolder: sharedTemporary } = await import('../servers/postgres-files.mjs');
  const dataDir = mkdtempSync(join(sharedTemporary(), 'rookery-e2e-'));
  const { WITHOUT_RATES } = await import('../processes/environment.mjs');
  /** @param {string} text */
  const warn = (text) => console.error(text);
  const second = new SecondEstate(startEstate, { dataDir: `${dataDir}-second`, port: await freePort(), digests, warn });
  const upstreamPort = await freePort();
  const allowed = [second.geo.EGRESS_ALLOW, `127.0.0.1:${upstreamPort}`].join(',');
  const port = await freePort();
  // Go takes modules only whose host has a dot.
  const external = { ROOKERY_EXTERNAL_URL: `http://127.0.0.1:${port}` };
  const env = { ...WITHOUT_RATES, ...second.geo, ...external, EGRESS_ALLOW: allowed, ROOKERY_LAYOUT: layout };
  const estate = await startEstate({ dataDir, port, env, digests, warn });
  const control = await startControl(Object.assign(estate, { second }));
  try {
    const environment = {
      TEST_BASE_URL: external.ROOKERY_EXTERNAL_URL,
      TEST_ROOT_TOKEN: estate.token,
      TEST_MAIL_DIR: estate.mailDir,
      TEST_CONTROL_URL: control.url,
      TEST_SECOND_URL: second.url,
      TEST_UPSTREAM_PORT: String(upstreamPort),
      TEST_LAYOUT: layout,
      TEST_DATABASE_URLS: JSON.stringify(estate.databases),
      ...(await pythonClientVariables()),
      ...modelRun,
      ...environmentVariablesWithPrefix('MODEL_'),
    };
    return await runJest({ config: 'apps/e2e/jest.config.cjs', workers: 1, words, only, until, env: environment });
  } finally {
    await control.stop();
    await second.discard();
    await estate.stop();
    await estate.discard();
  }
}

/**
 * Variables by which journeys find pip, twine and poetry. They fail with the reason if these could not be fetched.
 * @returns {Promise<Record<string, string>>}
 */
async function pythonClientVariables() {
  const { ensurePythonClients: pythonClients } = await import('../processes/python-clients.mjs');
  try {
    const { program, path } = pythonClients();
    return { TEST_PYTHON: program, TEST_PYTHONPATH: path };
  } catch (error) {
    return { TEST_PYTHON_PROBLEM: /** @type {Error} */ (error).message };
  }
}

/** A second estate, which is a geo site of the first one. It starts when a journey requests it. */
class SecondEstate {
  /** @type {Estate | null} */
  #running = null;
  /** @type {Estate | null} */
  #stopped = null;
  #startEstate;

  /**
   * @param {typeof startEstate} startEstate
   * @param {EstateOptions & { port: number }} options
   */
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

/**
 * Variables of the environment with a prefix; they override the defaults.
 * @param {string} prefix
 */
function environmentVariablesWithPrefix(prefix) {
  const chosen = Object.entries(process.env).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(chosen.map(([name, value]) => [name, value ?? '']));
}
