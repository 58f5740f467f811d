/**
 * Identity's database, then that of collaboration, is put back to where it was two minutes ago, under load. Beyond what the
 * restore itself takes nothing is lost or doubled, nobody gets what is not theirs, no id of anything that was lost is
 * given to others, and no two notes have one Message-ID. Source: docs/reference/reliability.md 4.5, 2.6.
 */
import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { EVERY_MAIL, WITHOUT_RATES } from '../../estate/environment.mjs';
import { until } from '../client.mjs';
import { Ledger } from '../ledger.mjs';
import { MailFiles } from '../mail-files.mjs';
import { Dump } from './dump.mjs';

const OPERATE = fileURLToPath(new URL('../../estate/operate.mjs', import.meta.url));
/** How far back. Units: ms. */
const SPAN_MS = 120_000;
/** Notes a second. */
const RATE = 8;
/** Projects that a stranger makes as soon as identity is there again. */
const STRANGERS = 25;
const VAULTS = 3;
const DOOMED = 6;
/** A token check that identity answered before it was lost holds for so long, be identity back sooner. Units: ms. */
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

/** Shape: facts of both rounds, and `wrong` of all. */
export async function run(client, prepared, { spanMs = SPAN_MS } = {}) {
  const drill = new Restore(client, spanMs);
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

class Restore {
  wrong = 0;
  examples = [];
  #ledgers = [];

  constructor(client, spanMs) {
    Object.assign(this, { client, spanMs });
    this.estate = client.estate;
  }

  #complain(text) {
    this.wrong += 1;
    if (this.examples.length < 8) this.examples.push(text);
  }

  /** A round that cannot be brought to its end has found something. */
  async round(name, play) {
    try {
      return await play();
    } catch (error) {
      this.#complain(`${name}: ${error.message}`);
      return { failed: error.message };
    }
  }

  #ledger(name) {
    const ledger = new Ledger(this.client);
    Object.assign(ledger, { seed: `${this.client.seed}-${name}` });
    ledger.adopt(this.people);
    this.#ledgers.push(ledger);
    return ledger;
  }

  /** Nobody writes any more, however it ended. */
  async close() {
    await Promise.all(this.#ledgers.map((ledger) => ledger.stop()));
  }

  async prepare() {
    this.people = new Ledger(this.client);
    await this.people.prepare();
    this.eve = await this.client.person('eve');
    this.stranger = await this.client.person('stranger');
    this.vaults = [];
    for (let index = 0; index < VAULTS; index += 1)
      this.vaults.push(await this.client.projectWithIssue(`vault${index}`));
  }

  /** Shape: figures of the round. */
  async identity() {
    const dump = new Dump(this.estate, 'identity');
    const ledger = this.#ledger('identity');
    ledger.write(RATE);
    await delay(1000);
    await dump.take();
    const lost = await this.#loseThings();
    await this.estate.processes.identity.kill();
    const lostAt = performance.now();
    await dump.putBack();
    await this.estate.processes.identity.start();
    const [given, stale] = await Promise.all([this.#strange(lost), this.#peek(lost, lostAt)]);
    await ledger.stop();
    const verdict = await this.#judge('identity', ledger);
    const lists = await this.#dropLost(lost);
    return { ...verdict, given, stale, lists, made: lost.projects.length };
  }

  /** What the restore will take: people, groups, projects with a secret issue each, and memberships of eve. */
  async #loseThings() {
    const { client, eve } = this;
    const lost = { people: [], groups: [], projects: [], secrets: [] };
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
    if (seen.status !== 200) this.#complain('eve had nothing to lose');
    return lost;
  }

  /** Somebody makes projects at once. Shape: how many were asked for, made, and were refused for a moment. */
  async #strange(lost) {
    const facts = { made: 0, refused: 0 };
    const { token } = this.stranger;
    for (let index = 0; index < STRANGERS; index += 1) {
      const json = { name: `strange${index}`, visibility: 'private' };
      const { status, body } = await this.client.api('POST', '/projects', { token, json });
      if (status === 503) {
        facts.refused += 1;
        index -= 1;
        if (facts.refused > 300) throw new Error('nobody can make anything');
        await delay(100);
        continue;
      }
      if (status !== 201) throw new Error(`POST /projects: ${status} ${JSON.stringify(body)}`);
      facts.made += 1;
      if (lost.projects.includes(body.id)) this.#complain(`project ${body.id} was given again`);
      const isRead = async () => {
        const issues = await this.client.api('GET', `/projects/${body.id}/issues`, { token });
        if (issues.status === 200 && issues.body.length > 0)
          this.#complain(`a stranger reads "${issues.body[0].title}"`);
        return issues.status === 200;
      };
      await until('its issues are listed', isRead, 15_000).catch((error) => this.#complain(error.message));
    }
    return facts;
  }

  /** Who lost what they had asks for it again and again. Shape: how often they were refused, let in, and let in by a lease. */
  async #peek(lost, lostAt) {
    const facts = { asked: 0, refused: 0, allowed: 0, leased: 0 };
    const { eve, client } = this;
    const tokens = lost.people.slice(-3).map(({ token }) => token);
    const questions = [
      ...this.vaults.flatMap((id) => [
        [`/projects/${id}/issues`, eve.token, 404],
        [`/projects/${id}`, eve.token, 404],
      ]),
      ...tokens.map((token) => ['/user', token, 401]),
      ...tokens.map((token) => ['/todos', token, 401]),
    ];
    const from = performance.now();
    for (const end = Date.now() + 12_000; Date.now() < end; await delay(20)) {
      for (const [path, token, expected] of questions) {
        const isLeased = performance.now() - lostAt < LEASE_MS;
        const { status } = await client.api('GET', path, { token });
        facts.asked += 1;
        if (status === expected) facts.refused += 1;
        if (status === 200 && isLeased) facts.leased += 1;
        else if (status === 200) {
          facts.allowed += 1;
          this.#complain(
            `GET ${path}: allowed ${Math.round(performance.now() - from)} ms after identity was there again`,
          );
        }
      }
    }
    if (facts.refused === 0) this.#complain('nobody was refused anything');
    return facts;
  }

  /** The operator looks at what is lost and drops it. Shape: how much was listed, before and after. */
  async #dropLost(lost) {
    const listed = async () => (await this.#operate('lost', 'collaboration', 'list')).trim().split('\n').slice(0, -1);
    const before = await listed();
    for (const id of lost.projects)
      if (!before.some((line) => line.startsWith(`project ${id} `))) this.#complain(`project ${id} is not listed`);
    const shown = await this.client.done(200, 'GET', '/issues?scope=all&search=secret%20of');
    if (shown.length > 0) this.#complain(`${shown.length} lost issues are listed`);
    const ids = (kind) => before.filter((line) => line.startsWith(`${kind} `)).map((line) => line.split(' ')[1]);
    for (const kind of ['project', 'group', 'user'])
      if (ids(kind).length > 0)
        await this.#operate('lost', 'identity', 'drop', kind, ...ids(kind)).catch((error) =>
          this.#complain(error.stderr ?? error.message),
        );
    const held = () => this.#issuesOf(lost.projects);
    await until('everything lost is dropped', async () => (await held()) === 0).catch(() => {});
    await until('nothing is listed', async () => (await listed()).length === 0).catch(() => {});
    if ((await held()) > 0) this.#complain(`${await held()} issues stay`);
    const left = await listed();
    if (left.length > 0) this.#complain(`still listed: ${left[0]}`);
    return { listed: before.length };
  }

  async collaboration() {
    const doomed = [];
    for (let index = 0; index < DOOMED; index += 1) doomed.push(await this.client.projectWithIssue(`doomed${index}`));
    const dump = new Dump(this.estate, 'collaboration');
    const before = this.#ledger('before');
    before.write(RATE);
    await delay(4000);
    // What was just written has not had all its effects.
    await before.stop();
    await dump.take();
    const between = this.#ledger('between');
    between.write(RATE);
    for (const id of doomed) {
      await delay(this.spanMs / (DOOMED + 1));
      await this.#remove(id);
    }
    await delay(this.spanMs / (DOOMED + 1));
    await until('what was removed is dropped', async () => (await this.#issuesOf(doomed)) === 0);
    await between.stop();
    await this.estate.processes.collaboration.kill();
    await dump.putBack();
    await this.estate.processes.collaboration.start();
    const after = this.#ledger('after');
    after.write(RATE);
    await delay(5000);
    await after.stop();
    const verdicts = { before: await this.#judge('before', before), after: await this.#judge('after', after) };
    await until('what was removed is dropped again', async () => (await this.#issuesOf(doomed)) === 0, 30_000).catch(
      async () => this.#complain(`${await this.#issuesOf(doomed)} issues of removed projects are there again`),
    );
    return verdicts;
  }

  async #remove(id) {
    const { client } = this;
    const { path_with_namespace: path } = await client.done(200, 'GET', `/projects/${id}`);
    await client.done(202, 'DELETE', `/projects/${id}`);
    const { path_with_namespace: marked } = await client.done(200, 'GET', `/projects/${id}`).catch(() => ({}));
    const query = new URLSearchParams({ permanently_remove: 'true', full_path: marked ?? path });
    await client.done(202, 'DELETE', `/projects/${id}?${query}`);
  }

  async #judge(name, ledger) {
    const { examples, ...verdict } = await ledger.check();
    for (const example of examples) this.#complain(`${name}: ${example}`);
    if (verdict.refused > 0) this.#complain(`${name}: ${verdict.refused} were refused`);
    if (verdict.acknowledged === 0) this.#complain(`${name}: nothing was written`);
    return verdict;
  }

  /** E-mails about different notes, by the marker that their text has, with one Message-ID. */
  async wrongMessageIds() {
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

  #issuesOf(projects) {
    return this.#count('issues where project_id = any($1)', [projects]);
  }

  async #count(what, values) {
    const database = new pg.Client({ connectionString: this.estate.databases.collaboration });
    await database.connect();
    try {
      const { rows } = await database.query(`select count(*)::int as count from ${what}`, values);
      return rows[0].count;
    } finally {
      await database.end();
    }
  }

  async #operate(command, service, ...words) {
    const env = { ...process.env, ROOKERY_DATA: this.estate.dataDir };
    const { stdout } = await promisify(execFile)(process.execPath, [OPERATE, command, service, ...words], { env });
    return stdout;
  }
}
