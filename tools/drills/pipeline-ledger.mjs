/**
 * Load of an outside CI, and its verifier: reports failures of commits on uniquely named refs, records which reports were
 * acknowledged, and afterwards compares pipelines, their copies, e-mails and to-dos with the record.
 * Source: reference identity-and-import 7.4; work-tracking 6.3, 8.4.
 *
 * @import { DrillClient, Person } from './client.mjs'
 * @import { Verdict } from './ledger.mjs'
 * @typedef {{ ref: string, reporter: Person, outcome: string, request: number | undefined }} FailureReport
 * `request` is the id of the open merge request of the branch `ref`
 */
import { setTimeout as delay } from 'node:timers/promises';
import { settledVerdict } from './ledger.mjs';
import { MailFiles } from './mail-files.mjs';

/** Merge requests whose pipelines fail, each of them once. */
const MERGE_REQUESTS = 8;
/** A report in this many is about a branch with a merge request. */
const REPORTS_PER_MERGE_REQUEST = 4;

export class PipelineLedger {
  /** By ref. @type {Map<string, FailureReport>} */
  #reports = new Map();
  /** Branches with merge requests that no report named yet. @type {{ ref: string, request: number }[]} */
  #branches = [];
  /** @type {Person[]} */
  #reporters = [];
  #project = 0;
  #sha = '';
  #stopping = false;
  /** @type {Promise<void>[]} */
  #running = [];

  /** @param {DrillClient} client */
  constructor(client) {
    this.client = client;
    this.mails = new MailFiles(client.estate.mailDir);
  }

  /** Creates a project with a commit outside its default branch, and merge requests of it. */
  async prepare() {
    const { client } = this;
    this.#reporters = await client.people(2, 'reporter');
    const path = `pipelines-${client.seed}`;
    const group = await client.made('/groups', { name: path, path });
    const project = await client.made('/projects', {
      name: path,
      namespace_id: group.id,
      initialize_with_readme: true,
    });
    this.#project = project.id;
    await client.join(project.id, this.#reporters, 30);
    const { id: sha } = await this.#createInProject('/repository/commits', {
      branch: 'change',
      start_branch: project.default_branch,
      commit_message: 'Change',
      actions: [{ action: 'create', file_path: 'change.txt', content: 'change' }],
    });
    this.#sha = sha;
    for (let n = 0; n < MERGE_REQUESTS; n += 1) {
      const ref = `request-${n}`;
      await this.#createInProject('/repository/branches', { branch: ref, ref: sha });
      const request = { source_branch: ref, target_branch: project.default_branch, title: ref };
      this.#branches.push({ ref, request: (await this.#createInProject('/merge_requests', request)).id });
    }
  }

  /**
   * @param {string} path
   * @param {object} json
   */
  #createInProject(path, json) {
    return this.client.made(`/projects/${this.#project}${path}`, json, this.#reporters[0]?.token);
  }

  /**
   * Reports until `stop`. Units: reports per second, of all reporters together.
   * @param {number} rate
   */
  write(rate) {
    this.#running = this.#reporters.map(async (reporter) => {
      while (!this.#stopping) {
        await this.#reportFailure(reporter).catch(() => undefined);
        await delay((1000 / rate) * this.#reporters.length * (0.5 + Math.random()));
      }
    });
  }

  /**
   * Reports a failure on a ref that had no pipeline.
   * @param {Person} reporter
   */
  async #reportFailure(reporter) {
    const count = this.#reports.size;
    const branch = count % REPORTS_PER_MERGE_REQUEST === 0 ? this.#branches.shift() : undefined;
    /** @type {FailureReport} */
    const report = { ref: branch?.ref ?? `ref-${count}`, reporter, outcome: 'unknown', request: branch?.request };
    this.#reports.set(report.ref, report);
    const path = `/projects/${this.#project}/statuses/${this.#sha}`;
    const json = { state: 'failed', name: 'build', ref: report.ref };
    const { status } = await this.client.api('POST', path, { token: reporter.token, json });
    if (status === 201) report.outcome = 'acknowledged';
    else if (status < 500) report.outcome = `refused with ${status}`;
  }

  async stop() {
    this.#stopping = true;
    await Promise.all(this.#running);
  }

  /** Compares everything once. Returns counts, and up to five examples of violations. */
  async #compareAll() {
    const { client } = this;
    const project = [this.#project];
    const pipelines = countByRef(
      await client.query('package', `select ref from pipelines where project_id = $1 and status = 'failed'`, project),
    );
    const copies = countByRef(
      await client.query(
        'collaboration',
        `select ref from ci_pipelines where project_id = $1 and status = 'failed'`,
        project,
      ),
    );
    const todos = countByRef(
      await client.query(
        'collaboration',
        `select target_id as ref from todos where project_id = $1 and target_type = 'MergeRequest'
           and action = 'build_failed'`,
        project,
      ),
    );
    /** @type {Map<string, Set<string | undefined>>} */
    const mails = new Map();
    for (const { id, to, text } of await this.mails.all()) {
      const report = this.#reports.get(/^Pipeline #\d+ of the branch (\S+) has failed\.$/m.exec(text)?.[1] ?? '');
      if (report && to === report.reporter.email) mails.set(report.ref, (mails.get(report.ref) ?? new Set()).add(id));
    }
    return this.#createVerdict({ pipelines, copies, todos, mails });
  }

  /**
   * @param {{ pipelines: Map<string, number>, copies: Map<string, number>, todos: Map<string, number>,
   *   mails: Map<string, Set<string | undefined>> }} found
   */
  #createVerdict({ pipelines, copies, todos, mails }) {
    /** @type {Verdict} */
    const verdict = { acknowledged: 0, unknown: 0, refused: 0, lost: 0, missing: 0, duplicate: 0, examples: [] };
    /** @type {(kind: 'lost' | 'missing' | 'duplicate', report: FailureReport, resource: string) => void} */
    const wrong = (kind, { ref, outcome }, resource) => {
      verdict[kind] += 1;
      if (verdict.examples.length < 5) verdict.examples.push(`${kind}: ${resource} of ${ref} (${outcome})`);
    };
    for (const report of this.#reports.values()) {
      const { ref, outcome, request } = report;
      const stored = pipelines.get(ref) ?? 0;
      if (outcome === 'acknowledged') verdict.acknowledged += 1;
      else if (outcome === 'unknown') verdict.unknown += 1;
      else verdict.refused += 1;
      if (outcome === 'acknowledged' && stored === 0) wrong('lost', report, 'pipeline');
      if (stored > 1) wrong('duplicate', report, 'pipeline');
      const effects = {
        copy: copies.get(ref) ?? 0,
        mail: mails.get(ref)?.size ?? 0,
        ...(request === undefined ? {} : { 'to-do': todos.get(String(request)) ?? 0 }),
      };
      for (const [resource, count] of Object.entries(effects)) {
        if (stored > 0 && count === 0) wrong('missing', report, resource);
        if (count > 1 || (stored === 0 && count > 0)) wrong('duplicate', report, resource);
      }
    }
    return verdict;
  }

  /** Compares until nothing is missing, at most for 45 s. */
  check() {
    return settledVerdict(() => this.#compareAll());
  }
}

/** @param {{ ref: unknown }[]} rows */
function countByRef(rows) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { ref } of rows) counts.set(String(ref), (counts.get(String(ref)) ?? 0) + 1);
  return counts;
}
