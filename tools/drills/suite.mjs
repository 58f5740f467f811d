/**
 * The test suite of a client's author, three times in a row: 2,000 requests by sixteen workers, with 200 new users, one of
 * whom writes more notes than the limit per minute, and with unknown tokens. No other user is refused for a rate or for
 * load, and a valid token is accepted whatever invalid ones came from the same address.
 *
 * @import { DrillClient, How } from './client.mjs'
 */
import { randomBytes } from 'node:crypto';

const RUNS = 3;
const REQUESTS = 2000;
const PEOPLE = 200;
const WORKERS = 16;
/** Units: notes per minute and user, as in the settings. */
const NOTES_LIMIT = 300;
const MANY_NOTES = NOTES_LIMIT + 20;
const BAD_TOKENS = 30;
/** More requests than an address may send in a minute. */
const GUESSES = 200;

/**
 * Runs the suite. `prepared.env` is set when limits are off. `wrong` is the number of violations.
 * @param {DrillClient} client
 * @param {{ env?: object }} [prepared]
 */
export async function run(client, { env } = {}) {
  const suite = new ClientTestSuiteDrill(client);
  const runs = [];
  for (let index = 0; index < RUNS; index += 1) runs.push(await suite.run(index));
  const guessing = await suite.guess();
  const facts = suite.facts();
  const wrongLimits = env ? facts.notesOverLimit : 0;
  return {
    limits: env ? 'off' : 'on',
    runs,
    ...facts,
    guessing,
    wrong: facts.refused + facts.failed + guessing.wrong + wrongLimits,
  };
}

class ClientTestSuiteDrill {
  /** @type {Record<string, number>} */
  #statuses = {};
  /** @type {string[]} */
  #refused = [];
  /** @type {string[]} */
  #failed = [];
  #notesOverLimit = 0;
  #requests = 0;

  /** @param {DrillClient} client */
  constructor(client) {
    this.client = client;
  }

