/**
 * Anonymous callers from as many addresses send the most expensive searches, and request the heaviest pages, in a public
 * project with texts of maximum length, while other users read. The others are not affected: all their answers succeed.
 * The callers get answers, refusals of pages that are too heavy, or refusals after waiting too long in the queue.
 * Source: reference reliability 6.3.
 *
 * @import { DrillClient, Person } from '../client.mjs'
 */
import { get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

const CALLERS = 24;
const INNOCENTS = 4;
const SECONDS = 10;
/** Texts as long as the longest description of their kind. */
const ROWS = 100;
const SEARCHES = ['b'.padStart(255, 'a'), 'aa '.repeat(85), 'ö'.repeat(255), 'b'.padEnd(255, 'a')];
const EXPECTED = [200, 400, 429];

/**
 * Runs the drill. Returns `statuses` of the callers and the number of answers to other users (`innocent`). `wrong` is
 * the number of violations in both.
 * @param {DrillClient} client
 */
export async function run(client) {
  const drill = new CostlySearchesDrill(client);
  await drill.open();
  await drill.send();
  return drill.facts;
}

class CostlySearchesDrill {
  facts = {
    /** @type {Record<string, number>} */
    statuses: {},
    innocent: 0,
    slowestInnocentMs: 0,
    wrong: 0,
    /** @type {string[]} */
    examples: [],
  };
  isOver = false;
  project = 0;
  /** @type {Person[]} */
  innocents = [];

  /** @param {DrillClient} client */
  constructor(client) {
    this.client = client;
  }

  async open() {
    const { client } = this;
    this.project = await client.projectWithIssue('texts', 'public');
    this.innocents = await client.people(INNOCENTS, 'innocent');
    await client.made(`/projects/${this.project}/issues/1/notes`, { body: 'Blue' });
    const database = new pg.Client({ connectionString: client.estate.databases['collaboration'] });
    await database.connect();
    await database.query(
      `insert into milestones (project_id, iid, title, description)
       select $1, g, 'v' || g, repeat('a', 524288) from generate_series(1, ${ROWS}) g`,
      [this.project],
    );
    await database.query(
      `insert into issues (project_id, iid, author_id, title, description, milestone_id)
       select $1, 1 + m.iid, 1, 'Issue ' || m.iid, repeat('a', 1048576), m.id from milestones m where m.project_id = $1`,
      [this.project],
    );
    await database.end();
  }

  async send() {
    const callers = Array.from({ length: CALLERS }, (_, index) => this.#searchUntilOver(index));
    const others = this.innocents.map((person, index) => this.#readUntilOver(person, index));
    await delay(SECONDS * 1000);
    this.isOver = true;
    await Promise.all([...callers, ...others]);
  }

  /** @param {number} index */
  async #searchUntilOver(index) {
    for (let count = index; !this.isOver; count += 1) {
      const search = encodeURIComponent(SEARCHES[count % SEARCHES.length] ?? '');
      const list = `/projects/${this.project}/${count % 2 === 0 ? 'milestones' : 'issues'}?per_page=100`;
      // One in eight is a page of all rows.
      const status = await this.#statusFrom(
        `127.0.1.${1 + index}`,
        count % 8 === 0 ? list : `${list}&search=${search}`,
      );
      this.facts.statuses[status] = (this.facts.statuses[status] ?? 0) + 1;
      if (!EXPECTED.includes(status)) this.#complain(`${list} of a caller: ${status}`);
      // A refused caller waits a moment, so that it does not retry ten thousand times a second.
      if (status !== 200) await delay(100);
    }
  }

  /**
   * The status of an anonymous request from this address.
   * @param {string} localAddress
   * @param {string} path
   * @returns {Promise<number>}
   */
  #statusFrom(localAddress, path) {
    return new Promise((resolve, reject) => {
      const request = get(`${this.client.estate.baseUrl}/api/v4${path}`, { localAddress }, (response) => {
        response
          .resume()
          .on('end', () => resolve(response.statusCode ?? 0))
          .on('error', reject);
      });
      request.on('error', reject);
    });
  }

  /**
   * Reads notes and lists until the drill is over.
   * @param {Person} person
   * @param {number} index
   */
  async #readUntilOver({ token }, index) {
    const issues = `/projects/${this.project}/issues`;
    const reads = [
      `${issues}/1/notes`,
      `${issues}/1`,
      `/projects/${this.project}/labels`,
      `${issues}?iids[]=1`,
      '/todos',
    ];
    for (let count = index; !this.isOver; count += 1) {
      const path = reads[count % reads.length] ?? '';
      const from = performance.now();
      const { status } = await this.client.api('GET', path, { token });
      this.facts.innocent += 1;
      this.facts.slowestInnocentMs = Math.max(this.facts.slowestInnocentMs, Math.round(performance.now() - from));
      if (status !== 200) this.#complain(`GET ${path} of another user: ${status}`);
    }
  }

  /** @param {string} text */
  #complain(text) {
    this.facts.wrong += 1;
    if (this.facts.examples.length < 5) this.facts.examples.push(text);
  }
}
