import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { INTERNAL_PATHS } from '@rookery/contracts';
import { internalAuthorization } from '@rookery/testing';
import type {
  DecideAnswer,
  DecideRequest,
  DirectoryChange,
  DirectoryChangesAnswer,
  DirectoryHeadAnswer,
} from '@rookery/contracts';

/** HTTP server with identity's routes for the directory. Tests control its log, its delays and its outages. */
export class IdentityServer {
  epoch = 'first';
  life = 'a';
  /** Facts that copies reported about themselves, the newest last. */
  readonly reports: { readonly life: string; readonly reader: string; readonly seen: Record<string, number> }[] = [];
  compactedTo = 0;
  log: DirectoryChange[] = [];
  /** While true, nothing is answered and connections stay open. */
  isAsleep = false;
  /** Holds polls that may wait until something is new, without a time limit. */
  holdsPolls = false;
  /** Time for which the last poll may be held. Units: ms. */
  lastWaitMs = 0;
  /** Last version that polls see. */
  shownUpTo = Infinity;
  decision: Partial<DecideAnswer> | null = null;
  /** Resolves before a decision is answered. */
  thinksUntil: Promise<unknown> = Promise.resolve();
  readonly questions: DecideRequest[] = [];
  polls = 0;
  /** Number of questions for the current position. */
  heads = 0;
  largestPage = Infinity;
  private server: Server | undefined;
  private readonly waiting = new Set<() => void>();

  get url(): string {
    return `http://127.0.0.1:${(this.server?.address() as AddressInfo).port}`;
  }

  get head(): number {
    return Math.min(this.log.at(-1)?.version ?? 0, this.shownUpTo);
  }

  async listen(port = 0): Promise<void> {
    const server = createServer((request, response) => void this.serve(request, response));
    this.server = server;
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  }

  async close(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise((resolve) => this.server?.close(resolve));
  }

  /** Appends one version. */
  commit(
    ...entries: readonly (readonly [kind: DirectoryChange['kind'], state: { id: number }, gone?: 'gone'])[]
  ): number {
    const version = (this.log.at(-1)?.version ?? 0) + 1;
    for (const [kind, state, gone] of entries) {
      this.log.push({ version, kind, id: state.id, state: gone ? null : { ...state } });
    }
    this.wake();
    return version;
  }

  wake(): void {
    for (const wake of [...this.waiting]) wake();
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.headers.authorization !== internalAuthorization('collaboration', 'identity'))
      return void response.writeHead(401).end();
    if (this.isAsleep) return;
    const url = new URL(request.url ?? '/', 'http://identity');
    const body = await this.answerTo(url, request);
    // The outage may have begun meanwhile.
    if (this.isAsleep) return;
    if (body === null) return void response.writeHead(503).end();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  private answerTo(
    url: URL,
    request: IncomingMessage,
  ): DirectoryHeadAnswer | Promise<DecideAnswer | DirectoryChangesAnswer | null> {
    if (url.pathname === INTERNAL_PATHS.decide) return this.answerDecide(request);
    if (url.pathname !== INTERNAL_PATHS.directoryHead) return this.answerChanges(url);
    this.heads += 1;
    return { version: this.log.at(-1)?.version ?? 0, epoch: this.epoch };
  }

  private async answerDecide(request: IncomingMessage): Promise<DecideAnswer | null> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    this.questions.push(JSON.parse(Buffer.concat(chunks).toString()) as DecideRequest);
    if (this.decision === null) return null;
    await this.thinksUntil;
    const version = this.log.at(-1)?.version ?? 0;
    return { version, epoch: this.epoch, project: null, namespace: null, access_level: 0, ...this.decision };
  }

  private async answerChanges(url: URL): Promise<DirectoryChangesAnswer> {
    this.polls += 1;
    const number = (name: string): number => Number(url.searchParams.get(name));
    const text = (name: string): string => url.searchParams.get(name) ?? '';
    const seen = JSON.parse(text('seen')) as Record<string, number>;
    this.reports.push({ life: text('life'), reader: text('reader'), seen });
    const isOther = url.searchParams.get('epoch') !== this.epoch;
    const after = isOther ? 0 : number('after');
    const waitMs = (this.lastWaitMs = number('wait_ms'));
    const isHeld = this.holdsPolls && waitMs > 0;
    if (!isOther && this.head <= after) await this.waitForChange(isHeld ? 2 ** 30 : waitMs);
    const limit = Math.min(number('limit'), this.largestPage);
    const behind = this.log.filter((change) => change.version > after && change.version <= this.head);
    const upTo = behind[limit - 1]?.version ?? this.head;
    const changes = behind.filter((change) => change.version <= upTo);
    return { epoch: this.epoch, life: this.life, head: this.head, upTo, compactedTo: this.compactedTo, changes };
  }

  private waitForChange(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, withinMs).unref();
      this.waiting.add(done);
    });
  }
}
