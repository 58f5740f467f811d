/**
 * Pushes by git and commits by the API, while both replicas of collaboration, processes of git, the gateway, PostgreSQL and
 * NATS are killed. Afterwards each acknowledged change of a branch is in the repository, has exactly one event, and the
 * rows about refs equal the refs. Source: reference reliability 11; ADR 0185.
 *
 * @import { ServiceProcess } from '../../processes/service-process.mjs'
 * @import { Client, Person } from '../client.mjs'
 * @typedef {{ from: string | null, to: string | null }} Change  null for a branch that is new or deleted
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { WITHOUT_RATES } from '../../processes/environment.mjs';
import { sharedTemporary } from '../../servers/postgres-files.mjs';
import { until } from '../client.mjs';
import { Balancer } from '../failures/balancer.mjs';

const PROJECTS = 2;
/** Clones that push, and clients that commit by the API. */
const PUSHERS = 6;
const COMMITTERS = 3;
const ROUNDS = 3;
/** Kills of single processes of git in each round. */
const GIT_KILLS = 12;
const NATS_DOWN_MS = 5000;
/** A push of a dead process is settled after a lease of five minutes, by a job that runs each minute. */
const SETTLED_WITHIN_MS = 8 * 60_000;
const PUSH_WITHIN_MS = 60_000;
/** A lock of a killed process is removed once it is older than the longest transaction of refs. */
const UNLOCKED_WITHIN_MS = 7 * 60_000;
const IN_PUSH_WITHIN_MS = 5000;
const OPEN_PUSHES = 'select count(*)::int as count from pushes where settled_at is null';
const FRESH_PUSHES = `select 1 from pushes where settled_at is null and created_at > now() - interval '1 second' limit 1`;
/** One push in this number deletes its branch. */
const DELETES = 12;

export async function prepare() {
  const balancer = new Balancer();
  await balancer.listen(0);
  const env = { ...WITHOUT_RATES, GATEWAY_UPSTREAM_COLLABORATION: balancer.url };
  return { env, server: { balancer, close: () => balancer.close() } };
}

/**
 * Shape: numbers of changes by their outcome; `wrong` is the number of violations.
 * @param {Client} client
 * @param {{ server: { balancer: Balancer } }} prepared
 */
export async function run(client, { server: { balancer } }) {
  const drill = new BrokenPushes(client, balancer);
  try {
    await drill.prepare();
    await drill.changeDuringFaults();
    await drill.changeOnceMore();
    await drill.check();
  } finally {
    rmSync(drill.folder, { recursive: true, force: true });
  }
  const { acknowledged, unknown, interrupted, kills, wrong, examples } = drill;
  return { acknowledged, unknown, interrupted, kills, wrong, examples };
}

class BrokenPushes {
  wrong = 0;
  acknowledged = 0;
  unknown = 0;
  /** Pushes that the faults left between their intent and their settlement. */
  interrupted = 0;
  /** @type {Record<string, number>} */
  kills = {};
  /** @type {string[]} */
  examples = [];
  /** @type {Writer[]} */
  writers = [];
  /** @type {{ id: number, path: string }[]} */
  projects = [];
  /** @type {ServiceProcess[]} */
  replicas = [];
  folder = mkdtempSync(join(sharedTemporary(), 'rookery-pushes-'));

