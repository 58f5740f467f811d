import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { INTERNAL_PATHS } from '@rookery/contracts';
import type { ImportByUrlAnswer, ImportByUrlRequest, ImportRefusedRequest } from '@rookery/contracts';
import { internalAuthorization } from '@rookery/testing';

/** Import's route for imports by URL over real HTTP. It records questions and can fail. */
export class FakeImport {
  readonly asked: ImportByUrlRequest[] = [];
  readonly refused: ImportRefusedRequest[] = [];
  answer: ImportByUrlAnswer | null = null;
  /** Whether it does not answer that a project was refused. */
  isDeaf = false;
  private readonly server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const isOurs = request.headers.authorization === internalAuthorization('identity', 'import');
      if (isOurs && request.url === INTERNAL_PATHS.importRefused && !this.isDeaf) {
        this.refused.push(JSON.parse(Buffer.concat(chunks).toString()) as ImportRefusedRequest);
        return response.end('{}');
      }
      const isKnown = request.method === 'POST' && request.url === INTERNAL_PATHS.importByUrl;
      if (!isOurs || !isKnown || !this.answer) return response.writeHead(503).end();
      this.asked.push(JSON.parse(Buffer.concat(chunks).toString()) as ImportByUrlRequest);
      return response.end(JSON.stringify(this.answer));
    });
  });

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
