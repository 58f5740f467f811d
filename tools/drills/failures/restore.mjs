/**
 * The database of identity, then that of collaboration, is restored to its state of two minutes ago, under load. Apart from
 * the data that the restore itself removes, no data is lost or duplicated, no user gains access to data of others, no id of
 * a lost resource is assigned again, and no two notes share a Message-ID. Source: docs/reference/reliability.md 4.5, 2.6.
 *
 * @import { DrillClient, Person } from '../client.mjs'
 * @typedef {{ people: Person[], groups: number[], projects: number[] }} LostData
 */
import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { EVERY_MAIL, WITHOUT_RATES } from '../../processes/environment.mjs';
import { until } from '../client.mjs';
import { NoteLedger } from '../ledger.mjs';
import { MailFiles } from '../mail-files.mjs';
import { DatabaseDump } from './dump.mjs';

const ROOKERY = fileURLToPath(new URL('../../cli/rookery.mjs', import.meta.url));
/** Age of the restored state. Units: ms. */
const SPAN_MS = 120_000;
/** Notes a second. */
const RATE = 8;
/** Projects that another user creates as soon as identity is available again. */
const STRANGERS = 25;
/** Projects of which eve becomes a member during the lost time. */
const VAULTS = 3;
/** Projects that are deleted during the lost time. */
const DOOMED = 6;
/** Time for which a gateway may use the result of an earlier token check. Units: ms. */
const LEASE_MS = 1000;

export async function prepare() {
  return {
    env: {
      ...WITHOUT_RATES,
      ...EVERY_MAIL,
      MAILER_LEASE_MS: '10000',
    },
  };
}

/**
 * Runs the drill. Returns the figures of both rounds. `wrong` is the number of violations.
 * @param {DrillClient} client
 * @param {unknown} _prepared
 * @param {{ spanMs?: number }} [options]
 */
export async function run(client, _prepared, { spanMs = SPAN_MS } = {}) {
  const drill = new DatabaseRestoreDrill(client, spanMs);
  try {
    await drill.prepare();
    const identity = await drill.round('identity', () => drill.identity());
    const collaboration = await drill.round('collaboration', () => drill.collaboration());
    const wrongIds = await drill.wrongMessageIds();
    return { identity, collaboration, wrongIds, wrong: drill.wrong + wrongIds, examples: drill.examples };
  } finally {
    await drill.close();
  }
}

class DatabaseRestoreDrill {
  wrong = 0;
  /** @type {string[]} */
  examples = [];
  /** @type {NoteLedger[]} */
  #ledgers = [];
  /** @type {Person | undefined} */
  eve;
  /** @type {Person | undefined} */
  stranger;
  /** @type {number[]} */
  vaults = [];

  /**
   * @param {DrillClient} client
   * @param {number} spanMs
   */
  constructor(client, spanMs) {
    this.client = client;
    this.spanMs = spanMs;
    this.estate = client.estate;
    this.people = new NoteLedger(client);
  }