  /**
   * @param {Client} client
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

  async prepare() {
    const { client } = this;
    this.replicas = [client.process('collaboration'), await client.estate.replica('collaboration')];
    this.balancer.balance(this.replicas);
    for (const replica of this.replicas) await until('it is balanced', () => this.balancer.isReady(replica));
    const people = await client.people(PUSHERS + COMMITTERS, 'pusher');
    const path = `pushes-${client.seed}`;
    const group = await client.made('/groups', { name: path, path });
    for (let n = 0; n < PROJECTS; n += 1) {
      const project = await client.made('/projects', { name: `p${n}`, namespace_id: group.id });
      await client.made(`/projects/${project.id}/repository/files/README.md`, {
        ...{ branch: 'main', content: 'Drill', commit_message: 'Drill' },
      });
      await client.join(project.id, people, 30);
      this.projects.push({ id: project.id, path: project.path_with_namespace });
    }
    this.writers = people.map((person, n) => {
      const project = /** @type {{ id: number, path: string }} */ (this.projects[n % PROJECTS]);
      return n < PUSHERS ? new Pusher(this, person, project, n) : new Committer(this, person, project, n);
    });
    for (const writer of this.writers) await writer.prepare();
  }

  async changeDuringFaults() {
    let isOver = false;
    const changes = this.writers.map(async (writer) => {
      while (!isOver) await writer.change();
    });
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const replica of this.replicas) {
        await delay(1000 + Math.random() * 1500);
        await this.#kill('collaboration', async () => {
          await this.#inPush();
          await replica.restart();
        });
      }
      for (let n = 0; n < GIT_KILLS; n += 1) {
        await delay(Math.random() * 400);
        this.#killGit();
      }
      await delay(500 + Math.random() * 1000);
      await this.#kill('postgres', async () => {
        await this.#inPush();
        await this.client.killPostgres();
      });
      await delay(500 + Math.random() * 1000);
      await this.#kill('nats', async () => {
        await this.client.estate.nats?.stop();
        await delay(NATS_DOWN_MS);
        await this.client.estate.nats?.start();
      });
      await this.#kill('gateway', () => this.client.process('gateway').restart());
    }
    isOver = true;
    await Promise.all(changes);
    this.interrupted = (await this.client.query('collaboration', OPEN_PUSHES))[0].count;
    if (this.interrupted === 0) this.complain('no fault fell between an intent and a settlement');
  }

  /** After the faults each branch takes changes again, and nothing is left locked. */
  async changeOnceMore() {
    const change = async (/** @type {Writer} */ writer) => {
      const acknowledges = async () => (await writer.change()) === 'acknowledged';
      await until('the branch takes changes again', acknowledges, UNLOCKED_WITHIN_MS).catch(() => {
        this.complain(`${writer.branch} takes no changes: ${writer.lastRefusal}`);
      });
    };
    await Promise.all(this.writers.map(change));
  }

  async check() {
    const isSettled = async () => (await this.client.query('collaboration', OPEN_PUSHES))[0].count === 0;
    await until('all pushes are settled', isSettled, SETTLED_WITHIN_MS).catch(({ message }) => this.complain(message));
    for (const project of this.projects) {
      const repository = this.#repositoryOf(project.id);
      const refs = await this.#refsOf(repository);
      await this.#compareEvents(project, refs);
      await this.#compareRows(project, refs);
      const { code, output } = await git(repository, ['fsck', '--strict', '--no-dangling']);
      if (code !== 0) this.complain(`fsck: ${output}`);
      const files = /** @type {string[]} */ (readdirSync(repository, { recursive: true }));
      for (const file of files.filter((name) => name.endsWith('.lock'))) this.complain(`${file} is left`);
    }
  }

  /**
   * Each branch goes from nothing to its present commit by the changes of its events, and each acknowledged change is one
   * of them.
   * @param {{ id: number }} project
   * @param {Map<string, string>} refs
   */
  async #compareEvents(project, refs) {
    const writers = this.writers.filter((writer) => writer.project.id === project.id);
    const problemsNow = async () => {
      const events = await this.#eventsOf(project.id);
      return writers.flatMap((writer) => {
        const own = events.get(writer.branch) ?? [];
        return [
          ...brokenLinks(own, refs.get(writer.branch) ?? null).map((text) => `${writer.branch}: ${text}`),
          ...writer.missingIn(own).map((id) => `${writer.branch}: the acknowledged ${id} has no event`),
        ];
      });
    };
    // Events of the last changes are still on their way.
    let problems = await problemsNow();
    for (const end = Date.now() + 60_000; problems.length > 0 && Date.now() < end; problems = await problemsNow())
      await delay(1000);
    for (const problem of problems) this.complain(problem);
  }

  /**
   * The newest change of each ref that was done leads to the present value of the ref.
   * @param {{ id: number }} project
   * @param {Map<string, string>} refs
   */
  async #compareRows(project, refs) {
    const rows = await this.client.query(
      'collaboration',
      `select distinct on (u.ref) u.ref, u.new_id from ref_updates u join pushes p on p.id = u.push_id
       where p.project_id = $1 and u.state = 'done' order by u.ref, p.id desc`,
      [project.id],
    );
    for (const { ref, new_id: id } of rows) {
      const now = refs.get(ref.replace('refs/heads/', '')) ?? '0'.repeat(40);
      if (now !== id) this.complain(`${ref} is ${now}, but its row says ${id}`);
    }
  }

  /**
   * Changes of branches that the feed of a project shows.
   * @param {number} project
   * @returns {Promise<Map<string, Change[]>>}
   */
  async #eventsOf(project) {
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

  /** @param {string} repository */
  async #refsOf(repository) {
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

  /** @param {number} project */
  #repositoryOf(project) {
    const digest = createHash('sha256').update(String(project)).digest('hex');
    return join(this.client.estate.repositories, '@hashed', digest.slice(0, 2), digest.slice(2, 4), `${digest}.git`);
  }

  /**
   * @param {string} name
   * @param {() => Promise<unknown>} fault
   */
  async #kill(name, fault) {
    this.kills[name] = (this.kills[name] ?? 0) + 1;
    await fault();
  }

  /** Waits until a push is between its intent and its settlement, where a kill does the most harm. */
  async #inPush() {
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
  #killGit() {
    const found = this.replicas.flatMap(({ pid }) => (pid === undefined ? [] : gitBelow(pid)));
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
 * Changes that do not lead, one after the other, from nothing to the present value: one is missing, or there twice.
 * @param {Change[]} changes
 * @param {string | null} now
 */
