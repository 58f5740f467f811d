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
  readonly authorization: string | undefined;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

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
  answer: Answer | null = null;
  /** Runs before the host answers. */
  beforeAnswer: () => Promise<void> = async () => undefined;
  private readonly repositories = new Map<number, HostedRepository>();
  private readonly server: Server;

  private constructor(readonly git: GitClient) {
    this.server = createServer((request, response) => {
      this.serve(request, response).catch(() => response.destroy());
    });
  }

  /** Shape: `port` 0 is a free one. */
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

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
    await this.git.close();
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname: path } = new URL(request.url!, 'http://x');
    const { authorization } = request.headers;
    this.seen.push({ path, authorization });
    await this.beforeAnswer();
    if (this.answer) return this.answer(request, response);
    if (path.startsWith('/api/v3/')) return this.serveApi(path, authorization, response);
    const basic = `Basic ${Buffer.from(`${this.token}:x-oauth-basic`).toString('base64')}`;
    if (authorization !== basic) {
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="remote"' }).end();
    }
    await serveGit(request, response, { root: this.git.folder, path });
  }

  private serveApi(path: string, authorization: string | undefined, response: ServerResponse): void {
    if (authorization === undefined) return json(response, 404, { message: 'Not Found' });
    if (![`Bearer ${this.token}`, `token ${this.token}`].includes(authorization)) {
      return json(response, 401, { message: 'Bad credentials', documentation_url: `${this.url}/docs` });
    }
    const id = /^\/api\/v3\/repositories\/(\d+)$/.exec(path)?.[1];
    const found = id === undefined ? undefined : this.repositories.get(Number(id));
    json(response, found ? 200 : 404, found ?? { message: 'Not Found' });
  }
}

function json(response: ServerResponse, status: number, body: object): void {
  const reset = String(Math.ceil(Date.now() / 1000) + RESET_SECONDS);
  const limits = { 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': '4999', 'x-ratelimit-reset': reset };
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...limits });
  response.end(JSON.stringify(body));
}
