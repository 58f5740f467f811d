import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { openAdvertisement, receivePack, uploadPack } from '../../src/transport/pack-services';
import type { PackService } from '../../src/transport/pack-services';
import type { PushChecks, PushHooks } from '../../src/transport/push-hooks';
import type { Repository } from '../../src/repository/repository';

/** Bare server of one repository, as a service would be without permissions. */
export class SmartHttp {
  private readonly server: Server;
  readonly failures: unknown[] = [];
  authorization: string | null = null;
  redirectTo: string | null = null;
  requests = 0;

  constructor(
    private readonly repository: Repository,
    private readonly hooks?: PushHooks,
    public checks: PushChecks = { beforeUpdate: async () => null },
  ) {
    this.server = createServer((request, response) => {
      this.requests += 1;
      this.serve(request, response).catch((error: unknown) => {
        this.failures.push(error);
        response.destroy();
      });
    });
  }

  async start(): Promise<this> {
    await new Promise<void>((done) => this.server.listen(0, '127.0.0.1', done));
    return this;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/p.git`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, 'http://x');
    if (this.redirectTo) return void response.writeHead(302, { location: this.redirectTo + request.url }).end();
    if (this.authorization && request.headers.authorization !== this.authorization) {
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end('No.');
    }
    const gone = new AbortController();
    response.once('close', () => gone.abort(new Error('gone')));
    const protocol = request.headers['git-protocol'] as string | undefined;
    const service = (url.searchParams.get('service') ?? url.pathname.split('/').at(-1)) as PackService;
    if (url.pathname.endsWith('/info/refs')) {
      const running = await openAdvertisement(this.repository, service, { protocol, signal: gone.signal });
      response.writeHead(200, { 'content-type': `application/x-${service}-advertisement` });
      response.write(running.preamble);
      await pipeline(running.stdout, response);
      return;
    }
    const input = request.headers['content-encoding'] === 'gzip' ? request.pipe(createGunzip()) : request;
    response.writeHead(200, { 'content-type': `application/x-${service}-result` });
    if (service === 'git-upload-pack') {
      const running = await uploadPack(this.repository, { input, protocol, signal: gone.signal });
      await pipeline(running.stdout, response);
      return;
    }
    const ticket = this.hooks!.expectPush(this.repository, this.checks);
    try {
      const running = await receivePack(this.repository, { input, ticket, signal: gone.signal });
      await pipeline(running.stdout, response);
    } finally {
      ticket.close();
    }
  }
}
