/**
 * Pushes by git and commits by the API, while both replicas of collaboration, processes of git, the gateway, PostgreSQL and
 * NATS are killed. Afterwards each acknowledged change of a branch is in the repository, has exactly one event, and the
 * rows about refs equal the refs. Source: reference reliability 11; ADR 0185.
 *
 * @import { DrillClient, Person } from '../client.mjs'
 * @import { Balancer } from '../failures/balancer.mjs'
 * @import { Change } from './repository-faults.mjs'
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../client.mjs';
import { git, repositoryFolderOf, repositoryUrlWithToken } from './git.mjs';
import { refChangeChainProblems, RepositoryFaultDrill, UNLOCKED_WITHIN_MS } from './repository-faults.mjs';

export { prepare } from './repository-faults.mjs';

const PROJECTS = 2;
/** Clones that push, and clients that commit by the API. */
const PUSHERS = 6;
const COMMITTERS = 3;
/** One push in this number deletes its branch. */
const DELETES = 12;

/**
 * Runs the drill. Returns numbers of changes by their outcome. `wrong` is the number of violations.
 * @param {DrillClient} client
 * @param {{ server: { balancer: Balancer } }} prepared
 */
export async function run(client, { server: { balancer } }) {
  const drill = new BrokenPushesDrill(client, balancer);
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

class BrokenPushesDrill extends RepositoryFaultDrill {
  acknowledged = 0;
  unknown = 0;
  /** @type {BranchWriter[]} */
  writers = [];
  /** @type {{ id: number, path: string }[]} */
  projects = [];

  /** @override */
  get done() {
    return this.acknowledged;
  }

  async prepare() {
    const { client } = this;
    await this.balance();
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
      return n < PUSHERS ? new GitPusher(this, person, project, n) : new ApiCommitter(this, person, project, n);
    });
    for (const writer of this.writers) await writer.prepare();
  }

  async changeDuringFaults() {
    await this.workDuringFaults(this.writers.map((writer) => () => writer.change()));
  }

  /** After the faults each branch takes changes again, and nothing is left locked. */
  async changeOnceMore() {
    const change = async (/** @type {BranchWriter} */ writer) => {
      const acknowledges = async () => (await writer.change()) === 'acknowledged';
      await until('the branch takes changes again', acknowledges, UNLOCKED_WITHIN_MS).catch(() => {
        this.complain(`${writer.branch} takes no changes: ${writer.lastRefusal}`);
      });
    };
    await Promise.all(this.writers.map(change));
  }

  async check() {
    await this.settled();
    for (const project of this.projects) {
      const repository = repositoryFolderOf(this.client.estate, project.id);
      const refs = await this.refsOf(repository);
      await this.#compareEvents(project, refs);
      await this.compareRows(project.id, refs);
      await this.checkRepository(repository);
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
    await this.complainIfLasting(async () => {
      const events = await this.eventsOf(project.id);
      return writers.flatMap((writer) => {
        const own = events.get(writer.branch) ?? [];
        return [
          ...refChangeChainProblems(own, refs.get(writer.branch) ?? null).map((text) => `${writer.branch}: ${text}`),
          ...writer.missingIn(own).map((id) => `${writer.branch}: the acknowledged ${id} has no event`),
        ];
      });
    });
  }
}

/** A client that changes a branch of its own. */
class BranchWriter {
  /** Commits that the server acknowledged as the new value of the branch. @type {string[]} */
  acknowledged = [];
  lastRefusal = '';
  #count = 0;

  /**
   * @param {BrokenPushesDrill} drill
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
   * Makes one change. Returns the new value of the branch, `nothing` for a deleted one, or null if the change was not
   * acknowledged.
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
class GitPusher extends BranchWriter {
  folder = '';
  mayExist = false;

  async prepare() {
    const { drill, person, project } = this;
    this.folder = join(drill.folder, this.branch);
    mkdirSync(this.folder);
    const url = repositoryUrlWithToken(drill.client.estate.baseUrl, project.path, person);
    await git(this.folder, ['init', '--quiet', '--initial-branch', this.branch]);
    await git(this.folder, ['remote', 'add', 'origin', url]);
  }

  /** @param {number} count */
  async send(count) {
    if (count % DELETES === 0 && this.mayExist) return this.#pushRefspec(`:refs/heads/${this.branch}`, 'nothing');
    await git(this.folder, ['commit', '--quiet', '--allow-empty', '--message', `${this.branch} ${count}`]);
    const { output: id } = await git(this.folder, ['rev-parse', 'HEAD']);
    const sent = await this.#pushRefspec(`HEAD:refs/heads/${this.branch}`, id.trim());
    this.mayExist = sent !== null;
    return sent;
  }

  /**
   * @param {string} refspec
   * @param {string} result
   */
  async #pushRefspec(refspec, result) {
    const { code, output } = await git(this.folder, ['push', '--quiet', 'origin', refspec]);
    this.mayExist = false;
    if (code === 0) return result;
    this.lastRefusal = output;
    return null;
  }
}

/** Commits by the API. */
class ApiCommitter extends BranchWriter {
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
