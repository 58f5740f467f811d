/** The journeys: spec files that drive a whole estate through its gateway, one after the other. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { runJest } from './jest-run.mjs';

/**
 * Runs the journeys against an estate that is made for this run and deleted after it. A repeat therefore meets a new
 * estate: the failed file may have left the first one with a stopped service or with changed settings.
 */
export async function runJourneys({ digests, words, modelRun = {}, only = null }) {
  const { startEstate } = await import('../estate/estate.mjs');
  const { startControl } = await import('../estate/control.mjs');
  const { freePort } = await import('../estate/processes.mjs');
  const { sharedTemporary } = await import('../estate/postgres-files.mjs');
  const dataDir = mkdtempSync(join(sharedTemporary(), 'rookery-e2e-'));
  const { WITHOUT_RATES } = await import('../estate/environment.mjs');
  const warn = (text) => console.error(text);
  const second = new SecondEstate(startEstate, { dataDir: `${dataDir}-second`, port: await freePort(), digests, warn });
  const env = { ...WITHOUT_RATES, ...second.geo };
  const estate = await startEstate({ dataDir, port: await freePort(), env, digests, warn });
  const control = await startControl(Object.assign(estate, { second }));
  try {
    const environment = {
      TEST_BASE_URL: estate.baseUrl,
      TEST_ROOT_TOKEN: estate.token,
      TEST_MAIL_DIR: estate.mailDir,
      TEST_CONTROL_URL: control.url,
      TEST_SECOND_URL: second.url,
      TEST_DATABASE_URLS: JSON.stringify(estate.databases),
      ...modelRun,
      ...given('MODEL_'),
    };
    return await runJest({ config: 'apps/e2e/jest.config.cjs', workers: 1, words, only, env: environment });
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
