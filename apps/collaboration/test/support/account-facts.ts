import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { INTERNAL_PATHS } from '@rookery/contracts';
import type {
  AccountMailFacts,
  AccountMailRequest,
  NotificationEmailAnswer,
  NotificationEmailRequest,
} from '@rookery/contracts';
import { internalAuthorization, unusedPort } from '@rookery/testing';

/**
 * Stand-in for identity's routes about account e-mails and addresses, over real HTTP. `answer` returns null for an
 * e-mail that is no longer due. A question that it does not know makes it refuse the whole request with 400.
 */
export class AccountFacts {
  readonly questions: AccountMailRequest[] = [];
  answer: (question: AccountMailRequest) => AccountMailFacts | null = () => null;
  isKnown: (question: AccountMailRequest) => boolean = () => true;
  choose: (question: NotificationEmailRequest) => NotificationEmailAnswer = () => {
    throw new Error('no address was expected to be chosen');
  };
  private server: Server | undefined;

  get url(): string {
    return `http://127.0.0.1:${(this.server!.address() as AddressInfo).port}`;
  }

  async listen(port = 0): Promise<void> {
    const server = createServer((request, response) => void this.serve(request, response));
    this.server = server;
    const at = port || (await unusedPort());
    await new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  }

  async close(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise((resolve) => this.server?.close(resolve));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const isKnown = request.url === INTERNAL_PATHS.accountMails || request.url === INTERNAL_PATHS.notificationEmail;
    if (!isKnown || request.method !== 'POST') return void response.writeHead(404).end();
    const ours = internalAuthorization('collaboration', 'identity');
    if (request.headers.authorization !== ours) return void response.writeHead(401).end();
    const body = JSON.parse(Buffer.concat(chunks).toString()) as never;
    if (!this.isKnownBatch(body)) return void response.writeHead(400).end();
    const answer = request.url === INTERNAL_PATHS.accountMails ? this.answerAccountMails(body) : this.choose(body);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer));
  }

  private isKnownBatch({ mails = [] }: { mails?: AccountMailRequest[] }): boolean {
    return mails.every((question) => this.isKnown(question));
  }

  private answerAccountMails({ mails }: { mails: AccountMailRequest[] }) {
    this.questions.push(...mails);
    return { mails: mails.map((question) => this.answer(question)) };
  }
}
