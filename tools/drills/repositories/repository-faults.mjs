/**
 * Faults of drills about repositories, and the comparison of branches with their events: collaboration runs as two replicas
 * behind a balancer. Source: reference reliability 11; ADR 0185.
 *
 * @import { ServiceProcess } from '../../processes/service-process.mjs'
 * @import { DrillClient } from '../client.mjs'
 * @typedef {{ from: string | null, to: string | null }} Change  null for a branch that is new or deleted
 */
import { mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { WITHOUT_RATES } from '../../processes/environment.mjs';
import { sharedTemporaryFolder } from '../../servers/postgres-files.mjs';
import { until } from '../client.mjs';
import { Balancer } from '../failures/balancer.mjs';
import { git, gitProcessesBelow } from './git.mjs';

/** A push of a dead process is settled after a lease of five minutes, by a job that runs each minute. */
const SETTLED_WITHIN_MS = 8 * 60_000;
/** A lock of a killed process is removed once it is older than the longest transaction of refs. */
export const UNLOCKED_WITHIN_MS = 7 * 60_000;
const ROUNDS = 3;
/** Number of acknowledged changes between two faults. */
const PROGRESS = 3;
const PROGRESS_WITHIN_MS = 20_000;
/** Kills of single processes of git in each round. */
const GIT_KILLS = 12;
const NATS_DOWN_MS = 5000;
/** Maximum time after the load until the last changes have had their effects. */
const EFFECTS_WITHIN_MS = 60_000;
const IN_PUSH_WITHIN_MS = 5000;
const OPEN_PUSHES = 'select count(*)::int as count from pushes where settled_at is null';
const FRESH_PUSHES = `select 1 from pushes where settled_at is null and created_at > now() - interval '1 second' limit 1`;

export async function prepare() {
  const balancer = new Balancer();
  await balancer.listen(0);
  const env = { ...WITHOUT_RATES, GATEWAY_UPSTREAM_COLLABORATION: balancer.url };
  return { env, server: { balancer, close: () => balancer.close() } };
}

/** Base class of drills about repositories: two replicas of collaboration, faults under load, and checks afterwards. */
export class RepositoryFaultDrill {
  wrong = 0;
  /** Changes of refs that the faults left between their intent and their settlement. */
  interrupted = 0;
  /** @type {Record<string, number>} */
  kills = {};
  /** @type {string[]} */
  examples = [];
  /** @type {ServiceProcess[]} */
  replicas = [];
  folder = mkdtempSync(join(sharedTemporaryFolder(), 'rookery-repositories-'));

  /**
   * @param {DrillClient} client
   * @param {Balancer} balancer
   */
  constructor(client, balancer) {
    this.client = client;
    this.balancer = balancer;
  }

  /** @param {string} text */
  complain(text) {
    this.wrong += 1;
    if (this.examples.length < 10) this.examples.push(text);
  }

  /** Starts the second replica. */
  async balance() {
    this.replicas = [this.client.process('collaboration'), await this.client.estate.replica('collaboration')];
    this.balancer.balance(this.replicas);
    for (const replica of this.replicas) await until('it is balanced', () => this.balancer.isReady(replica));
  }

  /**
   * Repeats each of the given steps, while the processes are killed.
   * @param {(() => Promise<unknown>)[]} steps
   */
  async workDuringFaults(steps) {
    let isOver = false;
    const running = steps.map(async (step) => {
      while (!isOver) await step();
    });
    for (let round = 0; round < ROUNDS; round += 1) await this.#killEachKind();
    isOver = true;
    await Promise.all(running);
    this.interrupted = (await this.client.query('collaboration', OPEN_PUSHES))[0].count;
    if (this.interrupted === 0) this.complain('no fault fell between an intent and a settlement');
  }

  /** Number of acknowledged changes. */
  get done() {
    return 0;
  }

  /** Waits a little, and until some changes are acknowledged: faults without work between them show nothing. */
  async #waitForProgress() {
    const before = this.done;
    await delay(500 + Math.random() * 1500);
    for (const end = Date.now() + PROGRESS_WITHIN_MS; this.done < before + PROGRESS && Date.now() < end;)
      await delay(50);
  }

  /** Kills each kind of process. */
  async #killEachKind() {
    for (const replica of this.replicas) {
      await this.#waitForProgress();
      await this.#killAndCount('collaboration', async () => {
        await this.#waitForOpenPush();
        await replica.restart();
      });
    }
    for (let n = 0; n < GIT_KILLS; n += 1) {
      await delay(Math.random() * 400);
      this.#killRandomGit();
    }
    await this.#waitForProgress();
    await this.#killAndCount('postgres', async () => {
      await this.#waitForOpenPush();
      await this.client.killPostgres();
    });
    await this.#waitForProgress();
    await this.#killAndCount('nats', async () => {
      await this.client.estate.nats?.stop();
      await delay(NATS_DOWN_MS);
      await this.client.estate.nats?.start();
    });
    await this.#killAndCount('gateway', () => this.client.process('gateway').restart());
  }

  /** Waits until no change of refs is between its intent and its settlement. */
  async settled() {
    const isSettled = async () => (await this.client.query('collaboration', OPEN_PUSHES))[0].count === 0;
    await until('all pushes are settled', isSettled, SETTLED_WITHIN_MS).catch(({ message }) => this.complain(message));
  }

  /**
   * Counts the problems that are left once effects had their time.
   * @param {() => Promise<string[]>} problemsNow
   */
  async complainIfLasting(problemsNow) {
    let problems = await problemsNow();
    for (const end = Date.now() + EFFECTS_WITHIN_MS; problems.length > 0 && Date.now() < end;) {
      await delay(1000);
      problems = await problemsNow();
    }
    for (const problem of problems) this.complain(problem);
  }

  /**
   * The newest change of each ref that was done leads to the present value of the ref.
   * @param {number} project
   * @param {Map<string, string>} refs
   */
  async compareRows(project, refs) {
    const rows = await this.client.query(
      'collaboration',
      `select distinct on (u.ref) u.ref, u.new_id from ref_updates u join pushes p on p.id = u.push_id
       where p.project_id = $1 and u.state = 'done' order by u.ref, p.id desc`,
      [project],
    );
    for (const { ref, new_id: id } of rows) {
      const now = refs.get(ref.replace('refs/heads/', '')) ?? '0'.repeat(40);
      if (now !== id) this.complain(`${ref} is ${now}, but its row says ${id}`);
    }
  }

  /**
   * Checks that the objects of a repository are complete, and that nothing is left locked.
   * @param {string} repository
   */
  async checkRepository(repository) {
    const { code, output } = await git(repository, ['fsck', '--strict', '--no-dangling']);
    if (code !== 0) this.complain(`fsck: ${output}`);
    const files = /** @type {string[]} */ (readdirSync(repository, { recursive: true }));
    for (const file of files.filter((name) => name.endsWith('.lock'))) this.complain(`${file} is left`);
  }

  /** @param {string} repository */
  async refsOf(repository) {
    const { output } = await git(repository, [
      'for-each-ref',
      '--format=%(refname:lstrip=2) %(objectname)',
      'refs/heads',
    ]);
    return new Map(
      output
        .split('\n')
        .filter(Boolean)
        .map((line) => /** @type {[string, string]} */ (line.split(' '))),
    );
  }

  /**
   * Changes of branches that the feed of a project shows.
   * @param {number} project
   * @returns {Promise<Map<string, Change[]>>}
   */
  async eventsOf(project) {
    /** @type {Map<string, Change[]>} */
    const changes = new Map();
    for (let page = 1; ; page += 1) {
      const events = await this.client.done(200, 'GET', `/projects/${project}/events?per_page=100&page=${page}`);
      for (const { push_data: data } of events) {
        if (!data) continue;
        const change = { from: data.commit_from ?? null, to: data.commit_to ?? null };
        changes.set(data.ref, [...(changes.get(data.ref) ?? []), change]);
      }
      if (events.length < 100) return changes;
    }
  }

  /**
   * @param {string} name
   * @param {() => Promise<unknown>} fault
   */
  async #killAndCount(name, fault) {
    this.kills[name] = (this.kills[name] ?? 0) + 1;
    await fault();
  }

  /** Waits until a push is between its intent and its settlement, where a kill does the most harm. */
  async #waitForOpenPush() {
    const database = new pg.Client({ connectionString: this.client.estate.databases['collaboration'] });
    await database.connect();
    const isOpen = async () => (await database.query(FRESH_PUSHES)).rows.length > 0;
    try {
      for (const end = Date.now() + IN_PUSH_WITHIN_MS; !(await isOpen()) && Date.now() < end;) await delay(2);
    } finally {
      await database.end();
    }
  }

  /** Kills one process of git that a replica started. */
  #killRandomGit() {
    const found = this.replicas.flatMap(({ pid }) => (pid === undefined ? [] : gitProcessesBelow(pid)));
    const pid = found[Math.floor(Math.random() * found.length)];
    if (pid === undefined) return;
    try {
      process.kill(pid, 'SIGKILL');
      this.kills['git'] = (this.kills['git'] ?? 0) + 1;
    } catch {
      // The process has ended already.
    }
  }
}

/**
 * Returns a text for each commit at which the changes of a ref form no chain from nothing to `now`: a change is missing, or
 * there twice. The order of `changes` does not matter.
 * @param {Change[]} changes
 * @param {string | null} now
 */
export function refChangeChainProblems(changes, now) {
  /** @type {Map<string, number>} */
  const balance = new Map();
  const add = (/** @type {string | null} */ id, /** @type {number} */ count) =>
    balance.set(id ?? 'nothing', (balance.get(id ?? 'nothing') ?? 0) + count);
  for (const { from, to } of changes) {
    add(from, -1);
    add(to, 1);
  }
  add(null, 1);
  add(now, -1);
  const seen = new Map();
  for (const { to } of changes) if (to !== null) seen.set(to, (seen.get(to) ?? 0) + 1);
  return [
    ...[...balance]
      .filter(([, count]) => count !== 0)
      .map(([id, count]) => `${id} is reached ${count} times too often`),
    ...[...seen].filter(([, count]) => count > 1).map(([id, count]) => `${id} has ${count} events`),
  ];
}
