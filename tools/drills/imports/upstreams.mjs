/**
 * Upstream hosts of the drills of imports: one repository each, with the objects that its kind of host has. Source:
 * reference identity-and-import 6.9 to 6.11.
 *
 * @typedef {{ folder: string, ok(cwd: string, ...words: string[]): Promise<string> }} Git
 * @typedef {Record<string, any>} HostedObject
 * @typedef {HostedObject & { address: string, url: string, token: string, username: string, git: Git, stop(): Promise<void> }} Host
 * @typedef {{ base: string, heads: string[] }} History  the tip of `main`, and the heads of the pull requests
 * @typedef {RemoteImportUpstream | ServerImportUpstream | CloudImportUpstream} Upstream
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** Loads a module of the test library, which has to be built. */
const load = createRequire(import.meta.url);

export const COMMITS = 2000;
const ISSUES = 500;
export const PULLS = 200;
export const COMMENTS = 5000;
const LINE_COMMENTS = 200;
const PEOPLE = 25;
export const FROM = Date.parse('2024-01-01T00:00:00.000Z');
const NAME = 'heron';

/** Repository of a host. `holder` is the list of the API whose objects have the comments, `holders` their number. */
class BaseImportUpstream {
  /** @type {'issues' | 'merge_requests'} */
  holder = 'issues';
  holders = ISSUES;
  /** Name of the kind of host in answers of the API. */
  importType = '';
  /** Numbers of imported objects by kind. */
  counts = { issue: ISSUES, merge_request: PULLS, note: COMMENTS, diff_note: LINE_COMMENTS };

  /** @param {Host} host */
  constructor(host) {
    this.host = host;
  }

  /** Settings of the estate. */
  get env() {
    return { EGRESS_ALLOW: this.host.address };
  }

  /** Forms of the credential in requests, which no other place may hold. */
  get secrets() {
    const { token, username } = this.host;
    return [token, toBasicCredential(`${username}:${token}`)];
  }

  /**
   * Folder of the bare repository.
   * @param {string} path
   */
  bare(path) {
    return join(this.host.git.folder, path);
  }
}

class RemoteImportUpstream extends BaseImportUpstream {
  hasStats = true;
  importType = 'remote';
  /** @type {HostedObject} */
  #repository = {};

  static async start() {
    /** @type {{ RemoteHost: { start(): Promise<Host> } }} */
    const { RemoteHost } = load('../../../libs/testing/dist/upstream/remote-host.js');
    return new RemoteImportUpstream(await RemoteHost.start());
  }

  get secrets() {
    const { token } = this.host;
    return [token, toBasicCredential(`${token}:x-oauth-basic`)];
  }

  async add() {
    this.#repository = await this.host['add'](NAME);
    return this.bare(`${this.#repository['full_name']}.git`);
  }

  /** @param {number} n */
  headOf(n) {
    return `refs/pull/${this.numberOfPull(n)}/head`;
  }

  /**
   * Issues and pull requests share their numbers.
   * @param {number} n
   */
  numberOfPull(n) {
    return ISSUES + n + 1;
  }

  /** @param {History} history */
  fill({ base, heads }) {
    const { host } = this;
    const repository = this.#repository;
    const name = repository['full_name'];
    /** @type {(list: string, objects: object[]) => void} */
    const put = (list, objects) => host['put'](repository, list, objects);
    put('labels', [{ name: 'nest', color: '00ff00', description: null }]);
    put('milestones', [{ number: 1, title: 'Spring', state: 'open', ...upstreamTimestampsOf(0) }]);
    const planned = { labels: [{ name: 'nest' }], milestone: { number: 1 } };
    /** @param {number} n */
    const issueOf = (n) => ({
      ...textsAndAuthorOf('Issue', n),
      number: n + 1,
      state: 'open',
      ...planned,
      ...upstreamTimestampsOf(n),
    });
    /** @param {number} n */
    const pullOf = (n) => ({
      ...{ ...textsAndAuthorOf('Pull', n), number: this.numberOfPull(n), state: 'open', ...upstreamTimestampsOf(n) },
      head: { ref: `topic-${n}`, sha: heads[n], user: upstreamPersonOf(n), repo: { id: 9 } },
      base: { ref: 'main', sha: base, user: upstreamPersonOf(n), repo: { id: repository['id'] } },
    });
    /** @param {number} n */
    const commentOf = (n) => ({
      ...{ id: n + 1, body: `Comment ${n}`, user: upstreamPersonOf(n), ...upstreamTimestampsOf(n) },
      html_url: `${host.url}/${name}/issues/${(n % ISSUES) + 1}#issuecomment-${n + 1}`,
    });
    /** @param {number} n */
    const lineCommentOf = (n) => ({
      ...{ id: COMMENTS + n + 1, body: `Line ${n}`, user: upstreamPersonOf(n), path: pullRequestFilePath(n) },
      ...{ side: 'RIGHT', line: 1, commit_id: heads[n], ...upstreamTimestampsOf(n) },
      pull_request_url: `${host.url}/api/v3/repos/${name}/pulls/${this.numberOfPull(n)}`,
    });
    put('issues', range(ISSUES).map(issueOf));
    put('pulls', range(PULLS).map(pullOf));
    put('issues/comments', range(COMMENTS).map(commentOf));
    put('pulls/comments', range(LINE_COMMENTS).map(lineCommentOf));
  }

