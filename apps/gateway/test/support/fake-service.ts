import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import type { ContextClaims } from '@rookery/contracts';
import { parseContextKeys, verifyContext } from '@rookery/platform';
import { unusedPort } from '@rookery/testing';

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly claims: ContextClaims;
  readonly length: number;
}
type Behaviour = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * A service over real HTTP: checks the signed context as a service does, records requests, and answers as configured.
 */
export class FakeService {
  readonly seen: Seen[] = [];
  /** Paths of requests that ended before they were answered. */
  private readonly aborted: string[] = [];
  private readonly behaviours = new Map<string, Behaviour>();
  private server: Server | undefined;
  private port = 0;

  constructor(
    private readonly name: string,
    private readonly keys: string,
  ) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get last(): Seen {
    return this.seen.at(-1) as Seen;
  }

  async start(): Promise<this> {
    const server = createServer({ maxHeaderSize: 64 * 1024 }, (request, response) =>
      this.answerRequest(request, response),
    );
    this.server = server;
    this.port ||= await unusedPort();
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    return this;
  }

  async stop(): Promise<void> {
    const server = this.server;
    if (!server) return;
    this.server = undefined;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  /** How many requests of this path ended before they were answered. */
  abortsOf(path: string): number {
    return this.aborted.filter((one) => one === path).length;
  }

  /** Sets the behaviour of a path. `path` has no query. */
  on(path: string, behaviour: Behaviour): void {
    this.behaviours.set(path, behaviour);
  }

  private answerRequest(request: IncomingMessage, response: ServerResponse): void {
    if (request.url === '/-/health/ready') {
      response.end();
      return;
    }
    const claims = verifyContext(
      String(request.headers['x-rookery-context']),
      { audience: this.name, method: request.method ?? '', rawUrl: request.url ?? '', now: Date.now() },
      parseContextKeys(this.keys),
    );
    const path = (request.url ?? '').split('?')[0] ?? '';
    let length = 0;
    request.on('data', (chunk: Buffer) => (length += chunk.length));
    const note = (): void => {
      const { method = '', url = '', headers } = request;
      this.seen.push({ method, url, headers, claims, length });
    };
    response.on('close', () => {
      if (!response.writableFinished) this.aborted.push(path);
    });
    const behaviour = this.behaviours.get(path);
    if (behaviour) {
      request.on('end', note);
      behaviour(request, response);
      return;
    }
    request.on('end', () => {
      note();
      const body = JSON.stringify({ service: this.name, url: request.url });
      response
        .writeHead(200, {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'x-total': '1',
          'x-rookery-secret': 'inside',
          server: 'inside',
        })
        .end(body);
    });
  }
}
