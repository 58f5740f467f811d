/**
 * Load from other programs on the machine: three processes per core burn CPU at the estate's own priority, while 64 users
 * read, write and use new tokens. No request is refused or delayed for long, and no effect is lost or doubled.
 * All settings of the estate have their defaults.
 *
 * @import { DrillClient, Person } from './client.mjs'
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { NoteLedger } from './ledger.mjs';

const CLIENTS = 64;
/** Processes that burn CPU, for the whole machine. */
export const BURNERS = 3 * availableParallelism();
const SECONDS = 60;
/** Limit for the 99th percentile of answer times. Units: milliseconds. */
const PATIENCE_MS = 5000;

/**
 * Runs the drill. Returns `statuses` and times of all answers, and `reasons` of refusals. `wrong` is the number of
 * violations.
 * @param {DrillClient} client
 * @param {unknown} _prepared
 * @param {{ seconds?: number, burners?: number }} [options]
 */
export async function run(client, _prepared, { seconds = SECONDS, burners: count = BURNERS } = {}) {
  const ledger = new NoteLedger(client, { writers: CLIENTS, mails: false });
  await ledger.prepare();
  const crowd = new ClientCrowd(client, ledger);
  const burners = Array.from({ length: count }, spawnBusyProcess);
  try {
    await crowd.work(seconds * 1000);
  } finally {
    for (const burner of burners) burner.kill('SIGKILL');
  }
  const facts = crowd.facts();
  const { lost, missing, duplicate, acknowledged, examples } = await ledger.check();
  const isBlind = acknowledged === 0 ? 1 : 0;
  const isSlow = facts.p99Ms > PATIENCE_MS ? 1 : 0;
  const wrong = crowd.refused + lost + missing + duplicate + isBlind + isSlow;
  return {
    ...facts,
    reasons: await unavailableAnswerCountsOf(client.estate),
    acknowledged,
    lost,
    missing,
    duplicate,
    wrong,
    examples,
  };
}

class ClientCrowd {
  refused = 0;
  /** @type {Record<string, number>} */
  #statuses = {};
  /** @type {number[]} */
  #times = [];

  /**
   * @param {DrillClient} client
   * @param {NoteLedger} ledger
   */
  constructor(client, ledger) {
    this.client = client;
    this.ledger = ledger;
  }

  /** @param {number} ms */
  async work(ms) {
    const end = Date.now() + ms;
    // All users act at once, like jobs that start together: in one round all do the same, in the next each does another.
    for (let round = 0; Date.now() < end; round += 1) {
      const turn = Math.floor(round / 2);
      await Promise.all(
        this.ledger.writers.map((person, index) => this.#runTurn(person, round % 2 ? turn + index : turn)),
      );
    }
  }

  facts() {
    const times = this.#times.sort((a, b) => a - b);
    /** @param {number} part */
    const at = (part) => Math.round(times[Math.floor(times.length * part)] ?? 0);
    return { requests: times.length, statuses: this.#statuses, p50Ms: at(0.5), p99Ms: at(0.99), mostMs: at(0.9999) };
  }

  /**
   * @param {Person} person
   * @param {number} turn
   */
  async #runTurn(person, turn) {
    const [project] = this.ledger.projects;
    const reads = [
      `/projects/${project}/issues/1/notes`,
      '/todos',
      `/projects/${project}`,
      `/projects/${project}/issues`,
      '/projects?membership=true',
      '/user',
    ];
    const kind = turn % (reads.length + 2);
    if (kind === 0) await this.#countAnswer(() => this.ledger.writeOne(person));
    else if (kind === 1) await this.#createAndUseToken(person);
    else await this.#countAnswer(() => this.#requestStatus('GET', reads[kind - 2] ?? '', person.token));
  }

  /**
   * Creates a token and uses it.
   * @param {Person} person
   */
  async #createAndUseToken(person) {
    await this.#countAnswer(async () => {
      const path = `/users/${person.id}/personal_access_tokens`;
      const { status, body } = await this.client.api('POST', path, { json: { name: 'fresh', scopes: ['api'] } });
      if (status === 201) person.token = body.token;
      return status;
    });
    await this.#countAnswer(() => this.#requestStatus('GET', '/user', person.token));
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {string} token
   */
  async #requestStatus(method, path, token) {
    return (await this.client.api(method, path, { token })).status;
  }

  /** @param {() => Promise<number>} ask */
  async #countAnswer(ask) {
    const from = performance.now();
    /** @type {number | string} */
    const status = await ask().catch((error) => error.name);
    this.#times.push(performance.now() - from);
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
    if (!(Number(status) >= 200 && Number(status) < 300)) this.refused += 1;
  }
}

function spawnBusyProcess() {
  return spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
}

/**
 * Counts answers 502, 503 and 504 by process and reason, as in `{ 'gateway: shed': 3 }`.
 * @param {DrillClient['estate']} estate
 */
async function unavailableAnswerCountsOf({ ports }) {
  /** @type {Record<string, number>} */
  const found = {};
  for (const [name, { management }] of Object.entries(ports)) {
    const text = await (await fetch(`http://127.0.0.1:${management}/-/metrics`)).text();
    for (const [, reason, count] of text.matchAll(/^rookery_unavailable_total\{reason="([^"]+)"\} (\d+)/gm))
      if (Number(count) > 0 && reason !== 'not ready') found[`${name}: ${reason}`] = Number(count);
  }
  return found;
}