  /**
   * @param {string} namespace
   * @param {string} name
   * @returns {[path: string, parameters: object]}
   */
  request(namespace, name) {
    const { token, url } = this.host;
    const named = { repo_id: this.#repository['id'], target_namespace: namespace, new_name: name };
    return ['/import/remote', { personal_access_token: token, remote_hostname: url, ...named, pagination_limit: 50 }];
  }
}

class ServerImportUpstream extends BaseImportUpstream {
  hasStats = false;
  importType = 'repohost_server';
  holder = /** @type {const} */ ('merge_requests');
  holders = PULLS;
  counts = { issue: 0, merge_request: PULLS, note: COMMENTS, diff_note: LINE_COMMENTS };
  /** @type {HostedObject} */
  #repository = {};

  /** @param {HostedObject & { host: Host }} server */
  constructor(server) {
    super(server.host);
    this.server = server;
  }

  static async start() {
    /** @type {{ RepohostServer: { start(): Promise<HostedObject & { host: Host }> } }} */
    const { RepohostServer } = load('../../../libs/testing/dist/upstream/repohost-server.js');
    return new ServerImportUpstream(await RepohostServer.start());
  }

  async add() {
    this.#repository = await this.server['add'](NAME);
    return this.bare(`${this.server['key']}/${NAME}.git`);
  }

  /** @param {number} n */
  headOf(n) {
    return `refs/pull-requests/${this.numberOfPull(n)}/from`;
  }

  /** @param {number} n */
  numberOfPull(n) {
    return n + 1;
  }

