/**
 * A representative set of writes: one user in one group and project, with a resource of each service. Each write is
 * recorded with the read that must show it, also when another release answers.
 *
 * @import { DrillClient, Person } from '../client.mjs'
 * @typedef {{ name: string, path: string, token: string, expected: unknown, pick(body: any): unknown }} WrittenRecord `pick` takes
 *   the compared part of an answer
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sharedTemporaryFolder } from '../../servers/postgres-files.mjs';
import { until } from '../client.mjs';
import { FORMATS, sendUpload, uploadOf } from '../packages/registry-requests.mjs';
import { runGitOrThrow, repositoryUrlWithToken } from '../repositories/git.mjs';

/** Time for effects of events: a to-do, an entry of a feed. Units: ms. */
const SHOWN_WITHIN_MS = 30_000;

export class WrittenRecords {
  /** @type {WrittenRecord[]} */
  written = [];
  /** Kinds of requests in their order. @type {string[]} */
  kinds = [];
  project = { id: 0, path_with_namespace: '' };
  group = { id: 0 };
  /** @type {Person} */
  person = { id: 0, username: '', email: '', token: '' };

  /**
   * @param {DrillClient} client
   * @param {string} name unique for a run
   */
  constructor(client, name) {
    this.client = client;
    this.name = name;
  }

  /** Writes everything. Errors: an answer other than the expected one. */
  async write() {
    await this.#writeStep('user, group, project and member', () => this.#writeProject());
    await this.#writeStep('label and milestone', () => this.#writeLabelAndMilestone());
    await this.#writeStep('issue with label, milestone and assignee', () => this.#writeIssue());
    await this.#writeStep('note with a mention, and its to-do', () => this.#writeMention());
    await this.#writeStep('to-do of the caller', () => this.#writeTodo());
    await this.#writeStep('reaction', () => this.#writeReaction());
    await this.#writeStep('epic', () => this.#writeEpic());
    await this.#writeStep('snippet', () => this.#writeSnippet());
    await this.#writeStep('push of two branches', () => this.#pushBranches());
    await this.#writeStep('merge request with a note, merged', () => this.#mergeRequest());
    await this.#writeStep('release', () => this.#writeRelease());
    await this.#writeStep('commit status', () => this.#writeCommitStatus());
    await this.#writeStep(`upload of packages: ${FORMATS.join(', ')}`, () => this.#uploadPackages());
    await this.#writeStep('feature flag', () => this.#writeFeatureFlag());
    await this.#writeStep('closed issue', () => this.#closeIssue());
  }

