/**
 * Imports a repository with 2,000 commits, 500 issues where the host has them, 200 pull requests and 5,200 comments. Then
 * imports it again while the import service, collaboration and NATS are killed between each two stages, and repeatedly while
 * they and PostgreSQL are killed at any time. Each import ends as finished, with each object once, and with the authors, times
 * and texts of the host. In the end no file, no database and no process has the credential of the host. Source: reference
 * identity-and-import 6.6, 6.7; reliability 8.5, 11.
 *
 * @import { DrillClient } from '../client.mjs'
 * @import { History, Upstream } from './upstreams.mjs'
 * @typedef {{ id: number, project: number, seconds: number }} Import
 */
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { WITHOUT_RATES } from '../../processes/environment.mjs';
import { sharedTemporaryFolder } from '../../servers/postgres-files.mjs';
import { until } from '../client.mjs';
import { CredentialSearch } from './credential-search.mjs';
import { ImportedProject } from './imported-project.mjs';
import { addHistory } from './upstream-history.mjs';
import { COMMENTS, UPSTREAMS } from './upstreams.mjs';

/** Kills by process, in an order that mixes them. */
const KILLS = ['import', 'collaboration', 'import', 'nats', 'collaboration', 'import', 'postgres', 'collaboration'];
const MIN_KILLS = 16;
/** With the defaults, each job of a killed process would wait for 40 s. Units: ms. */
const FAST_JOBS = { JOBS_LOST_AFTER_MS: '8000', JOBS_WATCH_MS: '500', JOBS_POLL_MS: '1000' };
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
export function createImportDrill(kind) {
  return {
    async prepare() {
      // The doubles of hosts are in the test library.
      const { build } = await import('../../processes/build.mjs');
      await build();
      const upstream = await UPSTREAMS[kind].start();
      const temporary = await mkdtemp(join(sharedTemporaryFolder(), 'rookery-drill-temporary-'));
      const close = async () => {
        await upstream.host.stop();
        await rm(temporary, { recursive: true, force: true });
      };
      const env = { ...WITHOUT_RATES, ...FAST_JOBS, ...upstream.env, TMPDIR: temporary };
      return { env, server: { upstream, temporary, close } };
    },
    run: runBrokenImportsDrill,
  };
}

/**
 * Runs the drill. Returns the figures of the first import and `kills` by process. `boundaries` are those between
 * stages. `wrong` is the number of violations.
 * @param {DrillClient} client
 * @param {{ server: { upstream: Upstream, temporary: string } }} prepared
 */
async function runBrokenImportsDrill(client, { server: { upstream, temporary } }) {
  const drill = new BrokenImportsDrill(client, upstream);
  const folders = [client.estate.dataDir, temporary, ...externalPostgresFolders(client.estate.dataDir)];
  const search = new CredentialSearch(client, { secrets: upstream.secrets, address: upstream.host.address, folders });
  await drill.prepare();
  const undisturbed = await drill.importUndisturbed();
  search.watchProcesses();
  await drill.importBetweenFaults().finally(() => search.stopWatching());
  await drill.importDuringFaults();
  const { places, blind } = await search.run();
  for (const place of places) drill.complain(`the credential is in ${place}`);
  for (const reason of blind) drill.complain(`the search for the credential is blind: ${reason}`);
  const { wrong, kills, imports, boundaries, examples } = drill;
  return { undisturbed, imports, boundaries, kills, credentialPlaces: places.length, wrong, examples };
}

/**
 * Folder of the files of PostgreSQL, if it is not below the folder of the estate.
 * @param {string} dataDir
 */
function externalPostgresFolders(dataDir) {
  const note = join(dataDir, 'postgres.location');
  return existsSync(note) ? [readFileSync(note, 'utf8').trim()] : [];
}

class BrokenImportsDrill {
  wrong = 0;
  imports = 0;
  boundaries = 0;
  /** @type {Record<string, number>} */
  kills = {};
  /** @type {string[]} */
  examples = [];
  /** @type {History} */
  #history = { base: '', heads: [] };
  #namespace = '';

  /**
   * @param {DrillClient} client
   * @param {Upstream} upstream
   */
  constructor(client, upstream) {
    this.client = client;
    this.upstream = upstream;
  }

  /** @param {string} text */
  complain(text) {
    this.wrong += 1;
    if (this.examples.length < 10) this.examples.push(text);
  }

