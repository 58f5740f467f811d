import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type {
  DirectoryChange,
  DirectoryChangesAnswer,
  ListedWebSession,
  ResolveSudoAnswer,
  ResolveTokenAnswer,
  ResolveTokenRequest,
  TokenHolder,
} from '@rookery/contracts';
import { internalAuthorization, unusedPort } from '@rookery/testing';

type TokenOutcome = Omit<Extract<ResolveTokenAnswer, { outcome: string }>, 'version' | 'epoch'>;
interface WaitingPoll {
  readonly after: number;
  readonly response: ServerResponse;
  readonly timer: NodeJS.Timeout;
}

export function aHolder(over: Partial<TokenHolder> = {}): TokenHolder {
  return {
    user_id: 7,
    username: 'mina',
    admin: false,
    external: false,
    bot: false,
    token_id: 70,
    scopes: ['api'],
    impersonator_id: null,
    expires_at: null,
    ...over,
  };
}

/** Identity's internal API over real HTTP: tokens, users for sudo, and the change log with long-poll. */
export class FakeIdentity {
  version = 100;
  epoch = 'e1';
  readonly asked: ResolveTokenRequest[] = [];
  readonly webSessions = new Map<string, Pick<ListedWebSession, 'id' | 'ip' | 'user_agent'>>();
  /** Whether tokens have the scopes that the list of sessions needs. */
  areSessionsOpen = true;
  readonly sudoUsers = new Map<string, NonNullable<ResolveSudoAnswer['user']>>();
  /** Units: milliseconds that each token check takes. */
  slowness = 0;
  /** Token checks are answered once this resolves. */
  gate: Promise<void> = Promise.resolve();
  /** Resolutions of sudo are answered once this resolves. */
  sudoGate: Promise<void> = Promise.resolve();
  /** Whether pushes are held back. */
  isSilent = false;
  private readonly tokens = new Map<string, TokenOutcome>();
  private readonly log: DirectoryChange[] = [];
  private readonly polls = new Set<WaitingPoll>();
  private server: Server | undefined;
  private port = 0;

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(): Promise<this> {
    const server = createServer((request, response) => void this.answerRequest(request, response));
    this.server = server;
    this.port ||= await unusedPort();
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    return this;
  }

  async stop(): Promise<void> {
    const server = this.server;
    if (!server) return;
    this.server = undefined;
    for (const poll of this.polls) clearTimeout(poll.timer);
    this.polls.clear();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  give(token: string, holder: TokenHolder = aHolder()): void {
    this.tokens.set(digestOf(token), { outcome: 'valid', holder } as TokenOutcome);
  }

  /** Forgets a token without a push, as at the end of a job. */
  take(token: string): void {
    this.tokens.delete(digestOf(token));
  }

  /** Changes the outcome of a token check, and logs the change. */
  change(token: string, outcome: TokenOutcome, id: number): void {
    this.tokens.set(digestOf(token), outcome);
    this.push('token', id);
  }

  push(kind: DirectoryChange['kind'], id: number): void {
    this.version += 1;
    this.log.push({ version: this.version, kind, id, state: null });
    for (const poll of [...this.polls]) this.answerPoll(poll);
  }

  private answerPoll(poll: WaitingPoll): void {
    if (this.isSilent) return;
    clearTimeout(poll.timer);
    this.polls.delete(poll);
    const answer: DirectoryChangesAnswer = {
      epoch: this.epoch,
      head: this.version,
      upTo: this.version,
      compactedTo: 0,
      changes: this.log.filter((change) => change.version > poll.after),
    };
    sendJson(poll.response, 200, answer);
  }

  /** Keeps sessions of one user in memory. */
  private answerWebSession({ pathname }: URL, body: Record<string, unknown>): object {
    const id = String(body['id']);
    if (pathname.endsWith('/start')) {
      this.webSessions.set(id, { id, ip: String(body['ip']), user_agent: String(body['user_agent']) });
      return { is_started: true };
    }
    if (pathname.endsWith('/check')) return { is_live: this.webSessions.has(id) };
    if (pathname.endsWith('/end')) {
      const isPermitted = this.areSessionsOpen || id === body['ended_id'];
      if (isPermitted) this.webSessions.delete(String(body['ended_id']));
      return { is_permitted: isPermitted };
    }
    if (!this.areSessionsOpen) return { sessions: null };
    const at = '2026-11-29T10:00:00.000Z';
    const facts = { token_name: 'laptop', created_at: at, last_seen_at: at };
    return { sessions: [...this.webSessions.values()].map((one) => ({ ...one, ...facts, is_current: one.id === id })) };
  }

  private async answerRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.headers.authorization !== internalAuthorization('gateway', 'identity'))
      return sendJson(response, 401, {});
    const url = new URL(request.url ?? '/', 'http://identity');
    if (url.pathname === '/internal/directory/changes') return this.holdPoll(url, response);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
    if (url.pathname === '/internal/users/resolve-sudo') {
      await this.sudoGate;
      return sendJson(response, 200, { user: this.sudoUsers.get(String(body['ref']).toLowerCase()) ?? null });
    }
    if (url.pathname.startsWith('/internal/web-sessions/'))
      return sendJson(response, 200, this.answerWebSession(url, body));
    const question = body as unknown as ResolveTokenRequest;
    this.asked.push(question);
    const outcome =
      question.digest === null
        ? { outcome: 'anonymous' }
        : (this.tokens.get(question.digest) ?? { outcome: 'unknown' as const });
    const answer = { ...outcome, version: this.version, epoch: this.epoch };
    await this.gate;
    if (this.slowness > 0) await new Promise((resolve) => setTimeout(resolve, this.slowness).unref());
    if (!response.destroyed) sendJson(response, 200, answer);
  }

  private holdPoll(url: URL, response: ServerResponse): void {
    const after = Number(url.searchParams.get('after'));
    const timer = setTimeout(() => this.answerPoll(poll), Number(url.searchParams.get('wait_ms'))).unref();
    const poll: WaitingPoll = { after, response, timer };
    this.polls.add(poll);
    response.on('close', () => {
      clearTimeout(timer);
      this.polls.delete(poll);
    });
    if (this.version > after || url.searchParams.get('epoch') !== this.epoch) this.answerPoll(poll);
  }

  get isFollowed(): boolean {
    return this.polls.size > 0;
  }

  get followers(): number {
    return this.polls.size;
  }
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
