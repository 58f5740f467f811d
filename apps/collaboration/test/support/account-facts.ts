import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { INTERNAL_PATHS } from '@rookery/contracts';
import type { AccountMailFacts, AccountMailQuestion } from '@rookery/contracts';
import { internalAuthorization, quietPort } from '@rookery/testing';

/** What identity serves to the mailer, over real HTTP. Shape: `answer` null = nothing to tell any more. */
export class AccountFacts {
  readonly questions: AccountMailQuestion[] = [];
  answer: (question: AccountMailQuestion) => AccountMailFacts | null = () => null;
  private server: Server | undefined;

  get url(): string {
    return `http://127.0.0.1:${(this.server!.address() as AddressInfo).port}`;
  }

  async listen(port = 0): Promise<void> {
    const server = createServer((request, response) => void this.serve(request, response));
    this.server = server;
    const at = port || (await quietPort());
    await new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  }

  async close(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise((resolve) => this.server?.close(resolve));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const isKnown = request.url === INTERNAL_PATHS.accountMails && request.method === 'POST';
    if (!isKnown) return void response.writeHead(404).end();
    const ours = internalAuthorization('collaboration', 'identity');
    if (request.headers.authorization !== ours) return void response.writeHead(401).end();
    const { mails } = JSON.parse(Buffer.concat(chunks).toString()) as { mails: AccountMailQuestion[] };
    this.questions.push(...mails);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ mails: mails.map((question) => this.answer(question)) }));
  }
}
