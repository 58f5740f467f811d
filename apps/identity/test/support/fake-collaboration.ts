import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RepositoryFacts, RepositoryFactsRequest } from '@rookery/contracts';
import { INTERNAL_PATHS } from '@rookery/contracts';
import { internalAuthorization } from '@rookery/testing';

/** Collaboration's endpoint for badges over real HTTP. It records requests and can stop answering. */
export class FakeCollaboration {
  readonly asked: number[][] = [];
  readonly facts = new Map<number, Partial<RepositoryFacts>>();
  isSilent = false;
  private server: Server | undefined;

  get url(): string {
    return `http://127.0.0.1:${(this.server!.address() as AddressInfo).port}`;
  }

  async start(): Promise<this> {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const isOurs = request.headers.authorization === internalAuthorization('identity', 'collaboration');
        const isKnown = request.method === 'POST' && request.url === INTERNAL_PATHS.repositoryFacts;
        if (!isOurs || !isKnown) return response.writeHead(404).end();
        const { project_ids } = JSON.parse(Buffer.concat(chunks).toString()) as RepositoryFactsRequest;
        this.asked.push([...project_ids]);
        if (!this.isSilent)
          response.end(JSON.stringify({ projects: project_ids.flatMap((id) => this.findKnownFacts(id)) }));
      });
    });
    await new Promise<void>((resolve) => this.server!.listen(0, '127.0.0.1', resolve));
    return this;
  }

  async stop(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise((resolve) => this.server?.close(resolve));
  }

  private findKnownFacts(id: number): RepositoryFacts[] {
    const facts = this.facts.get(id);
    return facts ? [{ project_id: id, default_branch: null, commit_sha: null, latest_tag: null, ...facts }] : [];
  }
}
