/**
 * Merges, squash merges, rebases and applied suggestions, while both replicas of collaboration, processes of git, the
 * gateway, PostgreSQL and NATS are killed, and clients repeat requests that got no answer. Afterwards each merge request is
 * merged, with its commits in the target branch once, or open, with none of them there. Each has exactly the events, notes
 * and to-dos of its state. Source: reference reliability 11; ADR 0185.
 *
 * @import { Answer, DrillClient, Person } from '../client.mjs'
 * @import { Balancer } from '../failures/balancer.mjs'
 * @typedef {'merge' | 'squash' | 'rebase' | 'suggestion' | 'batch'} WorkKind
 * @typedef {{ id: string, subject: string }} ListedCommit
 * @typedef {{ id: number, iid: number, state: string, head_sha: string, merge_commit_sha: string | null,
 *   versions: string[], push_notes: number, merge_notes: number, todos: string[], resolved: boolean[] }} Row
 */
import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../client.mjs';
import { git, repositoryFolderOf } from './git.mjs';
import { refChangeChainProblems, RepositoryFaultDrill, UNLOCKED_WITHIN_MS } from './repository-faults.mjs';

export { prepare } from './repository-faults.mjs';

const PROJECTS = 2;
const WORKERS = 6;
/** @type {readonly WorkKind[]} */
const KINDS = ['merge', 'squash', 'rebase', 'suggestion', 'batch'];
/** Merge requests that each worker opens before the faults. */
const STOCK = 2 * KINDS.length;
/** Repetitions of a request without an answer. */
const REPEATS = 20;
/** Lines of a file that suggestions replace, by kind. */
const SUGGESTED = { suggestion: [2], batch: [2, 5, 8] };
const FILE = Array.from({ length: 9 }, (_, n) => `line ${n + 1}\n`).join('');

/** State of each merge request, in one statement. */
const ROWS = `select i.id::int, i.iid::int, i.source_branch, i.state, i.head_sha, i.merge_commit_sha,
    (select coalesce(array_agg(v.head_sha order by v.created_at, v.id), '{}') from merge_request_versions v
       where v.merge_request_id = i.id) as versions,
    (select count(*)::int from notes n where n.noteable_type = 'MergeRequest' and n.noteable_id = i.id and n.system
       and n.body like 'added %') as push_notes,
    (select count(*)::int from notes n where n.noteable_type = 'MergeRequest' and n.noteable_id = i.id and n.system
       and n.body like 'merged%') as merge_notes,
    (select coalesce(array_agg(t.action || ' ' || t.state), '{}') from todos t
       where t.target_type = 'MergeRequest' and t.target_id = i.id) as todos,
    (select coalesce(array_agg(n.resolved_at is not null order by n.id), '{}') from notes n
       where n.noteable_type = 'MergeRequest' and n.noteable_id = i.id and not n.system and n.thread_id is not null)
      as resolved
  from merge_requests i where i.project_id = $1`;

/**
 * Runs the drill. Returns numbers of requests by their outcome. `wrong` is the number of violations.
 * @param {DrillClient} client
 * @param {{ server: { balancer: Balancer } }} prepared
 */
export async function run(client, { server: { balancer } }) {
  const drill = new BrokenMergesDrill(client, balancer);
  try {
    await drill.prepare();
    await drill.workDuringFaults(drill.workers.map((worker) => () => worker.work()));
    await drill.settled();
    await drill.check();
    if (drill.done === 0) drill.complain('nothing was acknowledged');
    await drill.mergeRest();
    await drill.check();
  } finally {
    rmSync(drill.folder, { recursive: true, force: true });
  }
  const { acknowledged, unknown, refused, interrupted, kills, wrong, examples } = drill;
  return { acknowledged, unknown, refused, interrupted, kills, wrong, examples };
}

class BrokenMergesDrill extends RepositoryFaultDrill {
  /** Acknowledged requests by kind. @type {Record<string, number>} */
  acknowledged = {};
  /** Requests whose outcome stayed open. */
  unknown = 0;
  /** Refusals with a status below 500, by kind and status. @type {Record<string, number>} */
  refused = {};
  /** @type {MergeWorker[]} */
  workers = [];
  /** @type {number[]} */
  projects = [];

  /** @override */
  get done() {
    return Object.values(this.acknowledged).reduce((sum, count) => sum + count, 0);
  }

