/**
 * Imports a repository with 2,000 commits, 500 issues, 200 pull requests and 5,200 comments. Then imports it repeatedly
 * while the import service, collaboration, NATS and PostgreSQL are killed. Each import ends as finished, with each
 * object once, and with the authors, times and texts of the host. Source: reference identity-and-import 6.6, 6.7;
 * reliability 11.
 *
 * @import { Client } from '../client.mjs'
 * @typedef {import('../../../libs/testing/src/upstream/remote-host.js').RemoteHost} Host
 * @typedef {import('../../../libs/testing/src/upstream/remote-host.js').HostedRepository} Hosted
 * @typedef {{ id: number, project: number, seconds: number }} Import
 */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { WITHOUT_RATES } from '../../processes/environment.mjs';
import { until } from '../client.mjs';

/** @type {{ RemoteHost: { start(): Promise<Host> } }} */
const { RemoteHost } = createRequire(import.meta.url)('../../../libs/testing/dist/upstream/remote-host.js');

const COMMITS = 2000;
const ISSUES = 500;
const PULLS = 200;
const COMMENTS = 5000;
const LINE_COMMENTS = 200;
const PEOPLE = 25;
/** Kills by process, in an order that mixes them. */
const KILLS = ['import', 'collaboration', 'import', 'nats', 'collaboration', 'import', 'postgres', 'collaboration'];
const MIN_KILLS = 24;
/** A job of a killed process goes on after about 40 s. */
const PROGRESS_WITHIN_MS = 120_000;
const NATS_DOWN_MS = 2000;
/** Comments per second. */
const RATE = 500;
/** Growth of the resident memory of the import service. Units: MiB. */
const MAX_GROWTH = 256;
const WITHIN_MS = 10 * 60_000;
const FROM = Date.parse('2024-01-01T00:00:00.000Z');

export async function prepare() {
  const host = await RemoteHost.start();
  return { env: { ...WITHOUT_RATES, EGRESS_ALLOW: host.address }, server: { host, close: () => host.stop() } };
}

/**
 * Shape: figures of the first import; `kills` by process; `wrong` is the number of violations.
 * @param {Client} client
 * @param {{ server: { host: Host } }} prepared
 */
export async function run(client, { server: { host } }) {
  const drill = new BrokenImports(client, host);
  await drill.prepare();
  const undisturbed = await drill.importUndisturbed();
  await drill.importDuringFaults();
  const { wrong, kills, imports, examples } = drill;
  return { undisturbed, imports, kills, wrong, examples };
}

class BrokenImports {
  wrong = 0;
  imports = 0;
  /** @type {Record<string, number>} */
  kills = {};
  /** @type {string[]} */
  examples = [];
  /** @type {string[]} */
  #commits = [];
  /** @type {Hosted | undefined} */
  #repository;
  #namespace = '';

  /**
   * @param {Client} client
   * @param {Host} host
   */
  constructor(client, host) {
    this.client = client;
    this.host = host;
  }

