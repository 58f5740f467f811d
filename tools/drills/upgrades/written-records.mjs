/**
 * A representative set of writes: one user in one group and project, with a resource of each service. Each write is
 * recorded with the read that must show it, also when another release answers.
 *
 * @import { Client, Person } from '../client.mjs'
 * @typedef {{ name: string, path: string, token: string, expected: unknown, pick(body: any): unknown }} Written `pick` takes
 *   the compared part of an answer
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sharedTemporary } from '../../servers/postgres-files.mjs';
import { until } from '../client.mjs';
import { FORMATS, send, uploadOf } from '../packages/registry-requests.mjs';
import { requireGit, urlOf } from '../repositories/git.mjs';

/** Time for effects of events: a to-do, an entry of a feed. Units: ms. */
const SHOWN_WITHIN_MS = 30_000;

export class WrittenRecords {
  /** @type {Written[]} */
  written = [];
  /** Kinds of requests in their order. @type {string[]} */
  kinds = [];
  project = { id: 0, path_with_namespace: '' };
  group = { id: 0 };
  /** @type {Person} */
  person = { id: 0, username: '', email: '', token: '' };

  /**
   * @param {Client} client
   * @param {string} name unique for a run
   */
  constructor(client, name) {
    this.client = client;
    this.name = name;
  }

  /** Writes everything. Errors: an answer other than the expected one. */
  async write() {
    await this.#step('user, group, project and member', () => this.#begin());
    await this.#step('label and milestone', () => this.#plan());
    await this.#step('issue with label, milestone and assignee', () => this.#open());
    await this.#step('note with a mention, and its to-do', () => this.#discuss());
    await this.#step('to-do of the caller', () => this.#remember());
    await this.#step('reaction', () => this.#react());
    await this.#step('epic', () => this.#epic());
    await this.#step('snippet', () => this.#snippet());
    await this.#step('push of two branches', () => this.#push());
    await this.#step('merge request with a note, merged', () => this.#merge());
    await this.#step('release', () => this.#release());
    await this.#step('commit status', () => this.#status());
    await this.#step(`upload of packages: ${FORMATS.join(', ')}`, () => this.#upload());
    await this.#step('feature flag', () => this.#flag());
    await this.#step('closed issue', () => this.#close());
  }

  /**
   * Reads everything through a client and returns differences, after effects had time to run.
   * @param {Client} client
   */
  async differences(client) {
    /** @type {string[]} */
    const found = [];
    for (const { name, path, token, expected, pick } of this.written) {
      let seen = '';
      const isSame = async () => {
        const { status, body } = await client.api('GET', path, { token });
        seen = status === 200 ? JSON.stringify(pick(body)) : `${status} ${JSON.stringify(body)}`;
        return seen === JSON.stringify(expected);
      };
      await until(name, isSame, SHOWN_WITHIN_MS).catch(() => {
        found.push(`${this.name}, ${name}: ${seen} instead of ${JSON.stringify(expected)}`);
      });
    }
    return found;
  }