  async prepare() {
    const { client } = this;
    await this.balance();
    const people = await client.people(WORKERS, 'merger');
    const path = `merges-${client.seed}`;
    const group = await client.made('/groups', { name: path, path });
    for (let n = 0; n < PROJECTS; n += 1) {
      const { id } = await client.made('/projects', { name: `p${n}`, namespace_id: group.id });
      await client.join(id, people, 40);
      this.projects.push(id);
    }
    const starts = await Promise.all(this.projects.map((project) => this.#commitStart(project)));
    this.workers = people.map(
      (person, n) => new MergeWorker(this, person, this.projects[n % PROJECTS] ?? 0, starts[n % PROJECTS] ?? '', n),
    );
    await Promise.all(this.workers.map((worker) => worker.prepare()));
  }

  /**
   * Commits twice to the main branch. Returns the first commit: branches from there can be rebased.
   * @param {number} project
   * @returns {Promise<string>}
   */
  async #commitStart(project) {
    const commit = (/** @type {string} */ file) =>
      this.client.made(`/projects/${project}/repository/commits`, {
        ...{ branch: 'main', commit_message: file },
        actions: [{ action: 'create', file_path: file, content: FILE }],
      });
    const { id } = await commit('first.txt');
    await commit('second.txt');
    return id;
  }

  /** After the faults each open request merges. */
  async mergeRest() {
    for (const one of this.workers.flatMap(({ requests }) => requests)) {
      const merges = async () => {
        const { state } = (await this.client.api('GET', one.path)).body;
        return state === 'merged' || (await one.merge()) === 'acknowledged';
      };
      await until('the request merges', merges, UNLOCKED_WITHIN_MS).catch(() => {
        this.complain(`${one.mark} does not merge: ${one.lastRefusal}`);
      });
    }
  }

  async check() {
    for (const project of this.projects) {
      const repository = repositoryFolderOf(this.client.estate, project);
      const refs = await this.refsOf(repository);
      const requests = this.workers.flatMap((worker) => worker.requests).filter((one) => one.project === project);
      await this.complainIfLasting(() => this.#findProblems(project, requests, repository, refs));
      await this.compareRows(project, refs);
      await this.checkRepository(repository);
    }
  }

  /**
   * @param {number} project
   * @param {WorkerMergeRequest[]} requests
   * @param {string} repository
   * @param {Map<string, string>} refs
   */
  async #findProblems(project, requests, repository, refs) {
    const rows = await this.client.query('collaboration', ROWS, [project]);
    const pushes = await this.eventsOf(project);
    const merges = await this.#countMergeEvents(project);
    const main = await commitsOf(repository, 'refs/heads/main');
    const problems = refChangeChainProblems(pushes.get('main') ?? [], refs.get('main') ?? null).map(
      (text) => `main: ${text}`,
    );
    for (const request of requests) {
      const row = rows.find(({ source_branch: branch }) => branch === request.mark);
      if (!row) {
        problems.push(`${request.mark}: the merge request is gone`);
        continue;
      }
      const branch = await commitsOf(repository, `refs/heads/${request.mark}`);
      const suggestions = request.suggestions.length === 0 ? [] : await request.readSuggestions();
      const own = [
        ...refChangeChainProblems(pushes.get(request.mark) ?? [], refs.get(request.mark) ?? null),
        ...request.problemsOf(row, { main, branch, merges: merges.get(row.iid) ?? 0 }),
        ...request.problemsOfSuggestions(row, branch, suggestions),
      ];
      problems.push(...own.map((text) => `${request.mark} (${request.kind}): ${text}`));
    }
    return problems;
  }

  /**
   * Numbers of events about merges, by iid.
   * @param {number} project
   * @returns {Promise<Map<number, number>>}
   */
  async #countMergeEvents(project) {
    const counts = new Map();
    for (let page = 1; ; page += 1) {
      const path = `/projects/${project}/events?action=merged&per_page=100&page=${page}`;
      const events = await this.client.done(200, 'GET', path);
      for (const { target_iid: iid } of events) counts.set(iid, (counts.get(iid) ?? 0) + 1);
      if (events.length < 100) return counts;
    }
  }

  /**
   * @param {WorkKind} kind
   * @param {Answer | null} answer  null without an answer
   */
  count(kind, answer) {
    if (answer === null || answer.status >= 500) this.unknown += 1;
    else if (answer.status < 300) this.acknowledged[kind] = (this.acknowledged[kind] ?? 0) + 1;
    else this.refused[`${kind} ${answer.status}`] = (this.refused[`${kind} ${answer.status}`] ?? 0) + 1;
  }
}

/** A user who opens merge requests, and works on them. */
class MergeWorker {
  /** @type {WorkerMergeRequest[]} */
  requests = [];
  /** @type {WorkerMergeRequest[]} */
  #stock = [];
  #count = 0;