function brokenLinks(changes, now) {
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

/** A client that changes a branch of its own. */
class Writer {
  /** Commits that the server acknowledged as the new value of the branch. @type {string[]} */
  acknowledged = [];
  lastRefusal = '';
  #count = 0;

  /**
   * @param {BrokenPushes} drill
   * @param {Person} person
   * @param {{ id: number, path: string }} project
   * @param {number} n
   */
  constructor(drill, person, project, n) {
    this.drill = drill;
    this.person = person;
    this.project = project;
    this.branch = `branch-${n}`;
  }

  async prepare() {}

  /**
   * Changes the branch once.
   * @returns {Promise<'acknowledged' | 'unknown'>}
   */
  async change() {
    this.#count += 1;
    const id = await this.send(this.#count);
    if (id === null) {
      this.drill.unknown += 1;
      await delay(100);
      return 'unknown';
    }
    this.drill.acknowledged += 1;
    if (id !== 'nothing') this.acknowledged.push(id);
    return 'acknowledged';
  }

  /**
   * Shape: the new value of the branch, `nothing` for a deleted one; null if it was not acknowledged.
   * @param {number} _count
   * @returns {Promise<string | null>}
   */
  async send(_count) {
    return null;
  }

  /** @param {Change[]} changes */
  missingIn(changes) {
    const reached = new Set(changes.map(({ to }) => to));
    return this.acknowledged.filter((id) => !reached.has(id));
  }
}

/** Pushes with git. A commit that was not acknowledged is pushed again below the next one. */
class Pusher extends Writer {
  folder = '';
  mayExist = false;

  async prepare() {
    const { drill, person, project } = this;
    this.folder = join(drill.folder, this.branch);
    mkdirSync(this.folder);
    const url = new URL(`${drill.client.estate.baseUrl}/${project.path}.git`);
    [url.username, url.password] = ['oauth2', person.token];
    await git(this.folder, ['init', '--quiet', '--initial-branch', this.branch]);
    await git(this.folder, ['remote', 'add', 'origin', url.href]);
  }

  /** @param {number} count */
  async send(count) {
    if (count % DELETES === 0 && this.mayExist) return this.#push(`:refs/heads/${this.branch}`, 'nothing');
    await git(this.folder, ['commit', '--quiet', '--allow-empty', '--message', `${this.branch} ${count}`]);
    const { output: id } = await git(this.folder, ['rev-parse', 'HEAD']);
    const sent = await this.#push(`HEAD:refs/heads/${this.branch}`, id.trim());
    this.mayExist = sent !== null;
    return sent;
  }

  /**
   * @param {string} refspec
   * @param {string} result
   */
  async #push(refspec, result) {
    const { code, output } = await git(this.folder, ['push', '--quiet', 'origin', refspec]);
    this.mayExist = false;
    if (code === 0) return result;
    this.lastRefusal = output;
    return null;
  }
}

/** Commits by the API. */
class Committer extends Writer {
  async prepare() {
    const path = `/projects/${this.project.id}/repository/branches?branch=${this.branch}&ref=main`;
    const { commit } = await this.drill.client.made(path, {}, this.person.token);
    this.acknowledged.push(commit.id);
  }

  /** @param {number} count */
  async send(count) {
    const json = {
      branch: this.branch,
      commit_message: `${this.branch} ${count}`,
      actions: [{ action: 'create', file_path: `${this.branch}/${count}.txt`, content: `${count}` }],
    };
    const path = `/projects/${this.project.id}/repository/commits`;
    const answer = await this.drill.client.api('POST', path, { token: this.person.token, json }).catch(() => null);
    if (answer?.status === 201) return answer.body.id;
    this.lastRefusal = `${answer?.status} ${JSON.stringify(answer?.body)}`;
    return null;
  }
}

/**
 * Runs git. Shape: its exit code, and both outputs as one text.
 * @param {string} folder
 * @param {string[]} words
 * @returns {Promise<{ code: number, output: string }>}
 */
async function git(folder, words) {
  const people = { GIT_AUTHOR_NAME: 'Drill', GIT_COMMITTER_NAME: 'Drill' };
  const mails = { GIT_AUTHOR_EMAIL: 'drill@mail.example', GIT_COMMITTER_EMAIL: 'drill@mail.example' };
  const child = spawn('git', words, {
    cwd: folder,
    env: {
      ...{ PATH: process.env['PATH'], HOME: folder, GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' },
      ...{ ...people, ...mails },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const add = (/** @type {Buffer} */ part) => void (output += part);
  child.stdout.on('data', add);
  child.stderr.on('data', add);
  const timer = setTimeout(() => child.kill('SIGKILL'), PUSH_WITHIN_MS);
  const code = await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));
  clearTimeout(timer);
  return { code: code ?? 1, output };
}

/**
 * Ids of the processes of git among the descendants of a process.
 * @param {number} root
 * @returns {number[]}
 */
function gitBelow(root) {
  /** @type {Map<number, { parent: number, name: string }>} */
  const processes = new Map();
  for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const [, name = '', parent] = /^\d+ \((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${entry}/stat`, 'utf8')) ?? [];
      processes.set(Number(entry), { parent: Number(parent), name });
    } catch {
      // The process has ended.
    }
  }
  const isBelow = (/** @type {number} */ pid) => {
    for (let at = processes.get(pid); at; at = processes.get(at.parent)) if (at.parent === root) return true;
    return false;
  };
  return [...processes].filter(([pid, { name }]) => name.startsWith('git') && isBelow(pid)).map(([pid]) => pid);
}