  facts() {
    const examples = [...this.#refused, ...this.#failed].slice(0, 5);
    const [refused, failed] = [this.#refused.length, this.#failed.length];
    return { statuses: this.#statuses, refused, failed, notesOverLimit: this.#notesOverLimit, examples };
  }

  /** @param {number} index */
  async run(index) {
    const mark = `r${index}${this.client.seed}`;
    const before = this.#requests;
    const from = Date.now();
    const group = await this.#createResource('/groups', { name: mark, path: mark, visibility: 'public' });
    const ids = await mapWithWorkers(range(19), async (n) => {
      const json = { name: `${mark}-${n}`, namespace_id: group.id, visibility: 'public' };
      return (await this.#createResource('/projects', json)).id;
    });
    const peopleFrom = Date.now();
    const people = await mapWithWorkers(range(PEOPLE), (n) => this.#createPerson(`${mark}-${n}`));
    const peopleMs = Date.now() - peopleFrom;
    await mapWithWorkers(people, async (person, n) => {
      const id = ids[n % ids.length] ?? 0;
      await this.#expectStatus(201, 'POST', `/projects/${id}/members`, {
        json: { user_id: person.id, access_level: 30 },
      });
      const { iid } = await this.#createResource(`/projects/${id}/issues`, { title: `Egg ${n}` }, person.token);
      await this.#createResource(
        `/projects/${id}/issues/${iid}/notes`,
        { body: `@${person.username} looks` },
        person.token,
      );
    });
    const at = `/projects/${ids[0]}/issues/1`;
    await mapWithWorkers(range(MANY_NOTES), (n) =>
      this.#writeNote(`${at}/notes`, { body: `Note ${n}` }, people[0]?.token),
    );
    await mapWithWorkers(range(BAD_TOKENS), () =>
      this.#expectStatus(401, 'GET', '/user', { token: makeUnknownToken() }),
    );
    const reads = ['/user', '/todos', `/projects/${ids[0]}`, at, `${at}/notes`, '/projects', '/issues', '/events'];
    await mapWithWorkers(range(REQUESTS - (this.#requests - before)), (n) =>
      this.#expectStatus(200, 'GET', reads[n % reads.length] ?? '', { token: people[n % PEOPLE]?.token }),
    );
    return { requests: this.#requests - before, seconds: (Date.now() - from) / 1000, peopleMs };
  }

  /** Uses new valid tokens while other callers guess tokens from the same address. */
  async guess() {
    const { id } = await this.#createPerson(`late-${this.client.seed}`);
    /** @type {number[]} */
    const good = [];
    /** @type {Record<string, number>} */
    const statuses = {};
    /** @param {string} token */
    const requestUser = async (token) => {
      const { status } = await this.#sendRequest('GET', '/user', { token });
      statuses[status] = (statuses[status] ?? 0) + 1;
      return status;
    };
    await mapWithWorkers(range(GUESSES), async (n) => {
      await requestUser(makeUnknownToken());
      if (n % 10 === 0) good.push(await requestUser(await this.client.tokenOf(id)));
    });
    const refusedGood = good.filter((status) => status !== 200).length;
    return { statuses, goodTokens: good.length, wrong: refusedGood };
  }

  /** @param {string} username */
  async #createPerson(username) {
    const json = { username, name: username, email: `${username}@mail.example`, force_random_password: true };
    const { id } = await this.#createResource('/users', json);
    const { token } = await this.#createResource(`/users/${id}/personal_access_tokens`, {
      name: 'suite',
      scopes: ['api'],
    });
    return { id, username, token };
  }

  /**
   * @param {string} path
   * @param {object} json
   * @param {string} [token]
   */
  #createResource(path, json, token) {
    return this.#expectStatus(201, 'POST', path, { json, token });
  }

  /**
   * Writes a note of the user who exceeds the limit: refusals must name the limit.
   * @param {string} path
   * @param {object} json
   * @param {string | undefined} token
   */
  async #writeNote(path, json, token) {
    const { status, text } = await this.#sendRequest('POST', path, { json, token });
    if (status === 201) return;
    if (status === 429 && text.includes('NOTES_CREATES_PER_MINUTE_COUNT')) this.#notesOverLimit += 1;
    else this.#recordRefusalOrFailure(status, `POST ${path}`, text);
  }

  /**
   * @param {number} expected
   * @param {string} method
   * @param {string} path
   * @param {How} how
   * @returns {Promise<any>}
   */
  async #expectStatus(expected, method, path, how) {
    const { status, text } = await this.#sendRequest(method, path, how);
    if (status === expected) return text === '' ? null : JSON.parse(text);
    this.#recordRefusalOrFailure(status, `${method} ${path}`, text);
    if (expected === 201) throw new Error(`${method} ${path}: ${status} ${text}`);
    return null;
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {How} [how]
   */
  async #sendRequest(method, path, { token = this.client.estate.token, json } = {}) {
    this.#requests += 1;
    const response = await fetch(`${this.client.estate.baseUrl}/api/v4${path}`, {
      method,
      headers: { 'private-token': token, ...(json ? { 'content-type': 'application/json' } : {}) },
      ...(json ? { body: JSON.stringify(json) } : {}),
    });
    const { status } = response;
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
    return { status, text: await response.text() };
  }

  /**
   * @param {number} status
   * @param {string} call
   * @param {string} text
   */
  #recordRefusalOrFailure(status, call, text) {
    (status === 429 || status === 503 ? this.#refused : this.#failed).push(`${call}: ${status} ${text.slice(0, 200)}`);
  }
}

/** @param {number} count */
const range = (count) => Array.from({ length: count }, (_, index) => index);
const makeUnknownToken = () => `glpat-${randomBytes(15).toString('base64url')}`;

/**
 * Maps all items with a number of workers; results are in the order of the items.
 * @template T, R
 * @param {T[]} items
 * @param {(item: T, index: number) => Promise<R>} work
 * @returns {Promise<R[]>}
 */
async function mapWithWorkers(items, work) {
  /** @type {R[]} */
  const results = [];
  const rest = items.entries();
  const worker = async () => {
    for (const [index, one] of rest) results[index] = await work(one, index);
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
  return results;
}
