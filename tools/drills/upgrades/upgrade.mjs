/**
 * The services of the previous release run on the schema of this one, as during a rolling update: alone, then next to the
 * new ones, which take over. Everything that either release wrote is there afterwards, no answer was 5xx, and no event failed.
 * Source: docs/reference/reliability.md 9.2; ADR 0023.
 *
 * @import { Estate } from '../../processes/estate.mjs'
 * @import { Person } from '../client.mjs'
 */
import { fileURLToPath } from 'node:url';
import { SERVICES, WITHOUT_RATES } from '../../processes/environment.mjs';
import { startEstate } from '../../processes/estate.mjs';
import { DrillClient } from '../client.mjs';
import { buildPreviousRelease } from './previous-release.mjs';
import { ReleaseProcesses } from './release-processes.mjs';
import { WrittenRecords } from './written-records.mjs';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** @typedef {Awaited<ReturnType<typeof buildPreviousRelease>>} Release */

/** Checks out and builds the previous release. */
export async function prepare() {
  const release = await buildPreviousRelease();
  return { env: WITHOUT_RATES, server: { ...release, close: release.remove } };
}

/**
 * Starts the servers, and migrates fresh databases with the migrations of this release. No service runs.
 * @param {Parameters<typeof startEstate>[0]} options
 */
export function start(options) {
  return startEstate({ ...options, withoutProcesses: true });
}

/**
 * Runs the drill. Returns the durations of the steps in milliseconds, kinds of requests, and answers by status. `wrong`
 * is the number of violations.
 * @param {DrillClient} client
 * @param {{ server: Release }} prepared
 */
export async function run({ estate, seed }, { server: release }) {
  const drill = new UpgradeDrill(estate, seed, release);
  try {
    await drill.runOldAlone();
    await drill.runBoth();
    await drill.runNewAlone();
  } catch (error) {
    drill.examples.push(/** @type {Error} */ (error).message);
  } finally {
    await drill.stop();
  }
  await drill.countDeadLetters();
  const { ms, statuses, serverErrors, examples, records } = drill;
  const { commit, samePackages } = release;
  return {
    previous: commit,
    samePackages,
    ms: { ...release.ms, ...ms },
    requests: records[0]?.kinds,
    statuses,
    serverErrors,
    examples,
    wrong: examples.length,
  };
}

class UpgradeDrill {
  /** Duration of each step. @type {Record<string, number>} */
  ms = {};
  /** @type {Record<string, number>} */
  statuses = {};
  /** @type {string[]} */
  examples = [];
  /** @type {WrittenRecords[]} */
  records = [];

  /**
   * @param {Estate} estate
   * @param {string} seed
   * @param {Release} release
   */
  constructor(estate, seed, release) {
    this.estate = estate;
    this.seed = seed;
    this.old = new ReleaseProcesses(estate, 'previous', release.root);
    this.new = new ReleaseProcesses(estate, 'present', ROOT);
  }

  get serverErrors() {
    return Object.entries(this.statuses).reduce((sum, [status, count]) => sum + (status >= '5' ? count : 0), 0);
  }

  async runOldAlone() {
    await this.#runTimed('startPrevious', () => this.old.start());
    await this.#runTimed('previousAlone', async () => {
      await this.#writeRecords('previous-alone', this.old);
      await this.#compareRecords(this.old);
    });
  }

  /** Each release reads what the other one wrote, and both consume the events of either. */
  async runBoth() {
    await this.#runTimed('startPresent', () => this.new.start());
    await this.#runTimed('both', async () => {
      await this.#writeRecords('previous-next', this.old);
      await this.#writeRecords('present-next', this.new);
      await this.#compareRecords(this.new);
      await this.#compareRecords(this.old);
    });
  }

  async runNewAlone() {
    await this.#runTimed('stopPrevious', () => this.old.stop());
    await this.#runTimed('presentAlone', async () => {
      await this.#writeRecords('present-alone', this.new);
      await this.#compareRecords(this.new);
    });
  }

  async stop() {
    await Promise.all([this.old.stop(), this.new.stop()]);
  }

  /** Events whose effect failed, in either release. */
  async countDeadLetters() {
    const client = new DrillClient(this.estate, this.seed);
    for (const service of SERVICES) {
      const rows = await client.query(service, 'select effect, subject, error from dead_letters');
      for (const { effect, subject, error } of rows)
        this.examples.push(`${service}: ${effect} of ${subject}: ${error}`);
    }
  }

  /**
   * @param {string} name
   * @param {ReleaseProcesses} processes
   */
  async #writeRecords(name, processes) {
    const records = new WrittenRecords(this.#createClient(processes), name);
    this.records.push(records);
    await records.write();
  }

  /** @param {ReleaseProcesses} processes */
  async #compareRecords(processes) {
    const client = this.#createClient(processes);
    for (const records of this.records)
      this.examples.push(...(await records.differences(client)).map((text) => `read by ${processes.name}: ${text}`));
  }

  /**
   * A client of one release, whose answers are counted.
   * @param {ReleaseProcesses} processes
   */
  #createClient({ baseUrl }) {
    const client = new DrillClient(Object.create(this.estate, { baseUrl: { value: baseUrl } }), this.seed);
    const send = client.api.bind(client);
    client.api = async (method, path, how) => {
      const answer = await send(method, path, how);
      this.statuses[answer.status] = (this.statuses[answer.status] ?? 0) + 1;
      if (answer.status >= 500)
        this.examples.push(`${answer.status} ${method} ${path}: ${JSON.stringify(answer.body)}`);
      return answer;
    };
    return client;
  }

  /**
   * @param {string} step
   * @param {() => Promise<void>} work
   */
  async #runTimed(step, work) {
    const started = Date.now();
    await work();
    this.ms[step] = Date.now() - started;
  }
}