  /**
   * @param {BrokenMergesDrill} drill
   * @param {Person} person
   * @param {number} project
   * @param {string} start  commit from which the branches start
   * @param {number} n
   */
  constructor(drill, person, project, start, n) {
    this.drill = drill;
    this.person = person;
    this.project = project;
    this.start = start;
    this.n = n;
  }

  /** Opens a merge request of each kind, so that the faults meet the work on them. */
  async prepare() {
    for (let n = 0; n < STOCK; n += 1) this.#stock.push(await this.#openNextRequest());
  }

  /** Works on a merge request of the stock, or on a new one. One whose preparation fails in a fault is left alone. */
  async work() {
    const request = this.#stock.shift() ?? (await this.#openNextRequest().catch(() => null));
    if (request === null) return void (await delay(100));
    this.requests.push(request);
    await request.act();
  }

  async #openNextRequest() {
    this.#count += 1;
    const kind = /** @type {WorkKind} */ (KINDS[(this.#count + this.n) % KINDS.length]);
    const request = new WorkerMergeRequest(this, kind, `change-${this.n}-${this.#count}`);
    await request.prepare();
    return request;
  }
}

/** A merge request of one commit, whose branch, file and messages have its mark. */
class WorkerMergeRequest {
  path = '';
  lastRefusal = '';
  /** Kinds of the acknowledged requests. @type {Set<string>} */
  acknowledged = new Set();
  /** @type {number[]} */
  suggestions = [];
  #discussions = /** @type {string[]} */ ([]);

  /**
   * @param {MergeWorker} worker
   * @param {WorkKind} kind
   * @param {string} mark
   */
  constructor(worker, kind, mark) {
    this.worker = worker;
    this.kind = kind;
    this.mark = mark;
    this.project = worker.project;
  }

  /** Opens it. Errors: an answer other than the expected one. */
  async prepare() {
    const { worker, mark, kind } = this;
    const project = `/projects/${worker.project}`;
    await this.#sendAsWorker(201, 'POST', `${project}/repository/commits`, {
      ...{ branch: mark, start_sha: worker.start, commit_message: mark },
      actions: [{ action: 'create', file_path: `${mark}.txt`, content: FILE }],
    });
    const opened = await this.#sendAsWorker(
      201,
      'POST',
      `${project}/merge_requests`,
      {
        ...{ source_branch: mark, target_branch: 'main', title: mark, assignee_ids: [worker.person.id] },
      },
      worker.drill.client.estate.token,
    );
    this.path = `${project}/merge_requests/${opened.iid}`;
    for (const line of kind === 'suggestion' || kind === 'batch' ? SUGGESTED[kind] : []) {
      const position = { ...opened.diff_refs, position_type: 'text', new_path: `${mark}.txt`, new_line: line };
      const body = `\`\`\`suggestion\n${mark} ${line}\n\`\`\``;
      const { id, notes } = await this.#sendAsWorker(201, 'POST', `${this.path}/discussions`, { body, position });
      this.#discussions.push(id);
      this.suggestions.push(notes[0].suggestions[0].id);
    }
  }

  async act() {
    const { kind, mark } = this;
    if (kind === 'merge' || kind === 'squash') await this.merge();
    if (kind === 'rebase' && (await this.#repeatUntilAnswered('PUT', `${this.path}/rebase`, {})) === 'acknowledged')
      await this.merge();
    const json = { commit_message: `Apply ${mark}` };
    if (kind === 'suggestion')
      await this.#repeatUntilAnswered('PUT', `/suggestions/${this.suggestions[0]}/apply`, json);
    if (kind === 'batch')
      await this.#repeatUntilAnswered('PUT', '/suggestions/batch_apply', { ...json, ids: this.suggestions });
  }

  async merge() {
    const json = {
      merge_commit_message: `Merge ${this.mark}`,
      ...(this.kind === 'squash' ? { squash: true, squash_commit_message: `Squash ${this.mark}` } : {}),
    };
    const outcome = await this.#repeatUntilAnswered('PUT', `${this.path}/merge`, json);
    if (outcome === 'acknowledged') this.acknowledged.add('merge');
    return outcome;
  }

  /**
   * Violations of the merge request itself.
   * @param {Row} row
   * @param {{ main: ListedCommit[], branch: ListedCommit[], merges: number }} found
   */
  problemsOf(row, { main, branch, merges }) {
    const { mark, kind } = this;
    const isMerged = row.state === 'merged' ? 1 : 0;
    const isSquash = kind === 'squash' ? 1 : 0;
    const times = (/** @type {ListedCommit[]} */ commits, /** @type {string} */ subject) =>
      commits.filter((one) => one.subject === subject).length;
    /** @type {[what: string, is: unknown, shall: unknown][]} */
    const compared = [
      ['merge commits', times(main, `Merge ${mark}`), isMerged],
      ['squash commits', times(main, `Squash ${mark}`), isMerged * isSquash],
      ['own commits in main', times(main, mark), isMerged * (1 - isSquash)],
      ['own commits in the branch', times(branch, mark), 1],
      ['its merge commit is in main', main.some(({ id }) => id === row.merge_commit_sha), isMerged === 1],
      ['events', merges, isMerged],
      ['merge notes', row.merge_notes, isMerged],
      ['head', row.head_sha, branch[0]?.id],
      ['newest version', row.versions.at(-1), branch[0]?.id],
      ['versions', new Set(row.versions).size, row.versions.length],
      ['notes of pushes', row.push_notes, row.versions.length - 1],
    ];
    // A push ends the to-dos of its user, as the merge does. So does a comment, if the to-do was there before it.
    const isEnded = isMerged === 1 || row.versions.length > 1;
    const hasCommented = this.suggestions.length > 0;
    if (isEnded || !hasCommented) compared.push(['to-dos', row.todos, [`assigned ${isEnded ? 'done' : 'pending'}`]]);
    else compared.push(['to-dos', row.todos.length, 1]);
    if (this.acknowledged.has('merge')) compared.push(['acknowledged merge', row.state, 'merged']);
    return compared
      .filter(([, is, shall]) => JSON.stringify(is) !== JSON.stringify(shall))
      .map(([what, is, shall]) => `${what}: ${JSON.stringify(is)} instead of ${JSON.stringify(shall)}`);
  }

  /**
   * Violations of its suggestions: all are applied in one commit, with their threads resolved, or none is.
   * @param {Row} row
   * @param {ListedCommit[]} branch
   * @param {boolean[]} applied
   */
  problemsOfSuggestions(row, branch, applied) {
    const commits = branch.filter(({ subject }) => subject === `Apply ${this.mark}`).length;
    const isApplied = commits === 1;
    const problems = commits > 1 ? [`applied by ${commits} commits`] : [];
    if (applied.some((one) => one !== isApplied)) problems.push(`${commits} commits, but applied: ${applied.join()}`);
    if (row.resolved.some((one) => one !== isApplied))
      problems.push(`${commits} commits, but resolved: ${row.resolved.join()}`);
    const isAcknowledged = this.acknowledged.has('suggestions');
    return isAcknowledged && !isApplied ? [...problems, 'an acknowledged application is lost'] : problems;
  }

  /** Whether each suggestion is applied. */
  async readSuggestions() {
    const { client } = this.worker.drill;
    const found = [];
    for (const id of this.#discussions) {
      const { notes } = await client.done(200, 'GET', `${this.path}/discussions/${id}`);
      found.push(notes[0].suggestions[0].applied);
    }
    return found;
  }

  /**
   * Sends a request again until it is answered, as clients do.
   * @param {string} method
   * @param {string} path
   * @param {object} json
   */
  async #repeatUntilAnswered(method, path, json) {
    const { drill, person } = this.worker;
    for (let count = 0; count < REPEATS; count += 1) {
      const answer = await drill.client.api(method, path, { token: person.token, json }).catch(() => null);
      this.lastRefusal = `${answer?.status} ${JSON.stringify(answer?.body)}`.slice(0, 200);
      drill.count(this.kind, answer);
      if (answer !== null && answer.status < 300) {
        if (path.startsWith('/suggestions')) this.acknowledged.add('suggestions');
        return 'acknowledged';
      }
      if (answer !== null && answer.status < 500) return 'refused';
      await delay(200);
    }
    return 'unknown';
  }

  /**
   * @param {number} expected
   * @param {string} method
   * @param {string} path
   * @param {object} json
   */
  #sendAsWorker(expected, method, path, json, token = this.worker.person.token) {
    return this.worker.drill.client.done(expected, method, path, { json, token });
  }
}

/**
 * Commits of a branch, the newest first.
 * @param {string} repository
 * @param {string} ref
 * @returns {Promise<ListedCommit[]>}
 */
async function commitsOf(repository, ref) {
  const { output } = await git(repository, ['log', '--topo-order', '--format=%H %s', ref]);
  return output
    .split('\n')
    .filter(Boolean)
    .map((line) => ({ id: line.slice(0, 40), subject: line.slice(41) }));
}
