/**
 * Connections to a database that fall silent without a word, and a leading relay that stands still or is cut off: nobody
 * waits longer than a statement may take, readiness says so, and another relay takes over within ten seconds.
 * Source: docs/reference/reliability.md 2.2, 5.
 */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { WITHOUT_RATES } from '../../estate/environment.mjs';
import { until } from '../client.mjs';
import { Ledger } from '../ledger.mjs';
import { Proxy } from './proxy.mjs';

const READERS = 12;
/** A statement may take 5 s, and is given up 2 s later; a busy machine takes a little more. Units: ms. */
const LONGEST_MS = 8500;
const TAKEOVER_MS = 10_000;
/** After which nobody waits for a leader any more. Units: ms. */
const NOBODY_MS = 30_000;
/** Notes a second while a relay is gone. */
const RATE = 10;

export async function prepare() {
  return { env: { ...WITHOUT_RATES, MAILER_LEASE_MS: '10000' } };
}

/** Shape: what readers and readiness saw in each round, how long takeovers took; `wrong` of all. */
export async function run(client) {
  const drill = new Silence(client);
  await drill.open();
  try {
    await drill.reads();
    for (const way of ['stopped', 'cut off']) await drill.takeover(way);
  } finally {
    await drill.close();
  }
  return drill.facts;
}

class Silence {
  facts = { rounds: {}, takeoverMs: {}, wrong: 0, examples: [] };

  constructor(client) {
    this.client = client;
    this.estate = client.estate;
    this.direct = this.estate.databases.collaboration;
    const { hostname: host, port } = new URL(this.direct);
    this.proxy = new Proxy(() => ({ host, port: Number(port) }));
  }

  async open() {
    await this.proxy.listen(0);
    this.looker = new pg.Client({ connectionString: this.direct });
    await this.looker.connect();
    this.ledger = new Ledger(this.client, { mails: false });
    await this.ledger.prepare();
  }

  async close() {
    await this.looker.end();
    await this.proxy.close();
  }

