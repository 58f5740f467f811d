import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { GitClient } from '../git-client';
import { serveGit } from './git-backend';

/** Fields of a repository as the API of the host shows them. Units: `size` in KiB. */
export interface HostedRepository {
  readonly id: number;
  readonly name: string;
  readonly full_name: string;
  readonly private: boolean;
  readonly description: string | null;
  readonly html_url: string;
  readonly clone_url: string;
  readonly default_branch: string;
  readonly has_wiki: boolean;
  readonly size: number;
}

/** A request that the host received. */
export interface SeenRequest {
  readonly path: string;
  readonly query: string;
  readonly authorization: string | undefined;
}

/** Lists of a repository below its address in the API. */
export type HostedList =
  | 'releases'
  | `issues/${number}/comments`
  | `issues/${number}/timeline`
  | `pulls/${number}/comments`
  | 'branches'
  | 'labels'
  | 'milestones'
  | 'issues'
  | 'pulls'
  | 'pulls/comments'
  | 'issues/comments'
  | `pulls/${number}/reviews`;
type HostedObject = Readonly<Record<string, unknown>>;

/** A gist. `files` are contents by name. */
export interface HostedGist {
  readonly id: string;
  readonly public: boolean;
  readonly description: string | null;
  readonly created_at: string;
  readonly updated_at?: string;
  readonly files: Readonly<Record<string, string>>;
}

/** A file that texts link to. `location` is the address that the host redirects to. */
export interface HostedFile {
  readonly type: string;
  readonly content: Buffer;
  readonly location?: string;
}

/** Longest file in the answer with a gist. Units: characters. */
const MAX_CONTENT = 100;

/** Returns false to leave the answer to the host. */
type AnswerHook = (request: IncomingMessage, response: ServerResponse) => boolean | void;

const OWNER = 'wren';
const RESET_SECONDS = 3600;

/**
 * A host that projects are imported from: its REST API v3 and git over HTTP on one port. Source: reference
 * identity-and-import 6.9.
 */
export class RemoteHost {
  /** The accepted credential. */
  readonly token = 'upstream-s3cret-canary';
  readonly seen: SeenRequest[] = [];
  /** Answers requests instead of the host, until it is null again. */
  answer: AnswerHook | null = null;
  /** Runs before the host answers. */
  beforeAnswer: () => Promise<void> = async () => undefined;
  private readonly repositories = new Map<number, HostedRepository>();
  /** Objects by list. Null marks a list that the repository does not use. */
  private readonly lists = new Map<string, readonly HostedObject[] | null>();
  /** Gists of the user, with the contents of their files. */
  gists: readonly HostedGist[] = [];
  /** Files by their paths, such as `/user-attachments/assets/1`. They need the credential. */
  readonly files = new Map<string, HostedFile>();
  private readonly server: Server;

  private constructor(readonly git: GitClient) {
    this.server = createServer((request, response) => {
      this.answerRequest(request, response).catch(() => response.destroy());
    });
  }

  /** Starts the host on this port, or on a free one if `port` is 0. */
  static async start(port = 0): Promise<RemoteHost> {
    const host = new RemoteHost(await GitClient.make());
    await new Promise<void>((listening) => host.server.listen(port, '127.0.0.1', listening));
    return host;
  }

  /** `host:port`, as `EGRESS_ALLOW` lists it. */
  get address(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `http://${this.address}`;
  }

  /** Adds a repository with one commit on `main`. Its working copy is the folder `name` of `git`. */
  async add(name: string, over: Partial<HostedRepository> = {}): Promise<HostedRepository> {
    const id = this.repositories.size + 7001;
    await this.git.ok('.', 'init', '--quiet', '--bare', '--initial-branch=main', `${OWNER}/${name}.git`);
    await this.git.init(name, join(this.git.folder, OWNER, `${name}.git`));
    await this.git.ok(name, 'push', '--quiet', 'origin', 'main');
    const repository: HostedRepository = {
      ...{ id, name, full_name: `${OWNER}/${name}`, private: true, description: `About ${name}` },
      ...{ html_url: `${this.url}/${OWNER}/${name}`, clone_url: `${this.url}/${OWNER}/${name}.git` },
      ...{ default_branch: 'main', has_wiki: false, size: 12 },
      ...over,
    };
    this.repositories.set(id, repository);
    return repository;
  }

  /** Sets the objects of a list. Null switches the list off. */
  put({ full_name: name }: HostedRepository, list: HostedList, objects: readonly HostedObject[] | null): void {
    this.lists.set(`${name}/${list}`, objects);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
    await this.git.close();
  }

