/**
 * 50 clones and 20 pushes at once to one repository, while other clients are killed in the middle of theirs, and a user who
 * loses access during a push of 60 MB. Afterwards each push that git reported has exactly one event, no other ref moved, the
 * repository is whole, and no process and no temporary file is left. Source: reference repositories 1.4; ADR 0185.
 *
 * @import { DrillClient, Person } from '../client.mjs'
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { WITHOUT_RATES } from '../../processes/environment.mjs';
import { sharedTemporaryFolder } from '../../servers/postgres-files.mjs';
import { until } from '../client.mjs';
import {
  allProcesses,
  commandOf,
  git,
  gitProcessesBelow,
  repositoryFolderOf,
  repositoryUrlWithToken,
  runGitOrThrow,
} from './git.mjs';

const CLONES = 50;
const PUSHES = 20;
/** Clients of each kind that are killed. */
const KILLED = 5;
const REPOSITORY_BYTES = 20_000_000;
const REMOVED_PUSH_BYTES = 60_000_000;
const WITHIN_MS = 8 * 60_000;
/** A service trusts a check of the caller for one second. */
const TRUSTED_MS = 1500;
/** Programs that a client runs while it receives or sends a pack. */
const TRANSFERS = /index-pack|unpack-objects|pack-objects/;
const SERVICES = ['gateway', 'collaboration'];

export const prepare = () => ({ env: WITHOUT_RATES });

/**
 * Runs the drill. Returns numbers of clients by their outcome. `wrong` is the number of violations.
 * @param {DrillClient} client
 */
export async function run(client) {
  const drill = new ParallelGitClientsDrill(client);
  try {
    await drill.prepare();
    await drill.useAtOnce();
    await drill.removeDuringPush();
    await drill.check();
  } finally {
    rmSync(drill.folder, { recursive: true, force: true });
  }
  const { clones, pushes, killed, growthMib, wrong, examples } = drill;
  return { clones, pushes: pushes.length, killed, growthMib, wrong, examples };
}

class ParallelGitClientsDrill {
  wrong = 0;
  clones = 0;
  killed = 0;
  /** Growth of resident memory by service. @type {Record<string, number>} */
  growthMib = {};
  /** Branches whose push git reported as done. @type {string[]} */
  pushes = [];
  /** @type {string[]} */
  examples = [];
  /** Clients that are killed in the middle of their transfer. @type {Set<number>} */
  victims = new Set();
  project = { id: 0, path: '' };
  work = '';
  folder = mkdtempSync(join(sharedTemporaryFolder(), 'rookery-clients-'));

  /** @param {DrillClient} client */
  constructor(client) {
    this.client = client;
  }

  /** @param {string} text */
  complain(text) {
    this.wrong += 1;
    if (this.examples.length < 10) this.examples.push(text);
  }

  get url() {
    return repositoryUrlWithToken(this.client.estate.baseUrl, this.project.path, this.client.estate);
  }

  async prepare() {
    const { id, path_with_namespace: path } = await this.client.made('/projects', { name: `p-${this.client.seed}` });
    this.project = { id, path };
    this.work = join(this.folder, 'work');
    await git(this.folder, ['init', '--quiet', '--initial-branch', 'main', 'work']);
    await this.#commitRandomFile(REPOSITORY_BYTES);
    await runGitOrThrow(this.work, ['push', '--quiet', this.url, 'main']);
  }