  /** @param {string} text */
  #complain(text) {
    this.wrong += 1;
    if (this.examples.length < 10) this.examples.push(text);
  }

  async prepare() {
    const { host, client } = this;
    const repository = await host.add('heron');
    this.#repository = repository;
    const bare = join(host.git.folder, `${repository.full_name}.git`);
    await fastImport(bare);
    const log = await host.git.ok(`${repository.full_name}.git`, 'rev-list', '--reverse', 'main');
    this.#commits = log.trim().split('\n');
    const refs = range(PULLS).map(
      (n) => `create refs/pull/${numberOfPull(n)}/head ${this.#commits[COMMITS - 1 - n]}\n`,
    );
    await runWithInput('git', ['-C', bare, 'update-ref', '--stdin'], refs.join(''));
    host.put(repository, 'labels', [{ name: 'nest', color: '00ff00', description: null }]);
    host.put(repository, 'milestones', [{ number: 1, title: 'Spring', state: 'open', ...timesOf(0) }]);
    host.put(
      repository,
      'issues',
      range(ISSUES).map((n) => issueOf(n)),
    );
    host.put(
      repository,
      'pulls',
      range(PULLS).map((n) => this.#pullOf(n)),
    );
    host.put(
      repository,
      'issues/comments',
      range(COMMENTS).map((n) => this.#commentOf(n)),
    );
    host.put(
      repository,
      'pulls/comments',
      range(LINE_COMMENTS).map((n) => this.#lineCommentOf(n)),
    );
    const path = `imports-${client.seed}`;
    await client.made('/groups', { name: path, path });
    this.#namespace = path;
  }

  /** @param {number} n */
  #pullOf(n) {
    const [base, head] = [this.#commits[COMMITS - 2 - n], this.#commits[COMMITS - 1 - n]];
    const user = personOf(n);
    const repo = { id: this.#repository?.id };
    return {
      ...{ number: numberOfPull(n), title: `Pull ${n}`, body: `Text ${n}`, state: 'open', user, ...timesOf(n) },
      head: { ref: `topic-${n}`, sha: head, user, repo: { id: 9 } },
      base: { ref: 'main', sha: base, user, repo },
    };
  }

  /** @param {number} n */
  #commentOf(n) {
    const url = `${this.host.url}/${this.#repository?.full_name}/issues/${(n % ISSUES) + 1}#issuecomment-${n + 1}`;
    return { id: n + 1, body: `Comment ${n}`, user: personOf(n), html_url: url, ...timesOf(n) };
  }

  /** @param {number} n */
  #lineCommentOf(n) {
    const number = numberOfPull(n % PULLS);
    const commit = this.#commits[COMMITS - 1 - (n % PULLS)];
    return {
      ...{ id: COMMENTS + n + 1, body: `Line ${n}`, user: personOf(n), path: fileOf(COMMITS - 1 - (n % PULLS)) },
      ...{ side: 'RIGHT', line: 1, commit_id: commit, ...timesOf(n) },
      pull_request_url: `${this.host.url}/api/v3/repos/${this.#repository?.full_name}/pulls/${number}`,
    };
  }

  /** Imports once without faults. Shape: seconds of the import, comments per second, and growth of the memory in MiB. */
  async importUndisturbed() {
    const resident = () => this.client.residentMib('import');
    const idle = resident();
    let most = idle;
    const timer = setInterval(() => void (most = Math.max(most, resident())), 20);
    const one = await this.#start('undisturbed');
    const notes = this.#timeOfComments(one.project);
    try {
      await this.#waitForEnd(one);
    } finally {
      clearInterval(timer);
    }
    await this.#check(one);
    const [rate, growth] = [Math.round((COMMENTS / (await notes)) * 1000), Math.round(most - idle)];
    if (rate < RATE) this.#complain(`${rate} comments per second`);
    if (growth > MAX_GROWTH) this.#complain(`the import service grew by ${growth} MiB`);
    return { seconds: one.seconds, commentsPerSecond: rate, growthMib: growth };
  }

  /**
   * Time from the first to the last comment. Units: ms.
   * @param {number} project
   */
  async #timeOfComments(project) {
    const count = async () => (await this.#objects(project)).note ?? 0;
    await until('there are comments', async () => (await count()) > 0, WITHIN_MS);
    const from = Date.now();
    await until('there are all comments', async () => (await count()) === COMMENTS, WITHIN_MS);
    return Date.now() - from;
  }

  async importDuringFaults() {
    let count = 0;
    while (count < MIN_KILLS) {
      const one = await this.#start(`broken-${this.imports}`);
      let hasEnded = false;
      const end = this.#waitForEnd(one).finally(() => void (hasEnded = true));
      while (!hasEnded) {
        // A kill before the last one has been overcome would only delay the import.
        const seen = await this.#pages(one.project);
        const goesOn = async () => hasEnded || (await this.#pages(one.project)) > seen;
        await until(`import ${one.id} goes on`, goesOn, PROGRESS_WITHIN_MS).catch(({ message }) =>
          this.#complain(message),
        );
        await Promise.race([end, delay(Math.random() * 1500)]);
        if (hasEnded) break;
        await this.#kill(/** @type {string} */ (KILLS[count % KILLS.length]));
        count += 1;
      }
      await end;
      await this.#check(one);
    }
  }

  /**
   * Pages of all lists that an import has read. Shape: 0 while the database is away.
   * @param {number} project
   * @returns {Promise<number>}
   */
  async #pages(project) {
    const text = `select coalesce(sum(s.pages), 0)::int as pages from import_stages s
      join project_imports i on i.id = s.import_id where i.project_id = $1`;
    return (await this.client.query('import', text, [project]).catch(() => [{ pages: 0 }]))[0].pages;
  }

  /** @param {string} name */
  async #kill(name) {
    const { estate } = this.client;
    this.kills[name] = (this.kills[name] ?? 0) + 1;
    if (name === 'postgres') await this.client.killPostgres();
    else if (name === 'nats') {
      await estate.nats?.stop();
      await delay(NATS_DOWN_MS);
      await estate.nats?.start();
    } else await this.client.process(name).restart();
  }

  /** @param {string} name */
  async #start(name) {
    const { id } = await this.client.made('/import/remote', {
      ...{ personal_access_token: this.host.token, repo_id: this.#repository?.id, remote_hostname: this.host.url },
      ...{ target_namespace: this.#namespace, new_name: `${name}-${this.client.seed}`, pagination_limit: 50 },
    });
    return { id, project: id, seconds: 0 };
  }

  /** @param {Import} one */
  async #waitForEnd(one) {
    const from = Date.now();
    const hasEnded = async () => {
      const answer = await this.client.api('GET', `/projects/${one.project}/import`).catch(() => null);
      return answer?.status === 200 && ['finished', 'failed', 'canceled'].includes(answer.body.import_status);
    };
    await until(`import ${one.id} has ended`, hasEnded, WITHIN_MS).catch(({ message }) => this.#complain(message));
    one.seconds = (Date.now() - from) / 1000;
    this.imports += 1;
  }

  /**
   * Imported objects of a project, by kind.
   * @param {number} project
   * @returns {Promise<Record<string, number>>}
   */
  async #objects(project) {
    const rows = await this.client
      .query('collaboration', 'select kind, count(*)::int from imported_objects where project_id = $1 group by kind', [
        project,
      ])
      .catch(() => []);
    return Object.fromEntries(rows.map(({ kind, count }) => [kind, count]));
  }

  /**
   * Compares a finished import with the host.
   * @param {Import} one
   */
  async #check({ project }) {
    const { body } = await this.client.api('GET', `/projects/${project}/import`);
    const { import_status: status, failed_relations: failed, import_error: error, stats } = body;
    if (status !== 'finished') return this.#complain(`project ${project} is ${status}: ${error}`);
    for (const { relation_name: name, exception_message: message } of failed.slice(0, 3))
      this.#complain(`project ${project}: ${name}: ${message}`);
    const counts = { issue: ISSUES, merge_request: PULLS, note: COMMENTS, diff_note: LINE_COMMENTS };
    for (const [kind, count] of Object.entries(counts)) {
      const shown = [stats.fetched[kind], stats.imported[kind]];
      if (shown.some((number) => number !== count))
        this.#complain(`project ${project}: ${kind} counts ${shown.join()}`);
    }
    const [rows] = await this.client.query(
      'collaboration',
      `select (select count(*)::int from issues where project_id = $1) as issue,
         (select count(*)::int from merge_requests where project_id = $1) as merge_request,
         (select count(*)::int from notes where project_id = $1 and noteable_type = 'Issue' and not system) as note,
         (select count(*)::int from notes where project_id = $1 and noteable_type = 'MergeRequest' and not system) as diff_note`,
      [project],
    );
    for (const [kind, count] of Object.entries(counts))
      if (rows[kind] !== count) this.#complain(`project ${project} has ${rows[kind]} of ${count} rows: ${kind}`);
    await this.#checkTexts(project);
    const { status: commit } = await this.client.api(
      'GET',
      `/projects/${project}/repository/commits/${this.#commits.at(-1)}`,
    );
    if (commit !== 200) this.#complain(`project ${project}: the last commit is answered ${commit}`);
  }

  /**
   * Compares texts, authors, times and the order of some issues and their comments.
   * @param {number} project
   */
  async #checkTexts(project) {
    for (let n = 0; n < ISSUES; n += 41) {
      const issue = await this.client.done(200, 'GET', `/projects/${project}/issues/${n + 1}`);
      this.#compare(issue, { title: `Issue ${n}`, description: `Text ${n}`, ...timesOf(n) }, n);
      const path = `/projects/${project}/issues/${n + 1}/notes?sort=asc&per_page=100`;
      const notes = await this.client.done(200, 'GET', path);
      const expected = range(COMMENTS / ISSUES).map((k) => n + k * ISSUES);
      if (notes.length !== expected.length)
        this.#complain(`issue ${n + 1} of project ${project} has ${notes.length} notes`);
      for (const [at, k] of expected.entries())
        this.#compare(notes[at] ?? { author: {} }, { body: `Comment ${k}`, created_at: timesOf(k).created_at }, k);
    }
  }

  /**
   * @param {any} shown
   * @param {Record<string, string>} expected
   * @param {number} person
   */
  #compare(shown, expected, person) {
    const { login } = personOf(person);
    if (shown.author.name !== `Placeholder ${login}`) this.#complain(`${shown.author.name} in place of ${login}`);
    for (const [field, value] of Object.entries(expected))
      if (shown[field] !== value) this.#complain(`${field} is ${shown[field]} in place of ${value}`);
  }
}

