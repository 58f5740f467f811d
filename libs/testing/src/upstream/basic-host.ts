import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { GitClient } from '../git-client';
import { serveGit } from './git-backend';

type AnswerHook = (request: IncomingMessage, response: ServerResponse) => boolean | void;

/** A request to the API of a host. */
export interface ApiCall {
  readonly path: string;
  readonly query: URLSearchParams;
}

interface BasicAuthHostOptions {
  /** Path that the API has below it. */
  readonly apiPath: string;
  /** Path that repositories have below it, such as `/scm`. */
  readonly gitPath: string;
  /** Body of the answer to a request with another credential. */
  readonly refusal: object;
  serve(call: ApiCall, response: ServerResponse): void;
}

/** Real HTTP and real git behind HTTP Basic authentication, for doubles of upstream hosts. */
export class BasicAuthHost {
  readonly username = 'wren';
  /** The accepted credential. */
  readonly token = 'repohost-s3cret-canary';
  readonly seen: { readonly path: string; readonly query: string; readonly authorization: string | undefined }[] = [];
  /** Answers requests instead of the host, until it is null again. It returns false to leave the answer to the host. */
  answer: AnswerHook | null = null;
  /** Runs before the host answers. */
  beforeAnswer: () => Promise<void> = async () => undefined;
  private readonly server: Server;

  private constructor(
    readonly git: GitClient,
    private readonly options: BasicAuthHostOptions,
  ) {
    this.server = createServer((request, response) => {
      this.answerRequest(request, response).catch(() => response.destroy());
    });
  }

  /** Starts the host on this port, or on a free one if `port` is 0. */
  static async start(options: BasicAuthHostOptions, port: number): Promise<BasicAuthHost> {
    const host = new BasicAuthHost(await GitClient.make(), options);
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

  /** Creates a bare repository with one commit on `main`. Its working copy is the folder `slug` of `git`. */
  async addRepository(owner: string, slug: string): Promise<void> {
    await this.git.ok('.', 'init', '--quiet', '--bare', '--initial-branch=main', `${owner}/${slug}.git`);
    await this.git.init(slug, join(this.git.folder, owner, `${slug}.git`));
    await this.git.ok(slug, 'push', '--quiet', 'origin', 'main');
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
    const { apiPath, gitPath, refusal } = this.options;
    if (authorization !== `Basic ${Buffer.from(`${this.username}:${this.token}`).toString('base64')}`) {
      response.setHeader('www-authenticate', 'Basic realm="repohost"');
      return sendJson(response, 401, refusal);
    }
    if (path.startsWith(`${apiPath}/`)) {
      return this.options.serve({ path: decodeURI(path.slice(apiPath.length)), query }, response);
    }
    await serveGit(request, response, { root: this.git.folder, path: path.slice(gitPath.length) });
  }
}

export function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