  /** Commits a file that does not compress. @param {number} bytes */
  async #commitRandomFile(bytes) {
    writeFileSync(join(this.work, 'random'), randomBytes(bytes));
    await git(this.work, ['add', '.']);
    await git(this.work, ['commit', '--quiet', '--message', `${bytes} bytes`]);
  }

  async useAtOnce() {
    const before = this.#residentMibByService();
    const growth = setInterval(() => this.#recordGrowth(before), 100);
    const kills = setInterval(() => this.#killTransfers(), 50);
    // The killed pushes send a large file, so that they are killed while they send it.
    await git(this.work, ['checkout', '--quiet', '-b', 'large']);
    await this.#commitRandomFile(REPOSITORY_BYTES);
    await git(this.work, ['checkout', '--quiet', 'main']);
    const numbers = (/** @type {number} */ count) => Array.from({ length: count }, (_, n) => n);
    await Promise.all([
      ...numbers(CLONES).map((n) => this.#cloneRepository(n)),
      ...numbers(PUSHES).map((n) => this.#pushBranch(n)),
      ...numbers(KILLED).map((n) => this.#runKilledClient(['clone', '--quiet', '--bare', this.url, `killed-${n}`])),
      ...numbers(KILLED).map((n) =>
        this.#runKilledClient(['-C', 'work', 'push', '--quiet', this.url, `large:killed-${n}`]),
      ),
    ]);
    clearInterval(growth);
    clearInterval(kills);
    if (this.killed === 0) this.complain('no client was killed');
  }

  #residentMibByService() {
    return Object.fromEntries(SERVICES.map((name) => [name, this.client.residentMib(name)]));
  }

  /** @param {Record<string, number>} before */
  #recordGrowth(before) {
    for (const [name, mib] of Object.entries(this.#residentMibByService()))
      this.growthMib[name] = Math.max(this.growthMib[name] ?? 0, Math.round(mib - (before[name] ?? 0)));
  }

  /** @param {number} n */
  async #cloneRepository(n) {
    const words = ['clone', '--quiet', '--bare', '--branch', 'main', '--single-branch', this.url, `clone-${n}`];
    const { code, output } = await git(this.folder, words, { withinMs: WITHIN_MS });
    if (code === 0) this.clones += 1;
    else this.complain(`a clone failed: ${output}`);
  }

  /** @param {number} n */
  async #pushBranch(n) {
    const folder = join(this.folder, `push-${n}`);
    await git(this.folder, ['clone', '--quiet', '--shared', '--no-checkout', 'work', folder]);
    await git(folder, ['commit', '--quiet', '--allow-empty', '--message', `push ${n}`]);
    const words = ['push', '--quiet', this.url, `HEAD:refs/heads/branch-${n}`];
    const { code, output } = await git(folder, words, { withinMs: WITHIN_MS });
    if (code === 0) this.pushes.push(`branch-${n}`);
    else this.complain(`a push failed: ${output}`);
  }

  /**
   * Runs a client that is killed.
   * @param {string[]} words
   */
  async #runKilledClient(words) {
    let root = 0;
    const onStart = (/** @type {import('node:child_process').ChildProcess} */ { pid }) => {
      root = Number(pid);
      this.victims.add(root);
    };
    const { code } = await git(this.folder, words, { withinMs: WITHIN_MS, onStart });
    this.victims.delete(root);
    if (code !== 0) this.killed += 1;
  }

  /** Kills the clients, with their helpers, that have begun to send or receive a pack. */
  #killTransfers() {
    if (this.victims.size === 0) return;
    const processes = allProcesses();
    for (const root of this.victims) {
      const helpers = gitProcessesBelow(root, [], processes);
      if (!helpers.some((pid) => TRANSFERS.test(commandOf(pid)))) continue;
      this.victims.delete(root);
      for (const pid of [root, ...helpers]) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // It has ended.
        }
      }
    }
  }

  /** Processes that collaboration has started for transports; the kept readers stay. */
  #listTransportProcesses() {
    return gitProcessesBelow(Number(this.client.process('collaboration').pid), ['cat-file']);
  }

  /** The push stops in the middle until the membership has ended. */
  async removeDuringPush() {
    const { client } = this;
    const person = await client.person('removed');
    await client.join(this.project.id, [person], 30);
    await this.#commitRandomFile(REMOVED_PUSH_BYTES);
    const gate = await startProxyPausingAfterBytes(Number(new URL(client.estate.baseUrl).port), REMOVED_PUSH_BYTES / 2);
    const url = repositoryUrlWithToken(gate.url, this.project.path, person);
    const pushed = git(this.work, ['push', '--quiet', url, 'HEAD:refs/heads/removed'], { withinMs: WITHIN_MS });
    const early = await Promise.race([gate.reached, pushed]);
    if (early) this.complain(`the push ended early: ${early.output}`);
    const { status } = await client.api('DELETE', `/projects/${this.project.id}/members/${person.id}`);
    if (status !== 204) this.complain(`the membership ended with ${status}`);
    await delay(TRUSTED_MS);
    gate.open();
    const { code, output } = await pushed;
    gate.close();
    if (code === 0) this.complain('a user pushed after the loss of access');
    else if (!/not allowed|permissions changed|could not be found/i.test(output))
      this.complain(`the refusal has no reason: ${output}`);
  }

  async check() {
    const repository = repositoryFolderOf(this.client.estate, this.project.id);
    const settled = 'select count(*)::int as count from pushes where settled_at is null';
    const isSettled = async () => (await this.client.query('collaboration', settled))[0].count === 0;
    await until('all pushes are settled', isSettled, WITHIN_MS).catch(({ message }) => this.complain(message));
    const isQuiet = () => this.#listTransportProcesses().length === 0;
    await until('no process is left', isQuiet).catch(({ message }) => this.complain(message));
    const { output } = await git(repository, ['for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads']);
    const branches = output.split('\n').filter(Boolean);
    const own = branches.filter((name) => !name.startsWith('killed-')).sort();
    if (own.join() !== [...this.pushes, 'main'].sort().join()) this.complain(`the branches are ${own.join(', ')}`);
    await this.#checkEvents(branches);
    const { code, output: problems } = await git(repository, ['fsck', '--strict', '--no-dangling']);
    if (code !== 0) this.complain(`fsck: ${problems}`);
    // The packing of the repository may have begun meanwhile.
    const isClean = () => listTemporaryFiles(repository).length === 0;
    await until('no temporary file is left', isClean).catch(() => undefined);
    for (const file of listTemporaryFiles(repository)) this.complain(`${file} is left`);
  }

  /** @param {string[]} branches */
  async #checkEvents(branches) {
    const sql = `select u.ref from ref_updates u join pushes p on p.id = u.push_id
      where p.project_id = $1 and u.state = 'done' order by u.ref`;
    const rows = await this.client.query('collaboration', sql, [this.project.id]);
    const done = rows.map(({ ref }) => ref.replace('refs/heads/', '')).sort();
    if (done.join() !== [...branches].sort().join()) this.complain(`rows say ${done.join(', ')}`);
    const path = `/projects/${this.project.id}/events?action=pushed&per_page=100`;
    const hasEvents = async () => {
      const events = await this.client.done(200, 'GET', path);
      const refs = events.map((/** @type {any} */ { push_data: data }) => data.ref);
      return refs.sort().join() === done.join();
    };
    await until('each branch has one event', hasEvents).catch(({ message }) => this.complain(message));
  }
}