  #complain(text) {
    this.facts.wrong += 1;
    if (this.facts.examples.length < 8) this.facts.examples.push(text);
  }

  #through() {
    const url = new URL(this.direct);
    url.host = `127.0.0.1:${this.proxy.port}`;
    url.searchParams.delete('host');
    return url.href;
  }

  /** Known callers read while first one connection, then all become silent. */
  async reads() {
    const { collaboration } = this.estate.processes;
    collaboration.env.DATABASE_URL_COLLABORATION = this.#through();
    await collaboration.restart();
    await this.#round('one connection', 4, () => this.#swallowOne());
    await this.#round('all connections', 1, () => this.proxy.swallow());
    collaboration.env.DATABASE_URL_COLLABORATION = this.direct;
    await collaboration.restart();
    await this.#leads('all connections', collaboration);
    // What is tried next does not suffer from sessions that live on.
    this.proxy.cut();
  }

  /** Shape: whether it led within the bound; when not, that is a fault. */
  async #leads(way, { managementUrl }) {
    const isLed = await until('it leads', () => leads({ managementUrl }), NOBODY_MS).then(
      () => true,
      () => false,
    );
    if (!isLed) this.#complain(`${way}: nobody leads after ${NOBODY_MS} ms, the old leader's session lives on`);
    return isLed;
  }

  #swallowOne() {
    const at = Math.floor(Math.random() * this.proxy.count);
    let index = 0;
    this.proxy.swallow(() => index++ === at);
  }

  async #round(name, faults, fault) {
    const seen = { answers: 0, unavailable: 0, slowestMs: 0, unreadyLooks: 0 };
    this.facts.rounds[name] = seen;
    this.isOver = false;
    const work = [...Array.from({ length: READERS }, (_, index) => this.#read(index, seen)), this.#watch(seen)];
    await delay(2000);
    for (let count = 0; count < faults; count += 1) {
      this.faultAt = performance.now();
      fault();
      await delay(LONGEST_MS + 1500);
    }
    await delay(2000);
    this.isOver = true;
    await Promise.all(work);
    // Each silent connection is somebody's for once, and the copy's applier has one too.
    const most = name === 'one connection' ? faults : Infinity;
    if (seen.unavailable > most) this.#complain(`${name}: ${seen.unavailable} were refused`);
    if (name === 'all connections' && seen.unreadyLooks === 0) this.#complain('it was ready all the while');
  }

  async #read(index, seen) {
    const { ledger, client } = this;
    const { token } = ledger.writers[index % ledger.writers.length];
    const paths = [
      `/projects/${ledger.projects[0]}/issues`,
      `/projects/${ledger.projects[1]}/issues/1/notes`,
      '/todos',
    ];
    for (let count = index; !this.isOver; count += 1) {
      const from = performance.now();
      const path = paths[count % paths.length];
      const status = await client.api('GET', path, { token }).then((answer) => answer.status, String);
      const ms = Math.round(performance.now() - from);
      seen.answers += 1;
      seen.slowestMs = Math.max(seen.slowestMs, ms);
      if (status === 503) seen.unavailable += 1;
      else if (status !== 200) this.#complain(`GET ${path}: ${status} after ${ms} ms`);
      if (ms > LONGEST_MS) this.#complain(`GET ${path}: ${status} only after ${ms} ms`);
      if (status !== 200 && from - this.faultAt > LONGEST_MS) this.#complain(`GET ${path}: ${status} long after`);
      await delay(status === 200 ? 20 : 200);
    }
  }

  async #watch(seen) {
    while (!this.isOver) {
      const { managementUrl } = this.estate.processes.collaboration;
      const { status } = await fetch(`${managementUrl}/-/health/ready`);
      if (status !== 200) seen.unreadyLooks += 1;
      await delay(500);
    }
  }

  /** Of two processes the one that nobody asks over HTTP leads, and is gone without a word. */
  async takeover(way) {
    const { processes } = this.estate;
    const other = await this.estate.replica('collaboration', {
      DATABASE_URL_COLLABORATION: way === 'stopped' ? this.direct : this.#through(),
    });
    // It starts in less time than the other takes to look for a lead that is free.
    await processes.collaboration.kill();
    const isLed = await this.#leads(way, other);
    await processes.collaboration.start();
    if (!isLed) return this.estate.endReplica(other);
    const ledger = new Ledger(this.client, { mails: false });
    Object.assign(ledger, { seed: `${this.client.seed}-${way.replace(' ', '')}` });
    ledger.adopt(this.ledger);
    ledger.write(RATE);
    await delay(1000);
    const from = performance.now();
    if (way === 'stopped') process.kill(other.pid, 'SIGSTOP');
    else this.proxy.swallow();
    if (await this.#leads(way, processes.collaboration)) {
      await until('nothing old waits', async () => (await this.#oldestMs()) < 1000);
      const ms = Math.round(performance.now() - from);
      this.facts.takeoverMs[way] = ms;
      if (ms > TAKEOVER_MS) this.#complain(`${way}: taken over after ${ms} ms`);
    }
    await delay(2000);
    await ledger.stop();
    if (way === 'stopped') process.kill(other.pid, 'SIGCONT');
    else this.proxy.cut();
    const { examples, ...verdict } = await ledger.check();
    this.facts.examples.push(...examples);
    this.facts.wrong += verdict.lost + verdict.missing + verdict.duplicate + (verdict.acknowledged === 0 ? 1 : 0);
    this.facts[way] = verdict;
    await this.estate.endReplica(other);
  }

  async #oldestMs() {
    const { rows } = await this.looker.query(
      'select extract(epoch from now() - min(occurred_at)) * 1000 as ms from outbox where published_at is null',
    );
    return Number(rows[0].ms ?? 0);
  }
}

async function leads({ managementUrl }) {
  const text = await fetch(`${managementUrl}/-/metrics`).then((answer) => answer.text());
  return /^rookery_relay_leads 1$/m.test(text);
}