/**
 * Writes the commits of a repository after its first one, each with a file of its own.
 * @param {string} folder
 */
async function fastImport(folder) {
  const commits = range(COMMITS - 1).map((n) => {
    const [time, message] = [Math.floor(FROM / 1000) + n, `Commit ${n + 1}`];
    const content = `${n + 1}\n`;
    const start = n === 0 ? 'from refs/heads/main^0\n' : '';
    return `commit refs/heads/main\ncommitter Wren <wren@example.org> ${time} +0000\ndata ${message.length}\n${message}\n${start}M 100644 inline ${fileOf(n + 1)}\ndata ${content.length}\n${content}\n`;
  });
  await runWithInput('git', ['-C', folder, 'fast-import', '--quiet'], commits.join(''));
}

/**
 * Runs a program with an input. Errors: a plain Error if it fails.
 * @param {string} program
 * @param {string[]} words
 * @param {string} input
 */
async function runWithInput(program, words, input) {
  const child = spawn(program, words, { stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin.end(input);
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${program} ${words.join(' ')} ended with ${code}`);
}

/** @param {number} commit */
function fileOf(commit) {
  return `files/${commit}.txt`;
}

/** @param {number} n */
function numberOfPull(n) {
  return ISSUES + n + 1;
}

/** @param {number} n */
function issueOf(n) {
  const [user, labels, milestone] = [personOf(n), [{ name: 'nest' }], { number: 1 }];
  return {
    number: n + 1,
    title: `Issue ${n}`,
    body: `Text ${n}`,
    state: 'open',
    user,
    labels,
    milestone,
    ...timesOf(n),
  };
}

/** @param {number} n */
function personOf(n) {
  return { id: (n % PEOPLE) + 1, login: `bird-${n % PEOPLE}` };
}

/** @param {number} n */
function timesOf(n) {
  const time = new Date(FROM + n * 60_000).toISOString();
  return { created_at: time, updated_at: time };
}

/** @param {number} count */
function range(count) {
  return Array.from({ length: count }, (_, n) => n);
}