  /**
   * Reads everything through a client and returns differences, after effects had time to run.
   * @param {DrillClient} client
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
  async #writeStep(kind, write) {
    await write();
    this.kinds.push(kind);
  }

  /**
   * @param {string} name
   * @param {string} path
   * @param {unknown} expected
   * @param {(body: any) => unknown} pick
   */
  #expectLater(name, path, expected, pick, token = this.person.token) {
    this.written.push({ name, path, token, expected, pick });
  }

  /**
   * Creates a resource of the project as the user.
   * @param {string} path
   * @param {object} json
   */
  #createInProject(path, json) {
    return this.client.done(201, 'POST', `${this.#projectPath}${path}`, { token: this.person.token, json });
  }

  get #projectPath() {
    return `/projects/${this.project.id}`;
  }

  async #writeProject() {
    const { client, name } = this;
    this.person = await client.person(name);
    const path = `${name}-home-${client.seed}`;
    this.group = await client.done(201, 'POST', '/groups', { json: { name: path, path } });
    const json = { name: path, namespace_id: this.group.id, description: 'before' };
    this.project = await client.done(201, 'POST', '/projects', { json });
    const member = { user_id: this.person.id, access_level: 50 };
    await client.done(201, 'POST', `/groups/${this.group.id}/members`, { json: member });
    await client.done(200, 'PUT', this.#projectPath, { json: { description: name } });
    this.#expectLater('project', this.#projectPath, [path, name], (body) => [body.name, body.description]);
    this.#expectLater('member', `/groups/${this.group.id}/members/${this.person.id}`, 50, (body) => body.access_level);
  }

  async #writeLabelAndMilestone() {
    await this.#createInProject('/labels', { name: 'nest', color: '#112233' });
    await this.#createInProject('/milestones', { title: 'spring' });
    this.#expectLater('label', `${this.#projectPath}/labels`, ['nest'], (body) =>
      body.map((/** @type {any} */ one) => one.name),
    );
    this.#expectLater('milestone', `${this.#projectPath}/milestones`, ['spring'], (body) =>
      body.map((/** @type {any} */ one) => one.title),
    );
  }

  async #writeIssue() {
    const [{ id: milestone }] = await this.client.done(200, 'GET', `${this.#projectPath}/milestones`, {
      token: this.person.token,
    });
    const issue = { title: this.name, labels: 'nest', milestone_id: milestone, assignee_ids: [this.person.id] };
    await this.#createInProject('/issues', issue);
    this.#expectLater(
      'issue',
      `${this.#projectPath}/issues/1`,
      [this.name, ['nest'], 'spring', this.person.id],
      (body) => [body.title, body.labels, body.milestone?.title, body.assignees[0]?.id],
    );
  }

  async #writeMention() {
    const json = { body: `look, @${this.person.username}` };
    await this.client.done(201, 'POST', `${this.#projectPath}/issues/1/notes`, { json });
    this.#expectLater(
      'note',
      `${this.#projectPath}/issues/1/notes?activity_filter=only_comments`,
      [json.body],
      bodiesOf,
    );
    // The reaction of the user ends the to-do.
    this.#expectLater('to-do by mention', '/todos?action=mentioned&state=done', 1, (body) => body.length);
    const path = `/projects/${this.project.id}/events?action=commented&target_type=note`;
    this.#expectLater('entry of the feed', path, true, (body) =>
      body.some((/** @type {any} */ one) => one.note?.body === json.body),
    );
  }

  async #writeTodo() {
    const { iid } = await this.#createInProject('/issues', { title: 'later' });
    await this.#createInProject(`/issues/${iid}/todo`, {});
    this.#expectLater('to-do', '/todos?action=marked', 1, (body) => body.length);
  }

  async #writeReaction() {
    await this.#createInProject('/issues/1/award_emoji', { name: 'thumbsup' });
    this.#expectLater('reaction', `${this.#projectPath}/issues/1/award_emoji`, ['thumbsup'], (body) =>
      body.map((/** @type {any} */ one) => one.name),
    );
  }

  async #writeEpic() {
    const path = `/groups/${this.group.id}/epics`;
    await this.client.done(201, 'POST', path, { token: this.person.token, json: { title: this.name } });
    this.#expectLater('epic', path, [this.name], (body) => body.map((/** @type {any} */ one) => one.title));
  }

  async #writeSnippet() {
    const files = [{ file_path: 'a.txt', content: 'straw' }];
    const { id } = await this.#createInProject('/snippets', { title: this.name, visibility: 'private', files });
    this.#expectLater('snippet', `${this.#projectPath}/snippets/${id}`, this.name, (body) => body.title);
  }

  async #pushBranches() {
    const folder = mkdtempSync(join(sharedTemporaryFolder(), 'rookery-push-'));
    try {
      const url = repositoryUrlWithToken(this.client.estate.baseUrl, this.project.path_with_namespace, this.person);
      writeFileSync(join(folder, 'nest.txt'), 'straw\n');
      await runGitOrThrow(folder, ['init', '--quiet', '--initial-branch', 'main']);
      await runGitOrThrow(folder, ['add', '.']);
      await runGitOrThrow(folder, ['commit', '--quiet', '--message', 'straw']);
      await runGitOrThrow(folder, ['checkout', '--quiet', '-b', 'twigs']);
      writeFileSync(join(folder, 'nest.txt'), 'straw\ntwigs\n');
      await runGitOrThrow(folder, ['commit', '--quiet', '--all', '--message', 'twigs']);
      await runGitOrThrow(folder, ['push', '--quiet', url, 'main']);
      await runGitOrThrow(folder, ['push', '--quiet', url, 'twigs']);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    this.#expectLater('branches', `${this.#projectPath}/repository/branches`, ['main', 'twigs'], (body) =>
      body.map((/** @type {any} */ one) => one.name).sort(),
    );
  }

  async #mergeRequest() {
    const { client, person } = this;
    await this.#createInProject('/merge_requests', { source_branch: 'twigs', target_branch: 'main', title: this.name });
    const path = `${this.#projectPath}/merge_requests/1`;
    await this.#createInProject('/merge_requests/1/notes', { body: this.name });
    const merges = async () =>
      (await client.api('PUT', `${path}/merge`, { token: person.token, json: {} })).status === 200;
    await until('the merge request merges', merges, SHOWN_WITHIN_MS);
    this.#expectLater('merge request', path, [this.name, 'merged'], (body) => [body.title, body.state]);
    this.#expectLater(
      'note of the merge request',
      `${path}/notes?activity_filter=only_comments`,
      [this.name],
      bodiesOf,
    );
    this.#expectLater(
      'file after the merge',
      `${this.#projectPath}/repository/files/nest.txt?ref=main`,
      'straw\ntwigs\n',
      (body) => Buffer.from(body.content, 'base64').toString(),
    );
  }

  async #writeRelease() {
    await this.#createInProject('/releases', { tag_name: 'v1', ref: 'main', description: this.name });
    this.#expectLater('release', `${this.#projectPath}/releases/v1`, this.name, (body) => body.description);
  }

  async #writeCommitStatus() {
    const [{ id: sha }] = await this.client.done(200, 'GET', `${this.#projectPath}/repository/commits`, {
      token: this.person.token,
    });
    await this.#createInProject(`/statuses/${sha}`, { state: 'success', name: 'build', ref: 'main' });
    this.#expectLater('commit status', `${this.#projectPath}/repository/commits/${sha}/statuses`, ['success'], (body) =>
      body.map((/** @type {any} */ one) => one.status),
    );
  }

  async #uploadPackages() {
    for (const format of FORMATS) {
      const upload = uploadOf(this.project.id, format, 1, Buffer.from(`${this.name} ${format}`));
      const answer = await sendUpload(this.client, upload, { token: this.person.token });
      if (!answer || answer.status >= 300) throw new Error(`${format}: ${answer?.status} ${answer?.text}`);
    }
    this.#expectLater('packages', `${this.#projectPath}/packages?per_page=100`, [...FORMATS].sort(), (body) =>
      body.map((/** @type {any} */ one) => one.package_type).sort(),
    );
  }

  async #writeFeatureFlag() {
    await this.#createInProject('/feature_flags', { name: 'wings', version: 'new_version_flag', active: true });
    this.#expectLater('feature flag', `${this.#projectPath}/feature_flags/wings`, ['wings', true], (body) => [
      body.name,
      body.active,
    ]);
  }

  async #closeIssue() {
    const issue = await this.#createInProject('/issues', { title: 'short' });
    const path = `${this.#projectPath}/issues/${issue.iid}`;
    await this.client.done(200, 'PUT', path, { token: this.person.token, json: { state_event: 'close' } });
    this.#expectLater('closed issue', path, ['closed', this.person.id], (body) => [body.state, body.closed_by?.id]);
  }
}

/** @param {any[]} notes */
function bodiesOf(notes) {
  return notes.map(({ body }) => body);
}
