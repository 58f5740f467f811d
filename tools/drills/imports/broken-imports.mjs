/**
 * Imports a repository with 2,000 commits, 500 issues where the host has them, 200 pull requests and 5,200 comments. Then
 * imports it repeatedly while the import service, collaboration, NATS and PostgreSQL are killed. Each import ends as
 * finished, with each object once, and with the authors, times and texts of the host. Source: reference
 * identity-and-import 6.6, 6.7; reliability 11.
 *
 * @import { Client } from '../client.mjs'
 * @typedef {InstanceType<(typeof UPSTREAMS)[keyof typeof UPSTREAMS]>} Upstream
 * @typedef {{ id: number, project: number, seconds: number }} Import
 */
import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { WITHOUT_RATES } from '../../processes/environment.mjs';
import { until } from '../client.mjs';
import { COMMENTS, COMMITS, FROM, personOf, PULLS, range, timesOf, UPSTREAMS } from './upstreams.mjs';

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

/**
 * The drill for a kind of upstream host.
 * @param {keyof typeof UPSTREAMS} kind
 */
export function importsFrom(kind) {
  return {
    async prepare() {
      const upstream = await UPSTREAMS[kind].start();
      const server = { upstream, close: () => upstream.host.stop() };
      return { env: { ...WITHOUT_RATES, ...upstream.env }, server };
    },
    run,
  };
}

/**
 * Shape: figures of the first import; `kills` by process; `wrong` is the number of violations.
 * @param {Client} client
 * @param {{ server: { upstream: Upstream } }} prepared
 */
async function run(client, { server: { upstream } }) {
  const drill = new BrokenImports(client, upstream);
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
  #namespace = '';

  /**
   * @param {Client} client
   * @param {Upstream} upstream
   */
  constructor(client, upstream) {
    this.client = client;
    this.upstream = upstream;
  }

  /** @param {string} text */
  #complain(text) {
    this.wrong += 1;
    if (this.examples.length < 10) this.examples.push(text);
  }

  async prepare() {
    const { upstream, client } = this;
    const bare = await upstream.add();
    await fastImport(bare);
    const log = await upstream.host.git.ok('.', '--git-dir', bare, 'rev-list', '--reverse', 'main');
    this.#commits = log.trim().split('\n');
    const heads = range(PULLS).map((n) => [upstream.headOf(n), this.#commits[COMMITS - 1 - n]]);
    const refs = heads.flatMap(([ref, commit]) => (ref === null ? [] : [`create ${ref} ${commit}\n`]));
    await runWithInput('git', ['-C', bare, 'update-ref', '--stdin'], refs.join(''));
    upstream.fill({ commits: this.#commits, fileOf });
    const path = client.seed.toLowerCase();
    await client.made('/groups', { name: path, path });
    this.#namespace = path;
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
    const [path, parameters] = this.upstream.request(this.#namespace, `${name}-${this.client.seed}`);
    const { id } = await this.client.made(path, parameters);
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
    const { counts, holder } = this.upstream;
    for (const [kind, count] of Object.entries(this.upstream.hasStats ? counts : {})) {
      const shown = [stats.fetched[kind], stats.imported[kind]];
      if (shown.some((number) => number !== count))
        this.#complain(`project ${project}: ${kind} counts ${shown.join()}`);
    }
    const [rows] = await this.client.query(
      'collaboration',
      `select (select count(*)::int from issues where project_id = $1) as issue,
         (select count(*)::int from merge_requests where project_id = $1) as merge_request,
         (select count(*)::int from notes where project_id = $1 and noteable_type = 'Issue' and not system) as on_issues,
         (select count(*)::int from notes where project_id = $1 and noteable_type = 'MergeRequest' and not system) as on_requests`,
      [project],
    );
    const { issue, merge_request, note, diff_note } = counts;
    const [onIssues, onRequests] = holder === 'issues' ? [note, diff_note] : [0, note + diff_note];
    for (const [kind, count] of Object.entries({ issue, merge_request, on_issues: onIssues, on_requests: onRequests }))
      if (rows[kind] !== count) this.#complain(`project ${project} has ${rows[kind]} of ${count} rows: ${kind}`);
    await this.#checkTexts(project);
    const { status: commit } = await this.client.api(
      'GET',
      `/projects/${project}/repository/commits/${this.#commits.at(-1)}`,
    );
    if (commit !== 200) this.#complain(`project ${project}: the last commit is answered ${commit}`);
  }

  /**
   * Compares texts, authors, times and the order of some objects and their comments.
   * @param {number} project
   */
  async #checkTexts(project) {
    const { holder, holders } = this.upstream;
    const title = holder === 'issues' ? 'Issue' : 'Pull';
    for (let n = 0; n < holders; n += 41) {
      const path = `/projects/${project}/${holder}/${n + 1}`;
      const shown = await this.client.done(200, 'GET', path);
      this.#compare(shown, { title: `${title} ${n}`, description: `Text ${n}`, ...timesOf(n) }, n);
      const all = await this.client.done(200, 'GET', `${path}/notes?sort=asc&per_page=100`);
      /** @type {any[]} */
      const notes = all.filter((/** @type {any} */ { type, system }) => type !== 'DiffNote' && !system);
      const expected = range(COMMENTS / holders).map((k) => n + k * holders);
      if (notes.length !== expected.length) this.#complain(`${path} has ${notes.length} notes`);
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