/** @param {string} repository */
function listTemporaryFiles(repository) {
  const files = /** @type {string[]} */ (readdirSync(repository, { recursive: true }));
  return files.filter((name) => /tmp_|\.tmp-|\.lock$/.test(name));
}

/**
 * Starts a server before another one that stops passing on what a client sends after so many bytes, until it is opened.
 * @param {number} port
 * @param {number} bytes
 */
async function startProxyPausingAfterBytes(port, bytes) {
  let isOpen = false;
  /** @type {(() => void)[]} */
  const waiting = [];
  let noteReached = () => {};
  /** @type {Promise<void>} */
  const reached = new Promise((resolve) => (noteReached = resolve));
  const server = createServer((socket) => {
    const onward = connect(port, '127.0.0.1');
    let seen = 0;
    socket.on('data', (chunk) => {
      seen += chunk.length;
      if (!onward.write(chunk)) {
        socket.pause();
        onward.once('drain', () => (isOpen || seen < bytes) && socket.resume());
      }
      if (isOpen || seen < bytes) return;
      socket.pause();
      waiting.push(() => socket.resume());
      noteReached();
    });
    onward.pipe(socket);
    socket.on('error', () => onward.destroy()).on('close', () => onward.destroy());
    onward.on('error', () => socket.destroy()).on('close', () => socket.destroy());
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  const open = () => {
    isOpen = true;
    for (const resume of waiting) resume();
  };
  return { url: `http://127.0.0.1:${address.port}`, reached, open, close: () => void server.close() };
}