  async prepare() {
    const { upstream, client } = this;
    this.#history = await addHistory(upstream, await upstream.add());
    upstream.fill(this.#history);
    const path = client.seed.toLowerCase();
    await client.made('/groups', { name: path, path });
    this.#namespace = path;
  }

  /**
   * Imports once without faults. Returns the seconds of the import, comments per second, and growth of the memory in
   * MiB.
   */
  async importUndisturbed() {
    const resident = () => this.client.residentMib('import');
    const idle = resident();
    let most = idle;
    const timer = setInterval(() => void (most = Math.max(most, resident())), 20);
    const one = await this.#startImport('undisturbed');
    const notes = this.#measureCommentImportMs(one.project);
    try {
      await this.#waitForImportEnd(one);
    } finally {
      clearInterval(timer);
    }
    await this.#checkImport(one);
    const [rate, growth] = [Math.round((COMMENTS / (await notes)) * 1000), Math.round(most - idle)];
    if (rate < RATE) this.complain(`${rate} comments per second`);
    if (growth > MAX_GROWTH) this.complain(`the import service grew by ${growth} MiB`);
    return { seconds: one.seconds, commentsPerSecond: rate, growthMib: growth };
  }

  /**
   * Time from the first to the last comment. Units: ms.
   * @param {number} project
   */
  async #measureCommentImportMs(project) {
    const count = async () => (await this.#countImportedObjects(project)).note ?? 0;
    await until('there are comments', async () => (await count()) > 0, WITHIN_MS);
    const from = Date.now();
    await until('there are all comments', async () => (await count()) === COMMENTS, WITHIN_MS);
    return Date.now() - from;
  }

  /** Imports once. The first request to the host in each stage waits while the processes are killed. */
  async importBetweenFaults() {
    const { host } = this.upstream;
    const one = await this.#startImport('between');
    const seen = new Set();
    host['beforeAnswer'] = async () => {
      const done = await this.#countDoneStages(one.project);
      if (done === null || seen.has(done)) return;
      seen.add(done);
      await this.#killBetweenStages(one, done).catch(({ message }) => this.complain(message));
    };
    await this.#waitForImportEnd(one);
    host['beforeAnswer'] = async () => undefined;
    this.boundaries = seen.size;
    if (seen.size !== (await this.#countDoneStages(one.project))) this.complain(`${seen.size} boundaries were seen`);
    await this.#checkImport(one);
  }

  /**
   * Kills NATS, collaboration and the import service at once, and starts them again.
   * @param {Import} one
   * @param {number} done  number of its stages that are done
   */
  async #killBetweenStages({ project }, done) {
    const { body } = await this.client.api('GET', `/projects/${project}/import`);
    if (body.import_status !== 'started') this.complain(`an import after ${done} stages is ${body.import_status}`);
    const { nats } = this.client.estate;
    const services = ['collaboration', 'import'].map((name) => this.client.process(name));
    for (const { name } of [{ name: 'nats' }, ...services]) this.kills[name] = (this.kills[name] ?? 0) + 1;
    nats?.kill();
    await Promise.all(services.map((service) => service.kill()));
    await nats?.stop();
    await nats?.start();
    await Promise.all(services.map((service) => service.start()));
  }

  async importDuringFaults() {
    let count = 0;
    while (count < MIN_KILLS) {
      const one = await this.#startImport(`broken-${this.imports}`);
      let hasEnded = false;
      const end = this.#waitForImportEnd(one).finally(() => void (hasEnded = true));
      while (!hasEnded) {
        // A kill before the last one has been overcome would only delay the import.
        const seen = await this.#countReadPages(one.project);
        const goesOn = async () => hasEnded || (await this.#countReadPages(one.project)) > seen;
        await until(`import ${one.id} goes on`, goesOn, PROGRESS_WITHIN_MS).catch(({ message }) =>
          this.complain(message),
        );
        await Promise.race([end, delay(Math.random() * 1500)]);
        if (hasEnded) break;
        await this.#killServer(/** @type {string} */ (KILLS[count % KILLS.length]));
        count += 1;
      }
      await end;
      await this.#checkImport(one);
    }
  }

  /**
   * Returns the number of pages of all lists that an import has read, or 0 while the database is away.
   * @param {number} project
   * @returns {Promise<number>}
   */
  async #countReadPages(project) {
    const text = `select coalesce(sum(s.pages), 0)::int as pages from import_stages s
      join project_imports i on i.id = s.import_id where i.project_id = $1`;
    return (await this.client.query('import', text, [project]).catch(() => [{ pages: 0 }]))[0].pages;
  }

  /**
   * Returns the number of finished stages of an import, or null while the database is away.
   * @param {number} project
   * @returns {Promise<number | null>}
   */
  async #countDoneStages(project) {
    const text = `select count(*)::int as done from import_stages s
      join project_imports i on i.id = s.import_id where i.project_id = $1 and s.is_done`;
    return (await this.client.query('import', text, [project]).catch(() => [{ done: null }]))[0].done;
  }

  /** @param {string} name */
  async #killServer(name) {
    const { nats } = this.client.estate;
    this.kills[name] = (this.kills[name] ?? 0) + 1;
    if (name === 'postgres') await this.client.killPostgres();
    else if (name === 'nats') {
      nats?.kill();
      await nats?.stop();
      await delay(NATS_DOWN_MS);
      await nats?.start();
    } else await this.client.process(name).restart();
  }

  /**
   * @param {string} name
   * @returns {Promise<Import>}
   */
  async #startImport(name) {
    const [path, parameters] = this.upstream.request(this.#namespace, `${name}-${this.client.seed}`);
    const { id } = await this.client.made(path, parameters);
    return { id, project: id, seconds: 0 };
  }

  /** @param {Import} running */
  async #waitForImportEnd(running) {
    const from = Date.now();
    const hasEnded = async () => {
      const answer = await this.client.api('GET', `/projects/${running.project}/import`).catch(() => null);
      return answer?.status === 200 && ['finished', 'failed', 'canceled'].includes(answer.body.import_status);
    };
    await until(`import ${running.id} has ended`, hasEnded, WITHIN_MS).catch(({ message }) => this.complain(message));
    running.seconds = (Date.now() - from) / 1000;
    this.imports += 1;
  }

  /**
   * Imported objects of a project, by kind.
   * @param {number} project
   * @returns {Promise<Record<string, number>>}
   */
  async #countImportedObjects(project) {
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
  async #checkImport({ project }) {
    const imported = new ImportedProject(this.client, this.upstream, this.#history, project);
    for (const problem of await imported.compare()) this.complain(`project ${project}: ${problem}`);
  }
}
