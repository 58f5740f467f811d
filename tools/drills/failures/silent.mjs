/**
 * Connections to a database become silent without an error, and a leading relay hangs or is cut off. No request waits longer
 * than the statement timeout, readiness reports the fault, and another relay takes over within ten seconds.
 * Source: docs/reference/reliability.md 2.2, 5.
 *
 * @import { DrillClient, Person } from '../client.mjs'
 * @import { ServiceProcess } from '../../processes/service-process.mjs'
 * @typedef {{ answers: number, unavailable: number, slowestMs: number, unreadyChecks: number }} RoundFigures
 */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { WITHOUT_RATES } from '../../processes/environment.mjs';
import { until } from '../client.mjs';
import { NoteLedger } from '../ledger.mjs';
import { FaultInjectingProxy } from './proxy.mjs';

const READERS = 12;
/** The statement timeout of 5 s, 2 s until the client gives up, and a margin for a busy machine. Units: ms. */
const LONGEST_MS = 8500;
const TAKEOVER_MS = 10_000;
/** Time after which the drill gives up waiting for a leader. Units: ms. */
const NO_LEADER_MS = 30_000;
/** Notes per second while the relay is unavailable. */
const RATE = 10;

export async function prepare() {
  return { env: { ...WITHOUT_RATES, MAILER_LEASE_MS: '10000' } };
}

/**
 * Runs the drill. Returns `rounds` with figures of readers and readiness, and durations of takeovers. `wrong` is the
 * number of violations.
 * @param {DrillClient} client
 */
export async function run(client) {
  const drill = new SilentConnectionsDrill(client);
  await drill.open();
  try {
    await drill.reads();
    for (const way of ['stopped', 'cut off']) await drill.takeover(way);
  } finally {
    await drill.close();
  }
  return drill.facts;
}

class SilentConnectionsDrill {
  facts = {
    /** @type {Record<string, RoundFigures>} */
    rounds: {},
    /** @type {Record<string, number>} */
    takeoverMs: {},
    /** Figures of the ledger, by way of the takeover. @type {Record<string, unknown>} */
    ledgers: {},
    wrong: 0,
    /** @type {string[]} */
    examples: [],
  };
  isOver = false;
  faultAt = 0;

  /** @param {DrillClient} client */
  constructor(client) {
    this.client = client;
    this.estate = client.estate;
    this.direct = this.estate.databases['collaboration'] ?? '';
    this.observer = new pg.Client({ connectionString: this.direct });
    this.ledger = new NoteLedger(client, { mails: false });
    const { hostname: host, port } = new URL(this.direct);
    this.proxy = new FaultInjectingProxy(() => ({ host, port: Number(port) }));
  }

  async open() {
    await this.proxy.listen(0);
    await this.observer.connect();
    await this.ledger.prepare();
  }

  async close() {
    await this.observer.end();
    await this.proxy.close();
  }

