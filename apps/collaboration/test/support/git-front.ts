import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { contextRequestClaim, ContextSigningKeys } from '@rookery/platform';
import { CONTEXT_HEADER } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import { signViewerContext, recordTestedRoute } from '@rookery/testing';
import type { TestApp } from '@rookery/testing';
import { EndpointRoutes, templatesOf } from '@rookery/api-v4';

/** Entrance for stock git clients: signs requests as the gateway does. The password of a user is the key of a viewer. */
export class GitFront {
  private readonly server: Server;
  private readonly viewers = new Map<string, () => Viewer>();
  /** Requests so far, as method and path. */
  readonly requests: string[] = [];
  /** Answers pushes in place of the service. */
  receive: ((request: IncomingMessage, response: ServerResponse) => void) | null = null;

  constructor(
    private readonly app: TestApp,
    private readonly anonymous: () => Viewer,
  ) {
    this.server = createServer((request, response) => this.forward(request, response));
  }

  async start(): Promise<this> {
    await new Promise<void>((done) => this.server.listen(0, '127.0.0.1', done));
    return this;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  /** Accepts a password for a viewer. */
  accept(password: string, viewer: () => Viewer): void {
    this.viewers.set(password, viewer);
  }

  /** Returns the URL of a path. Without a password, the client is anonymous. */
  url(path: string, password?: string): string {
    const { port } = this.server.address() as AddressInfo;
    return `http://${password === undefined ? '' : `oauth2:${password}@`}127.0.0.1:${port}/${path}`;
  }

  private forward(request: IncomingMessage, response: ServerResponse): void {
    const { method = 'GET', url = '/', headers } = request;
    this.requests.push(`${method} ${url}`);
    const endpoint = this.app.get(EndpointRoutes).findEndpoint(method, url);
    if (endpoint !== null) recordTestedRoute({ method: endpoint.method, path: templatesOf(endpoint)[0]! });
    if (this.receive !== null && method === 'POST') return this.receive(request, response);
    const encoded = headers.authorization?.replace('Basic ', '');
    const password = encoded && Buffer.from(encoded, 'base64').toString().split(':')[1];
    const viewer = (password ? this.viewers.get(password)! : this.anonymous)();
    const signer = { service: 'collaboration', keys: this.app.get(ContextSigningKeys) };
    const { authorization: _, ...onward } = headers;
    const context = signViewerContext(signer, viewer, contextRequestClaim(method, url));
    const sent = httpRequest(`${this.app.baseUrl}${url}`, {
      method,
      headers: { ...onward, [CONTEXT_HEADER]: context },
    });
    sent.once('error', () => response.destroy());
    sent.once('response', (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
      answer.once('error', () => response.destroy());
    });
    response.once('close', () => sent.destroy());
    request.pipe(sent);
  }
}