  private async answerRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname: path, searchParams: query } = new URL(request.url!, 'http://x');
    const { authorization } = request.headers;
    this.seen.push({ path, query: query.toString(), authorization });
    await this.beforeAnswer();
    if (this.answer && this.answer(request, response) !== false) return;
    const raw = /^\/raw\/([^/]+)\/(.+)$/.exec(path);
    if (raw) {
      const found = this.gists.find(({ id }) => id === raw[1])?.files[decodeURIComponent(raw[2]!)];
      return void response.writeHead(found === undefined ? 404 : 200).end(found ?? '');
    }
    const file = this.files.get(path);
    if (file) return serveFile(file, authorization === `Bearer ${this.token}`, response);
    if (path.startsWith('/api/v3/')) return this.serveApi({ path, query, authorization }, response);
    const basic = `Basic ${Buffer.from(`${this.token}:x-oauth-basic`).toString('base64')}`;
    if (authorization !== basic) {
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="remote"' }).end();
    }
    await serveGit(request, response, { root: this.git.folder, path });
  }

  private serveApi({ path, query, authorization }: ApiRequest, response: ServerResponse): void {
    if (authorization === undefined) return sendJsonWithRateLimits(response, 404, { message: 'Not Found' });
    if (![`Bearer ${this.token}`, `token ${this.token}`].includes(authorization)) {
      return sendJsonWithRateLimits(response, 401, {
        message: 'Bad credentials',
        documentation_url: `${this.url}/docs`,
      });
    }
    if (path === '/api/v3/user') return sendJsonWithRateLimits(response, 200, { id: 1, login: OWNER });
    const gists = this.gists.map((gist) => this.toListedGist(gist));
    if (path === '/api/v3/gists') return this.serveList(path, query, gists, response);
    const gist = /^\/api\/v3\/gists\/(.+)$/.exec(path)?.[1];
    if (gist !== undefined) return this.serveGist(gist, response);
    const list = /^\/api\/v3\/repos\/(.+)$/.exec(path)?.[1];
    const pull = /^(.+\/pulls)\/(\d+)$/.exec(list ?? '');
    if (pull) return this.serveFoundObject(pull[1]!, ({ number }) => number === Number(pull[2]), response);
    const branch = /^(.+\/branches)\/([^/]+)\/protection$/.exec(list ?? '');
    const named = decodeURIComponent(branch?.[2] ?? '');
    if (branch)
      return this.serveFoundObject(branch[1]!, (one) => one['name'] === named && !!one['protection'], response);
    if (list !== undefined)
      return this.serveList(path, query, this.lists.get(list) ?? this.defaultListOf(list), response);
    const id = /^\/api\/v3\/repositories\/(\d+)$/.exec(path)?.[1];
    const found = id === undefined ? undefined : this.repositories.get(Number(id));
    sendJsonWithRateLimits(response, found ? 200 : 404, found ?? { message: 'Not Found' });
  }

  /** Lists show where the files of gists are, but no contents. */
  private toListedGist({ id, files, ...gist }: HostedGist): HostedObject {
    const shown = Object.entries(files).map(([filename, content]) => {
      const raw_url = `${this.url}/raw/${id}/${encodeURIComponent(filename)}`;
      return [filename, { filename, raw_url, size: Buffer.byteLength(content) }];
    });
    return { id, ...gist, files: Object.fromEntries(shown) as object };
  }

  /** Long files are cut. */
  private serveGist(id: string, response: ServerResponse): void {
    const gist = this.gists.find((one) => one.id === id);
    if (!gist) return sendJsonWithRateLimits(response, 404, { message: 'Not Found' });
    const { files, ...shown } = this.toListedGist(gist);
    const whole = Object.entries(files as Record<string, object>).map(([name, file]) => {
      const content = gist.files[name]!;
      return [name, { ...file, content: content.slice(0, MAX_CONTENT), truncated: content.length > MAX_CONTENT }];
    });
    sendJsonWithRateLimits(response, 200, { ...shown, files: Object.fromEntries(whole) as object });
  }

  /** Serves one object with the fields that lists omit. For a branch, serves only its protection. */
  private serveFoundObject(list: string, isWanted: (object: HostedObject) => boolean, response: ServerResponse): void {
    const found = this.lists.get(list)?.find((one) => isWanted(one));
    sendJsonWithRateLimits(
      response,
      found ? 200 : 404,
      (found?.['protection'] as object | undefined) ?? found ?? { message: 'Not Found' },
    );
  }

  /** Returns undefined if no repository has the list, and null if it is switched off. */
  private defaultListOf(list: string): readonly HostedObject[] | null | undefined {
    if (this.lists.has(list)) return null;
    const isKnown = [...this.repositories.values()].some(({ full_name: name }) => list.startsWith(`${name}/`));
    return isKnown ? [] : undefined;
  }

  private serveList(
    path: string,
    query: URLSearchParams,
    objects: readonly HostedObject[] | null | undefined,
    response: ServerResponse,
  ): void {
    if (objects === undefined) return sendJsonWithRateLimits(response, 404, { message: 'Not Found' });
    if (objects === null)
      return sendJsonWithRateLimits(response, 410, { message: 'Issues has been disabled in this repository.' });
    const size = Number(query.get('per_page') ?? PAGE_SIZE);
    const page = Number(query.get('page') ?? 1);
    const next = new URLSearchParams(query);
    next.set('page', String(page + 1));
    const link = { link: `<${this.url}${path}?${next.toString()}>; rel="next"` };
    // Lists omit the user who merged a pull request, and the protection of a branch.
    const shown = objects
      .slice((page - 1) * size, page * size)
      .map(({ merged_by: _, protection: __, ...fields }) => fields);
    sendJsonWithRateLimits(response, 200, shown, page * size < objects.length ? link : {});
  }
}

function serveFile({ type, content, location }: HostedFile, isAllowed: boolean, response: ServerResponse): void {
  if (!isAllowed) return sendJsonWithRateLimits(response, 404, { message: 'Not Found' });
  if (location === undefined) response.writeHead(200, { 'content-type': type }).end(content);
  else response.writeHead(302, { location }).end();
}

interface ApiRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly authorization: string | undefined;
}

const PAGE_SIZE = 30;

function sendJsonWithRateLimits(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  const reset = String(Math.ceil(Date.now() / 1000) + RESET_SECONDS);
  const limits = { 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': '4999', 'x-ratelimit-reset': reset };
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...limits, ...headers });
  response.end(JSON.stringify(body));
}
