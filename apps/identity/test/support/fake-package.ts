import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { INTERNAL_PATHS } from '@rookery/contracts';
import type { RunningJobAnswer, RunningJobRequest } from '@rookery/contracts';
import { internalAuthorization } from '@rookery/testing';

/** Package's route for running jobs over real HTTP. It records questions and can fail. */
export class FakePackage {
  readonly asked: RunningJobRequest[] = [];
  job: RunningJobAnswer['job'] = null;
  isAway = false;
  private server: Server | undefined;

  get url(): string {
    return `http://127.0.0.1:${(this.server!.address() as AddressInfo).port}`;
  }

  async start(): Promise<this> {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const isOurs = request.headers.authorization === internalAuthorization('identity', 'package');
        const isKnown = request.method === 'POST' && request.url === INTERNAL_PATHS.runningJob;
        if (!isOurs || !isKnown || this.isAway) return response.writeHead(this.isAway ? 503 : 404).end();
        this.asked.push(JSON.parse(Buffer.concat(chunks).toString()) as RunningJobRequest);
        response.end(JSON.stringify({ job: this.job }));
      });
    });
    await new Promise<void>((resolve) => this.server!.listen(0, '127.0.0.1', resolve));
    return this;
  }

  async stop(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise((resolve) => this.server?.close(resolve));
  }
}
