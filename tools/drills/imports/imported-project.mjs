/**
 * Comparison of an imported project with the repository of the host: numbers, authors, times, texts and order.
 *
 * @import { DrillClient } from '../client.mjs'
 * @import { History, Upstream } from './upstreams.mjs'
 */
import { COMMENTS, pullRequestFilePath, upstreamPersonOf, PULLS, range, upstreamTimestampsOf } from './upstreams.mjs';

/** Every so many objects are compared completely. */
const STEP = 41;

export class ImportedProject {
  /** @type {string[]} */
  problems = [];

  /**
   * @param {DrillClient} client
   * @param {Upstream} upstream
   * @param {History} history
   * @param {number} project
   */
  constructor(client, upstream, history, project) {
    this.client = client;
    this.upstream = upstream;
    this.history = history;
    this.project = project;
  }

  /** Compares a finished import. Resolves to its differences from the host. */
  async compare() {
    const { client, project } = this;
    const { body } = await client.api('GET', `/projects/${project}/import`);
    const { import_status: status, failed_relations: failed, import_error: error, stats } = body;
    if (status !== 'finished') return [`it is ${status}: ${error}`];
    for (const { relation_name: name, exception_message: message } of failed.slice(0, 3))
      this.problems.push(`${name}: ${message}`);
    for (const [kind, count] of Object.entries(this.upstream.hasStats ? this.upstream.counts : {})) {
      const shown = [stats.fetched[kind], stats.imported[kind]];
      if (shown.some((number) => number !== count)) this.problems.push(`${kind} counts ${shown.join()}`);
    }
    await this.#compareNumbers();
    await this.#compareCommentedObjects();
    await this.#compareMergeRequests();
    const last = await client.api('GET', `/projects/${project}/repository/commits/${this.history.base}`);
    if (last.status !== 200) this.problems.push(`the last commit is answered ${last.status}`);
    return this.problems;
  }

  async #compareNumbers() {
    const { counts, holder } = this.upstream;
    const [rows] = await this.client.query(
      'collaboration',
      `select (select count(*)::int from issues where project_id = $1) as issue,
         (select count(*)::int from merge_requests where project_id = $1) as merge_request,
         (select count(*)::int from notes where project_id = $1 and noteable_type = 'Issue' and not system) as on_issues,
         (select count(*)::int from notes where project_id = $1 and noteable_type = 'MergeRequest' and not system) as on_requests`,
      [this.project],
    );
    const { issue, merge_request, note, diff_note } = counts;
    const [onIssues, onRequests] = holder === 'issues' ? [note, diff_note] : [0, note + diff_note];
    for (const [kind, count] of Object.entries({ issue, merge_request, on_issues: onIssues, on_requests: onRequests }))
      if (rows[kind] !== count) this.problems.push(`${rows[kind]} of ${count} rows: ${kind}`);
  }

  /** Compares the objects with the comments, and the order of these. */
  async #compareCommentedObjects() {
    const { holder, holders } = this.upstream;
    const title = holder === 'issues' ? 'Issue' : 'Pull';
    for (let n = 0; n < holders; n += STEP) {
      const path = `/projects/${this.project}/${holder}/${n + 1}`;
      const shown = await this.client.done(200, 'GET', path);
      this.#compareFields(shown, { title: `${title} ${n}`, description: `Text ${n}`, ...upstreamTimestampsOf(n) }, n);
      const notes = (await this.#listComments(path)).filter(({ type }) => type !== 'DiffNote');
      const expected = range(COMMENTS / holders).map((k) => n + k * holders);
      if (notes.length !== expected.length) this.problems.push(`${path} has ${notes.length} notes`);
      for (const [at, k] of expected.entries())
        this.#compareFields(
          notes[at] ?? { author: {} },
          { body: `Comment ${k}`, created_at: upstreamTimestampsOf(k).created_at },
          k,
        );
    }
  }

  /** Compares merge requests with their heads, and the comments on their lines. */
  async #compareMergeRequests() {
    for (let n = 0; n < PULLS; n += STEP) {
      const path = `/projects/${this.project}/merge_requests/${this.upstream.numberOfPull(n)}`;
      const sha = this.history.heads[n] ?? '';
      const shown = await this.client.done(200, 'GET', path);
      this.#compareFields(shown, { title: `Pull ${n}`, description: `Text ${n}`, sha, ...upstreamTimestampsOf(n) }, n);
      const notes = (await this.#listComments(path)).filter(({ type }) => type === 'DiffNote');
      if (notes.length !== 1) this.problems.push(`${path} has ${notes.length} comments on lines`);
      const [note = { author: {} }] = notes;
      const { new_path, new_line, head_sha } = note.position ?? {};
      const line = { ...note, new_path, new_line: String(new_line), head_sha };
      const place = { new_path: pullRequestFilePath(n), new_line: '1', head_sha: sha };
      this.#compareFields(line, { body: `Line ${n}`, created_at: upstreamTimestampsOf(n).created_at, ...place }, n);
    }
  }

  /**
   * Comments, the oldest first.
   * @param {string} path
   * @returns {Promise<any[]>}
   */
  async #listComments(path) {
    const notes = await this.client.done(200, 'GET', `${path}/notes?sort=asc&per_page=100`);
    return notes.filter((/** @type {{ system: boolean }} */ { system }) => !system);
  }

  /**
   * @param {any} shown
   * @param {Record<string, string>} expected
   * @param {number} person
   */
  #compareFields(shown, expected, person) {
    const { login } = upstreamPersonOf(person);
    if (shown.author.name !== `Placeholder ${login}`) this.problems.push(`${shown.author.name} in place of ${login}`);
    for (const [field, value] of Object.entries({ ...expected, imported_from: this.upstream.importType }))
      if (shown[field] !== value) this.problems.push(`${field} is ${shown[field]} in place of ${value}`);
  }
}