  /** @param {History} history */
  fill({ base, heads }) {
    const repository = { id: this.#repository['id'] };
    /** @param {number} n */
    const person = (n) => ({ id: (n % PEOPLE) + 1, slug: upstreamPersonOf(n).login, name: upstreamPersonOf(n).login });
    /** @param {number} n */
    const instants = (n) => ({ createdDate: FROM + n * 60_000, updatedDate: FROM + n * 60_000 });
    /** @param {number} n */
    const pullOf = (n) => ({
      ...{ id: this.numberOfPull(n), title: `Pull ${n}`, description: `Text ${n}`, state: 'OPEN', ...instants(n) },
      ...{ author: { user: person(n) }, reviewers: [] },
      fromRef: { id: `refs/heads/topic-${n}`, latestCommit: heads[n], repository },
      toRef: { id: 'refs/heads/main', latestCommit: base, repository },
    });
    /** @type {(id: number, text: string, n: number, more?: object) => object} */
    const activityOf = (id, text, n, more = {}) => ({
      ...{ id, action: 'COMMENTED', user: person(n), createdDate: instants(n).createdDate, ...more },
      comment: { id, text, author: person(n), comments: [], ...instants(n) },
    });
    this.server['putPullRequests'](this.#repository, range(PULLS).map(pullOf));
    for (const n of range(PULLS)) {
      const place = { path: pullRequestFilePath(n), line: 1, lineType: 'ADDED', fileType: 'TO', toHash: heads[n] };
      const comments = range(COMMENTS / PULLS).map((k) => n + k * PULLS);
      const activities = [
        ...comments.map((k) => activityOf(k + 1, `Comment ${k}`, k)),
        activityOf(COMMENTS + n + 1, `Line ${n}`, n, { commentAnchor: place }),
      ];
      this.server['putActivities'](this.#repository, this.numberOfPull(n), activities.toReversed());
    }
  }

  /**
   * @param {string} namespace
   * @param {string} name
   * @returns {[path: string, parameters: object]}
   */
  request(namespace, name) {
    const { token, url, username } = this.host;
    const credential = { repohost_server_username: username, personal_access_token: token };
    const named = { repohost_server_project: this.server['key'], repohost_server_repo: NAME, new_name: name };
    return [
      '/import/repohost_server',
      { repohost_server_url: url, ...credential, ...named, target_namespace: namespace },
    ];
  }
}

class CloudImportUpstream extends BaseImportUpstream {
  hasStats = false;
  importType = 'repohost';
  /** @type {HostedObject} */
  #repository = {};

  /** @param {HostedObject & { host: Host }} cloud */
  constructor(cloud) {
    super(cloud.host);
    this.cloud = cloud;
  }

  static async start() {
    /** @type {{ RepohostCloud: { start(): Promise<HostedObject & { host: Host }> } }} */
    const { RepohostCloud } = load('../../../libs/testing/dist/upstream/repohost-cloud.js');
    return new CloudImportUpstream(await RepohostCloud.start());
  }

  get env() {
    return { ...super.env, IMPORT_REPOHOST_API_URL: this.cloud['apiUrl'] };
  }

  async add() {
    this.#repository = await this.cloud['add'](NAME);
    return this.bare(`${this.#repository['full_name']}.git`);
  }

  /**
   * The service has no refs for heads, but their branches.
   * @param {number} n
   */
  headOf(n) {
    return `refs/heads/topic-${n}`;
  }

  /**
   * Issues and pull requests are numbered independently of each other.
   * @param {number} n
   */
  numberOfPull(n) {
    return n + 1;
  }

  /** @param {History} history */
  fill({ base, heads }) {
    /** @type {(list: string, objects: object[]) => void} */
    const put = (list, objects) => this.cloud['put'](this.#repository, list, objects);
    const repository = { full_name: this.#repository['full_name'] };
    /** @param {number} n */
    const person = (n) => ({
      uuid: `{${n % PEOPLE}}`,
      nickname: upstreamPersonOf(n).login,
      display_name: upstreamPersonOf(n).login,
    });
    /** @param {number} n */
    const instants = (n) => ({
      created_on: upstreamTimestampsOf(n).created_at,
      updated_on: upstreamTimestampsOf(n).updated_at,
    });
    /** @type {(id: number, text: string, n: number, more?: object) => object} */
    const commentOf = (id, raw, n, more = {}) => ({ id, content: { raw }, user: person(n), ...instants(n), ...more });
    /** @param {number} n */
    const issueOf = (n) => ({
      ...{ id: n + 1, title: `Issue ${n}`, content: { raw: `Text ${n}` }, state: 'open', reporter: person(n) },
      ...instants(n),
    });
    /** @type {(name: string, commit: string | undefined) => object} */
    const side = (name, commit) => ({ branch: { name }, commit: { hash: commit?.slice(0, 12) }, repository });
    /** @param {number} n */
    const pullOf = (n) => ({
      ...{ id: this.numberOfPull(n), title: `Pull ${n}`, description: `Text ${n}`, state: 'OPEN', author: person(n) },
      ...{ source: side(`topic-${n}`, heads[n]), destination: side('main', base) },
      ...{ reviewers: [], ...instants(n) },
    });
    put('issues', range(ISSUES).map(issueOf));
    put('pullrequests', range(PULLS).map(pullOf));
    for (const n of range(ISSUES)) {
      const comments = range(COMMENTS / ISSUES).map((k) => n + k * ISSUES);
      put(
        `issues/${n + 1}/comments`,
        comments.map((k) => commentOf(k + 1, `Comment ${k}`, k)),
      );
    }
    for (const n of range(PULLS)) {
      const inline = { path: pullRequestFilePath(n), from: null, to: 1 };
      put(`pullrequests/${n + 1}/comments`, [commentOf(COMMENTS + n + 1, `Line ${n}`, n, { inline })]);
    }
  }

  /**
   * @param {string} namespace
   * @param {string} name
   * @returns {[path: string, parameters: object]}
   */
  request(namespace, name) {
    const { token, username } = this.host;
    const named = { repo_path: this.#repository['full_name'], target_namespace: namespace, new_name: name };
    return ['/import/repohost', { cloudrepo_username: username, cloudrepo_app_password: token, ...named }];
  }
}

/**
 * The credential in the header of HTTP Basic authentication.
 * @param {string} text
 */
function toBasicCredential(text) {
  return Buffer.from(text).toString('base64').replace(/=+$/, '');
}

/** Hosts by their kinds. */
export const UPSTREAMS = { remote: RemoteImportUpstream, server: ServerImportUpstream, cloud: CloudImportUpstream };

/**
 * @param {string} kind
 * @param {number} n
 */
function textsAndAuthorOf(kind, n) {
  return { title: `${kind} ${n}`, body: `Text ${n}`, user: upstreamPersonOf(n) };
}

/** @param {number} n */
export function upstreamPersonOf(n) {
  return { id: (n % PEOPLE) + 1, login: `bird-${n % PEOPLE}` };
}

/** @param {number} n */
export function upstreamTimestampsOf(n) {
  const time = new Date(FROM + n * 60_000).toISOString();
  return { created_at: time, updated_at: time };
}

/**
 * File that a pull request adds, with one line.
 * @param {number} n
 */
export function pullRequestFilePath(n) {
  return `pulls/${n}.txt`;
}

/** @param {number} count */
export function range(count) {
  return Array.from({ length: count }, (_, n) => n);
}
