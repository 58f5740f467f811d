/**
 * Clients that write one after the other while processes are restarted: notes over a connection that stays open, pushes by
 * git, and uploads of packages.
 *
 * @import { DrillClient } from '../client.mjs'
 * @typedef {[outcome: number | string, text: string]} WriteResult an HTTP status, `pushed`, or another word
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sendUpload, sha256, uploadOf } from '../packages/registry-requests.mjs';
import { git, repositoryUrlWithToken } from '../repositories/git.mjs';

const NOTE_WRITERS = 8;
const PUSHERS = 2;
const UPLOADERS = 2;
const UPLOAD_BYTES = 300_000;

export class RollingWriters {
  #isOver = false;
  #folder = mkdtempSync(join(tmpdir(), 'rookery-rolling-'));
  /** @type {Promise<void>[]} */
  #running = [];
  project = { id: 0, path_with_namespace: '' };
  /** Numbers of outcomes. @type {Record<string, number>} */
  outcomes = {};
  failures = 0;
  slowestMs = 0;
  /** @type {string[]} */
  examples = [];
  /** Digests of the uploaded files, by name. @type {Map<string, string>} */
  #uploads = new Map();
  /** Last pushed commit and the number of pushes, by branch. @type {Map<string, { id: string, count: number }>} */
  #pushes = new Map();

  /** @param {DrillClient} client */
  constructor(client) {
    this.client = client;
  }

  async begin() {
    const { client } = this;
    const project = await client.projectWithIssue('rolling', 'private');
    this.project = await client.done(200, 'GET', `/projects/${project}`);
    const first = { branch: 'main', content: 'Drill', commit_message: 'Drill' };
    await client.made(`/projects/${project}/repository/files/README.md`, first);
    const titles = Array.from({ length: NOTE_WRITERS }, (_, index) => `rolling ${index}`);
    const issues = await Promise.all(titles.map((title) => client.made(`/projects/${project}/issues`, { title })));
    this.#running = [
      ...issues.map(({ iid }) => this.#repeatUntilOver(this.#createNoteWriter(iid))),
      ...Array.from({ length: PUSHERS }, (_, index) =>
        this.#repeatUntilOver(this.#createCommitPusher(`pusher-${index}`)),
      ),
      ...Array.from({ length: UPLOADERS }, (_, index) => this.#repeatUntilOver(this.#createFileUploader(index))),
    ];
  }

  async end() {
    this.#isOver = true;
    await Promise.all(this.#running);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Writes that were acknowledged and are not there, or are there twice, one sentence each. */
  async differences() {
    const base = `/projects/${this.project.id}`;
    /** @type {string[]} */
    const found = [];
    for (const [branch, { id, count }] of this.#pushes) {
      const { commit } = await this.client.done(200, 'GET', `${base}/repository/branches/${branch}`);
      if (commit.id !== id) found.push(`${branch} is at ${commit.id}, not at ${id}`);
      const events = (await this.#pushedRefs()).filter((ref) => ref === branch).length;
      if (events !== count) found.push(`${branch} has ${events} events of ${count} pushes`);
    }
    const origin = `${this.client.estate.baseUrl}/api/v4${base}/packages/generic/tool/1.0.0`;
    for (const [name, digest] of this.#uploads) {
      const answer = await fetch(`${origin}/${name}`, { headers: { 'private-token': this.client.estate.token } });
      const content = Buffer.from(await answer.arrayBuffer());
      if (answer.status !== 200 || sha256(content) !== digest) found.push(`${name} has other bytes: ${answer.status}`);
    }
    return found;
  }

  /** The refs of all push events of the project. */
  async #pushedRefs() {
    /** @type {string[]} */
    const refs = [];
    for (let page = 1; ; page += 1) {
      const path = `/projects/${this.project.id}/events?action=pushed&per_page=100&page=${page}`;
      const events = await this.client.done(200, 'GET', path);
      refs.push(...events.map((/** @type {any} */ event) => event.push_data?.ref));
      if (events.length < 100) return refs;
    }
  }

  /** @param {() => Promise<WriteResult>} write */
  async #repeatUntilOver(write) {
    while (!this.#isOver) {
      const from = performance.now();
      const [outcome, text] = await write().catch(
        (error) => /** @type {WriteResult} */ ([error.code ?? 'failed', error.message]),
      );
      this.slowestMs = Math.max(this.slowestMs, Math.round(performance.now() - from));
      this.count(outcome, text);
    }
  }

  /**
   * Counts an outcome. Everything but `pushed` and a status of success is a failure.
   * @param {WriteResult[0] | undefined} outcome
   * @param {string} text
   */
  count(outcome, text) {
    this.outcomes[`${outcome}`] = (this.outcomes[`${outcome}`] ?? 0) + 1;
    if (outcome === 'pushed' || (Number(outcome) >= 200 && Number(outcome) < 300)) return;
    this.failures += 1;
    if (this.examples.length < 20) this.examples.push(`${new Date().toISOString()} ${outcome}: ${text}`);
  }

  /** @param {number} iid */
  #createNoteWriter(iid) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    return () => post(this.client, `/projects/${this.project.id}/issues/${iid}/notes`, { body: 'rolling' }, { agent });
  }

  /**
   * @param {string} branch
   * @returns {() => Promise<WriteResult>}
   */
  #createCommitPusher(branch) {
    const folder = join(this.#folder, branch);
    mkdirSync(folder);
    const { baseUrl, token } = this.client.estate;
    const url = repositoryUrlWithToken(baseUrl, this.project.path_with_namespace, { token });
    const ready = git(folder, ['init', '--quiet', '--initial-branch', branch]);
    return async () => {
      await ready;
      const { count = 0 } = this.#pushes.get(branch) ?? {};
      await git(folder, ['commit', '--quiet', '--allow-empty', '--message', `${branch} ${count}`]);
      const { output: id } = await git(folder, ['rev-parse', 'HEAD']);
      const { code, output } = await git(folder, ['push', '--quiet', url, `HEAD:refs/heads/${branch}`]);
      if (code !== 0) return ['not pushed', output];
      this.#pushes.set(branch, { id: id.trim(), count: count + 1 });
      return ['pushed', ''];
    };
  }

  /**
   * @param {number} index
   * @returns {() => Promise<WriteResult>}
   */
  #createFileUploader(index) {
    const { estate } = this.client;
    let count = 0;
    return async () => {
      const content = Buffer.alloc(UPLOAD_BYTES, `${index} ${count} `);
      const upload = uploadOf(this.project.id, 'generic', (count += 1) * UPLOADERS + index, content);
      const answer = await sendUpload(this.client, upload, { token: estate.token });
      if (answer?.status === 201) this.#uploads.set(upload.fileName, sha256(content));
      return [answer?.status ?? 'cut upload', `upload: ${answer?.text ?? ''}`];
    };
  }
}

/**
 * Sends a POST. Returns status and text. Errors: those of the connection.
 * @param {DrillClient} client
 * @param {string} path
 * @param {object} json
 * @param {{ agent: Agent | false, token?: string | undefined }} options
 * @returns {Promise<WriteResult>}
 */
export function post({ estate }, path, json, { agent, token = estate.token }) {
  const headers = { 'private-token': token, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const outgoing = request(`${estate.baseUrl}/api/v4${path}`, { method: 'POST', agent, headers }, async (answer) => {
      /** @type {Buffer[]} */
      const parts = [];
      try {
        for await (const part of answer) parts.push(part);
        resolve([answer.statusCode ?? 0, Buffer.concat(parts).toString()]);
      } catch (error) {
        reject(error);
      }
    });
    outgoing.on('error', reject);
    outgoing.end(JSON.stringify(json));
  });
}