  /** @param {string} text */
  #complain(text) {
    this.wrong += 1;
    if (this.examples.length < 8) this.examples.push(text);
  }

  /**
   * Runs a round. A round that cannot finish counts as a violation.
   * @template T
   * @param {string} name
   * @param {() => Promise<T>} play
   */
  async round(name, play) {
    try {
      return await play();
    } catch (error) {
      this.#complain(`${name}: ${/** @type {Error} */ (error).message}`);
      return { failed: /** @type {Error} */ (error).message };
    }
  }

  /** @param {string} name */
  #createLedger(name) {
    const ledger = new NoteLedger(this.client);
    ledger.seed = `${this.client.seed}-${name}`;
    ledger.adopt(this.people);
    this.#ledgers.push(ledger);
    return ledger;
  }

  /** Stops all load. */
  async close() {
    await Promise.all(this.#ledgers.map((ledger) => ledger.stop()));
  }

  async prepare() {
    await this.people.prepare();
    this.eve = await this.client.person('eve');
    this.stranger = await this.client.person('stranger');
    for (let index = 0; index < VAULTS; index += 1)
      this.vaults.push(await this.client.projectWithIssue(`vault${index}`));
  }

  /** Restores the database of identity. Returns the figures of the round. */
  async identity() {
    const dump = new DatabaseDump(this.estate, 'identity');
    const ledger = this.#createLedger('identity');
    ledger.write(RATE);
    await delay(1000);
    await dump.take();
    const lost = await this.#createLostData();
    await this.client.process('identity').kill();
    const lostAt = performance.now();
    await dump.putBack();
    await this.client.process('identity').start();
    const [given, stale] = await Promise.all([this.#createProjects(lost), this.#readLostData(lost, lostAt)]);
    await ledger.stop();
    const verdict = await this.#verifyLedger('identity', ledger);
    const lists = await this.#dropLost(lost);
    return { ...verdict, given, stale, lists, made: lost.projects.length };
  }

  /** Creates the data that the restore will remove: users, groups, projects with secret issues, and memberships of eve. */
  async #createLostData() {
    const { client } = this;
    const eve = /** @type {Person} */ (this.eve);
    /** @type {LostData} */
    const lost = { people: [], groups: [], projects: [] };
    for (const vault of this.vaults) await client.join(vault, [eve], 40);
    for (const end = Date.now() + this.spanMs; Date.now() < end; await delay(500)) {
      const name = `lost${lost.projects.length}`;
      const person = await client.person(name);
      const group = await client.made('/groups', { name, path: `g${name}-${client.seed}`, visibility: 'public' });
      const project = await client.made('/projects', { name, namespace_id: group.id, visibility: 'public' });
      await client.made(`/projects/${project.id}/issues`, { title: `secret of ${name}` }, person.token).catch(() => {});
      await client.made(`/projects/${project.id}/issues`, { title: `secret of ${name}` });
      lost.people.push(person);
      lost.groups.push(group.id);
      lost.projects.push(project.id);
    }
    const seen = await client.api('GET', `/projects/${this.vaults[0]}/issues`, { token: eve.token });
    if (seen.status !== 200) this.#complain('eve had no access before the restore');
    return lost;
  }

  /**
   * Lets another user create projects. Returns the numbers of created projects and of temporary refusals.
   * @param {LostData} lost
   */
  async #createProjects(lost) {
    const facts = { made: 0, refused: 0 };
    const { token } = /** @type {Person} */ (this.stranger);
    for (let index = 0; index < STRANGERS; index += 1) {
      const json = { name: `strange${index}`, visibility: 'private' };
      const { status, body } = await this.client.api('POST', '/projects', { token, json });
      if (status === 503) {
        facts.refused += 1;
        index -= 1;
        if (facts.refused > 300) throw new Error('no project can be created');
        await delay(100);
        continue;
      }
      if (status !== 201) throw new Error(`POST /projects: ${status} ${JSON.stringify(body)}`);
      facts.made += 1;
      if (lost.projects.includes(body.id)) this.#complain(`project id ${body.id} was assigned again`);
      const isRead = async () => {
        const issues = await this.client.api('GET', `/projects/${body.id}/issues`, { token });
        if (issues.status === 200 && issues.body.length > 0)
          this.#complain(`another user reads "${issues.body[0].title}"`);
        return issues.status === 200;
      };
      await until('its issues are listed', isRead, 15_000).catch((error) => this.#complain(error.message));
    }
    return facts;
  }

  /**
   * Lets users who lost access request the data repeatedly. Returns the numbers of requests, refusals and permitted
   * requests, and of requests that were permitted by an earlier token check.
   * @param {LostData} lost
   * @param {number} lostAt
   */
  async #readLostData(lost, lostAt) {
    const facts = { asked: 0, refused: 0, allowed: 0, leased: 0 };
    const { client } = this;
    const eve = /** @type {Person} */ (this.eve);
    const tokens = lost.people.slice(-3).map(({ token }) => token);
    /** @type {[path: string, token: string, expected: number][]} */
    const requests = [
      ...this.vaults.flatMap(
        (id) =>
          /** @type {[string, string, number][]} */ ([
            [`/projects/${id}/issues`, eve.token, 404],
            [`/projects/${id}`, eve.token, 404],
          ]),
      ),
      ...tokens.map((token) => /** @type {[string, string, number]} */ (['/user', token, 401])),
      ...tokens.map((token) => /** @type {[string, string, number]} */ (['/todos', token, 401])),
    ];
    const from = performance.now();
    for (const end = Date.now() + 12_000; Date.now() < end; await delay(20)) {
      for (const [path, token, expected] of requests) {
        const isLeased = performance.now() - lostAt < LEASE_MS;
        const { status } = await client.api('GET', path, { token });
        facts.asked += 1;
        if (status === expected) facts.refused += 1;
        if (status === 200 && isLeased) facts.leased += 1;
        else if (status === 200) {
          facts.allowed += 1;
          this.#complain(
            `GET ${path}: allowed ${Math.round(performance.now() - from)} ms after identity was available again`,
          );
        }
      }
    }
    if (facts.refused === 0) this.#complain('no request was refused');
    return facts;
  }

  /**
   * Lists the lost resources and drops them, as the operator. Returns the number of listed resources.
   * @param {LostData} lost
   */
  async #dropLost(lost) {
    const listed = async () =>
      (await this.#runRookery('lost', 'collaboration', 'list')).trim().split('\n').slice(0, -1);
    const before = await listed();
    for (const id of lost.projects)
      if (!before.some((line) => line.startsWith(`project ${id} `))) this.#complain(`project ${id} is not listed`);
    const shown = await this.client.done(200, 'GET', '/issues?scope=all&search=secret%20of');
    if (shown.length > 0) this.#complain(`${shown.length} lost issues are listed`);
    /** @param {string} kind */
    const ids = (kind) => before.filter((line) => line.startsWith(`${kind} `)).map((line) => line.split(' ')[1] ?? '');
    for (const kind of ['project', 'group', 'user'])
      if (ids(kind).length > 0)
        await this.#runRookery('lost', 'identity', 'drop', kind, ...ids(kind)).catch((error) =>
          this.#complain(error.stderr ?? error.message),
        );
    const held = () => this.#countIssuesOf(lost.projects);
    await until('all lost resources are dropped', async () => (await held()) === 0).catch(() => {});
    await until('the list is empty', async () => (await listed()).length === 0).catch(() => {});
    if ((await held()) > 0) this.#complain(`${await held()} issues remain`);
    const left = await listed();
    if (left.length > 0) this.#complain(`still listed: ${left[0]}`);
    return { listed: before.length };
  }

  /** Restores the database of collaboration. Returns the figures of the round. */
  async collaboration() {
    /** @type {number[]} */
    const doomed = [];
    for (let index = 0; index < DOOMED; index += 1) doomed.push(await this.client.projectWithIssue(`doomed${index}`));
    const dump = new DatabaseDump(this.estate, 'collaboration');
    const before = this.#createLedger('before');
    before.write(RATE);
    await delay(4000);
    // Effects of the latest writes are still pending.
    await before.stop();
    await dump.take();
    const between = this.#createLedger('between');
    between.write(RATE);
    for (const id of doomed) {
      await delay(this.spanMs / (DOOMED + 1));
      await this.#removeProject(id);
    }
    await delay(this.spanMs / (DOOMED + 1));
    await until('issues of deleted projects are dropped', async () => (await this.#countIssuesOf(doomed)) === 0);
    await between.stop();
    await this.client.process('collaboration').kill();
    await dump.putBack();
    await this.client.process('collaboration').start();
    const after = this.#createLedger('after');
    after.write(RATE);
    await delay(5000);
    await after.stop();
    const verdicts = {
      before: await this.#verifyLedger('before', before),
      after: await this.#verifyLedger('after', after),
    };
    await until(
      'issues of deleted projects are dropped again',
      async () => (await this.#countIssuesOf(doomed)) === 0,
      30_000,
    ).catch(async () => this.#complain(`${await this.#countIssuesOf(doomed)} issues of deleted projects exist again`));
    return verdicts;
  }

  /** @param {number} id */
  async #removeProject(id) {
    const { client } = this;
    const { path_with_namespace: path } = await client.done(200, 'GET', `/projects/${id}`);
    await client.done(202, 'DELETE', `/projects/${id}`);
    const { path_with_namespace: marked } = await client.done(200, 'GET', `/projects/${id}`).catch(() => ({}));
    const query = new URLSearchParams({ permanently_remove: 'true', full_path: marked ?? path });
    await client.done(202, 'DELETE', `/projects/${id}?${query}`);
  }

  /**
   * @param {string} name
   * @param {NoteLedger} ledger
   */
  async #verifyLedger(name, ledger) {
    const { examples, ...verdict } = await ledger.check();
    for (const example of examples) this.#complain(`${name}: ${example}`);
    if (verdict.refused > 0) this.#complain(`${name}: ${verdict.refused} writes were refused`);
    if (verdict.acknowledged === 0) this.#complain(`${name}: no note was written`);
    return verdict;
  }

  /** Number of e-mails about different notes (identified by their marker) with the same Message-ID. */
  async wrongMessageIds() {
    /** @type {Map<string | undefined, string>} */
    const markers = new Map();
    let wrong = 0;
    for (const { id, text } of await new MailFiles(this.estate.mailDir).all()) {
      const marker = /drill \S+ of/.exec(text)?.[0];
      if (!marker) continue;
      const known = markers.get(id) ?? marker;
      if (known !== marker) {
        wrong += 1;
        if (this.examples.length < 8) this.examples.push(`${id} names ${known} and ${marker}`);
      }
      markers.set(id, known);
    }
    return wrong;
  }

  /**
   * Number of stored issues of projects.
   * @param {number[]} projects
   * @returns {Promise<number>}
   */
  async #countIssuesOf(projects) {
    const database = new pg.Client({ connectionString: this.estate.databases['collaboration'] });
    await database.connect();
    try {
      const counting = 'select count(*)::int as count from issues where project_id = any($1)';
      const { rows } = await database.query(counting, [projects]);
      return rows[0].count;
    } finally {
      await database.end();
    }
  }

  /**
   * @param {string} command
   * @param {string} service
   * @param {...string} words
   */
  async #runRookery(command, service, ...words) {
    const env = { ...process.env, ROOKERY_DATA: this.estate.dataDir };
    const { stdout } = await promisify(execFile)(process.execPath, [ROOKERY, command, service, ...words], { env });
    return stdout;
  }
}