  /**
   * @param {string} kind
   * @param {() => Promise<void>} write
   */
  async #step(kind, write) {
    await write();
    this.kinds.push(kind);
  }

  /**
   * @param {string} name
   * @param {string} path
   * @param {unknown} expected
   * @param {(body: any) => unknown} pick
   */
  #expect(name, path, expected, pick, token = this.person.token) {
    this.written.push({ name, path, token, expected, pick });
  }

  /**
   * Creates a resource of the project as the user.
   * @param {string} path
   * @param {object} json
   */
  #made(path, json) {
    return this.client.done(201, 'POST', `${this.#at}${path}`, { token: this.person.token, json });
  }

  get #at() {
    return `/projects/${this.project.id}`;
  }

  async #begin() {
    const { client, name } = this;
    this.person = await client.person(name);
    const path = `${name}-home-${client.seed}`;
    this.group = await client.done(201, 'POST', '/groups', { json: { name: path, path } });
    const json = { name: path, namespace_id: this.group.id, description: 'before' };
    this.project = await client.done(201, 'POST', '/projects', { json });
    const member = { user_id: this.person.id, access_level: 50 };
    await client.done(201, 'POST', `/groups/${this.group.id}/members`, { json: member });
    await client.done(200, 'PUT', this.#at, { json: { description: name } });
    this.#expect('project', this.#at, [path, name], (body) => [body.name, body.description]);
    this.#expect('member', `/groups/${this.group.id}/members/${this.person.id}`, 50, (body) => body.access_level);
  }

  async #plan() {
    await this.#made('/labels', { name: 'nest', color: '#112233' });
    await this.#made('/milestones', { title: 'spring' });
    this.#expect('label', `${this.#at}/labels`, ['nest'], (body) => body.map((/** @type {any} */ one) => one.name));
    this.#expect('milestone', `${this.#at}/milestones`, ['spring'], (body) =>
      body.map((/** @type {any} */ one) => one.title),
    );
  }

  async #open() {
    const [{ id: milestone }] = await this.client.done(200, 'GET', `${this.#at}/milestones`, {
      token: this.person.token,
    });
    const issue = { title: this.name, labels: 'nest', milestone_id: milestone, assignee_ids: [this.person.id] };
    await this.#made('/issues', issue);
    this.#expect('issue', `${this.#at}/issues/1`, [this.name, ['nest'], 'spring', this.person.id], (body) => [
      body.title,
      body.labels,
      body.milestone?.title,
      body.assignees[0]?.id,
    ]);
  }

  async #discuss() {
    const json = { body: `look, @${this.person.username}` };
    await this.client.done(201, 'POST', `${this.#at}/issues/1/notes`, { json });
    this.#expect('note', `${this.#at}/issues/1/notes?activity_filter=only_comments`, [json.body], bodiesOf);
    // The reaction of the user ends the to-do.
    this.#expect('to-do by mention', '/todos?action=mentioned&state=done', 1, (body) => body.length);
    const path = `/projects/${this.project.id}/events?action=commented&target_type=note`;
    this.#expect('entry of the feed', path, true, (body) =>
      body.some((/** @type {any} */ one) => one.note?.body === json.body),
    );
  }

  async #remember() {
    const { iid } = await this.#made('/issues', { title: 'later' });
    await this.#made(`/issues/${iid}/todo`, {});
    this.#expect('to-do', '/todos?action=marked', 1, (body) => body.length);
  }

  async #react() {
    await this.#made('/issues/1/award_emoji', { name: 'thumbsup' });
    this.#expect('reaction', `${this.#at}/issues/1/award_emoji`, ['thumbsup'], (body) =>
      body.map((/** @type {any} */ one) => one.name),
    );
  }

  async #epic() {
    const path = `/groups/${this.group.id}/epics`;
    await this.client.done(201, 'POST', path, { token: this.person.token, json: { title: this.name } });
    this.#expect('epic', path, [this.name], (body) => body.map((/** @type {any} */ one) => one.title));
  }

  async #snippet() {
    const files = [{ file_path: 'a.txt', content: 'straw' }];
    const { id } = await this.#made('/snippets', { title: this.name, visibility: 'private', files });
    this.#expect('snippet', `${this.#at}/snippets/${id}`, this.name, (body) => body.title);
  }

  async #push() {
    const folder = mkdtempSync(join(sharedTemporary(), 'rookery-push-'));
    try {
      const url = urlOf(this.client.estate.baseUrl, this.project.path_with_namespace, this.person);
      writeFileSync(join(folder, 'nest.txt'), 'straw\n');
      await requireGit(folder, ['init', '--quiet', '--initial-branch', 'main']);
      await requireGit(folder, ['add', '.']);
      await requireGit(folder, ['commit', '--quiet', '--message', 'straw']);
      await requireGit(folder, ['checkout', '--quiet', '-b', 'twigs']);
      writeFileSync(join(folder, 'nest.txt'), 'straw\ntwigs\n');
      await requireGit(folder, ['commit', '--quiet', '--all', '--message', 'twigs']);
      await requireGit(folder, ['push', '--quiet', url, 'main']);
      await requireGit(folder, ['push', '--quiet', url, 'twigs']);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    this.#expect('branches', `${this.#at}/repository/branches`, ['main', 'twigs'], (body) =>
      body.map((/** @type {any} */ one) => one.name).sort(),
    );
  }

  async #merge() {
    const { client, person } = this;
    await this.#made('/merge_requests', { source_branch: 'twigs', target_branch: 'main', title: this.name });
    const path = `${this.#at}/merge_requests/1`;
    await this.#made('/merge_requests/1/notes', { body: this.name });
    const merges = async () =>
      (await client.api('PUT', `${path}/merge`, { token: person.token, json: {} })).status === 200;
    await until('the merge request merges', merges, SHOWN_WITHIN_MS);
    this.#expect('merge request', path, [this.name, 'merged'], (body) => [body.title, body.state]);
    this.#expect('note of the merge request', `${path}/notes?activity_filter=only_comments`, [this.name], bodiesOf);
    this.#expect('file after the merge', `${this.#at}/repository/files/nest.txt?ref=main`, 'straw\ntwigs\n', (body) =>
      Buffer.from(body.content, 'base64').toString(),
    );
  }

  async #release() {
    await this.#made('/releases', { tag_name: 'v1', ref: 'main', description: this.name });
    this.#expect('release', `${this.#at}/releases/v1`, this.name, (body) => body.description);
  }

  async #status() {
    const [{ id: sha }] = await this.client.done(200, 'GET', `${this.#at}/repository/commits`, {
      token: this.person.token,
    });
    await this.#made(`/statuses/${sha}`, { state: 'success', name: 'build', ref: 'main' });
    this.#expect('commit status', `${this.#at}/repository/commits/${sha}/statuses`, ['success'], (body) =>
      body.map((/** @type {any} */ one) => one.status),
    );
  }

  async #upload() {
    for (const format of FORMATS) {
      const upload = uploadOf(this.project.id, format, 1, Buffer.from(`${this.name} ${format}`));
      const answer = await send(this.client, upload, { token: this.person.token });
      if (!answer || answer.status >= 300) throw new Error(`${format}: ${answer?.status} ${answer?.text}`);
    }
    this.#expect('packages', `${this.#at}/packages?per_page=100`, [...FORMATS].sort(), (body) =>
      body.map((/** @type {any} */ one) => one.package_type).sort(),
    );
  }

  async #flag() {
    await this.#made('/feature_flags', { name: 'wings', version: 'new_version_flag', active: true });
    this.#expect('feature flag', `${this.#at}/feature_flags/wings`, ['wings', true], (body) => [
      body.name,
      body.active,
    ]);
  }

  async #close() {
    const issue = await this.#made('/issues', { title: 'short' });
    const path = `${this.#at}/issues/${issue.iid}`;
    await this.client.done(200, 'PUT', path, { token: this.person.token, json: { state_event: 'close' } });
    this.#expect('closed issue', path, ['closed', this.person.id], (body) => [body.state, body.closed_by?.id]);
  }
}

/** @param {any[]} notes */
function bodiesOf(notes) {
  return notes.map(({ body }) => body);
}