  /** @param {string} text */
  #complain(text) {
    this.facts.wrong += 1;
    if (this.facts.examples.length < 8) this.facts.examples.push(text);
  }

  #proxiedDatabaseUrl() {
    const url = new URL(this.direct);
    url.host = `127.0.0.1:${this.proxy.port}`;
    url.searchParams.delete('host');
    return url.href;
  }

  /** Users read while first one connection, then all connections become silent. */
  async reads() {
    const collaboration = this.client.process('collaboration');
    collaboration.env['DATABASE_URL_COLLABORATION'] = this.#proxiedDatabaseUrl();
    await collaboration.restart();
    await this.#runRound('one connection', 4, () => this.#swallowRandomConnection());
    await this.#runRound('all connections', 1, () => this.proxy.swallow());
    collaboration.env['DATABASE_URL_COLLABORATION'] = this.direct;
    await collaboration.restart();
    await this.#waitForLeader('all connections', collaboration);
    // Ends remaining sessions, so that they do not affect the next rounds.
    this.proxy.cut();
  }

  /**
   * Waits until a process leads. Resolves to whether it leads within the bound; otherwise this is a violation.
   * @param {string} way
   * @param {ServiceProcess} process
   */
  async #waitForLeader(way, { managementUrl }) {
    const isLed = await until('it leads', () => isRelayLeader({ managementUrl }), NO_LEADER_MS).then(
      () => true,
      () => false,
    );
    if (!isLed)
      this.#complain(`${way}: no relay leads after ${NO_LEADER_MS} ms, the old leader's session still exists`);
    return isLed;
  }

  #swallowRandomConnection() {
    const at = Math.floor(Math.random() * this.proxy.count);
    let index = 0;
    this.proxy.swallow(() => index++ === at);
  }

  /**
   * @param {string} name
   * @param {number} faults
   * @param {() => void} fault
   */
  async #runRound(name, faults, fault) {
    /** @type {RoundFigures} */
    const seen = { answers: 0, unavailable: 0, slowestMs: 0, unreadyChecks: 0 };
    this.facts.rounds[name] = seen;
    this.isOver = false;
    const work = [
      ...Array.from({ length: READERS }, (_, index) => this.#readUntilOver(index, seen)),
      this.#watchReadiness(seen),
    ];
    await delay(2000);
    for (let count = 0; count < faults; count += 1) {
      this.faultAt = performance.now();
      fault();
      await delay(LONGEST_MS + 1500);
    }
    await delay(2000);
    this.isOver = true;
    await Promise.all(work);
    // Each silent connection affects at most one request; the applier of the directory copy has one, too.
    const most = name === 'one connection' ? faults : Infinity;
    if (seen.unavailable > most) this.#complain(`${name}: ${seen.unavailable} requests were refused`);
    if (name === 'all connections' && seen.unreadyChecks === 0) this.#complain('the service was always ready');
  }

  /**
   * @param {number} index
   * @param {RoundFigures} figures
   */
  async #readUntilOver(index, figures) {
    const { ledger, client } = this;
    const { token } = /** @type {Person} */ (ledger.writers[index % ledger.writers.length]);
    const paths = [
      `/projects/${ledger.projects[0]}/issues`,
      `/projects/${ledger.projects[1]}/issues/1/notes`,
      '/todos',
    ];
    for (let count = index; !this.isOver; count += 1) {
      const from = performance.now();
      const path = paths[count % paths.length] ?? '';
      /** @type {number | string} */
      const status = await client.api('GET', path, { token }).then((answer) => answer.status, String);
      const ms = Math.round(performance.now() - from);
      figures.answers += 1;
      figures.slowestMs = Math.max(figures.slowestMs, ms);
      if (status === 503) figures.unavailable += 1;
      else if (status !== 200) this.#complain(`GET ${path}: ${status} after ${ms} ms`);
      if (ms > LONGEST_MS) this.#complain(`GET ${path}: ${status} after ${ms} ms`);
      if (status !== 200 && from - this.faultAt > LONGEST_MS)
        this.#complain(`GET ${path}: ${status} long after the fault`);
      await delay(status === 200 ? 20 : 200);
    }
  }

  /** @param {RoundFigures} figures */
  async #watchReadiness(figures) {
    while (!this.isOver) {
      const { managementUrl } = this.client.process('collaboration');
      const { status } = await fetch(`${managementUrl}/-/health/ready`);
      if (status !== 200) figures.unreadyChecks += 1;
      await delay(500);
    }
  }

  /**
   * Of two processes, the one that receives no HTTP requests leads, and then becomes silent.
   * @param {string} way
   */
  async takeover(way) {
    const collaboration = this.client.process('collaboration');
    const other = await this.estate.replica('collaboration', {
      DATABASE_URL_COLLABORATION: way === 'stopped' ? this.direct : this.#proxiedDatabaseUrl(),
    });
    // The old process restarts faster than the new one checks for a free lead.
    await collaboration.kill();
    const isLed = await this.#waitForLeader(way, other);
    await collaboration.start();
    if (!isLed) return this.estate.endReplica(other);
    const ledger = new NoteLedger(this.client, { mails: false });
    ledger.seed = `${this.client.seed}-${way.replace(' ', '')}`;
    ledger.adopt(this.ledger);
    ledger.write(RATE);
    await delay(1000);
    const from = performance.now();
    if (way === 'stopped') process.kill(Number(other.pid), 'SIGSTOP');
    else this.proxy.swallow();
    if (await this.#waitForLeader(way, collaboration)) {
      await until('no old event waits', async () => (await this.#oldestUnpublishedMs()) < 1000);
      const ms = Math.round(performance.now() - from);
      this.facts.takeoverMs[way] = ms;
      if (ms > TAKEOVER_MS) this.#complain(`${way}: takeover after ${ms} ms`);
    }
    await delay(2000);
    await ledger.stop();
    if (way === 'stopped') process.kill(Number(other.pid), 'SIGCONT');
    else this.proxy.cut();
    const { examples, ...verdict } = await ledger.check();
    this.facts.examples.push(...examples);
    this.facts.wrong += verdict.lost + verdict.missing + verdict.duplicate + (verdict.acknowledged === 0 ? 1 : 0);
    this.facts.ledgers[way] = verdict;
    await this.estate.endReplica(other);
  }

  async #oldestUnpublishedMs() {
    const { rows } = await this.observer.query(
      'select extract(epoch from now() - min(occurred_at)) * 1000 as ms from outbox where published_at is null',
    );
    return Number(rows[0].ms ?? 0);
  }
}

/**
 * Whether the relay of a process leads.
 * @param {{ managementUrl: string }} process
 */
async function isRelayLeader({ managementUrl }) {
  const text = await fetch(`${managementUrl}/-/metrics`).then((answer) => answer.text());
  return /^rookery_relay_leads 1$/m.test(text);
}
