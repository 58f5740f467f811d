import { INTERNAL_PATHS, INTERNAL_WAIT_HEADER } from '@rookery/contracts';
import type {
  CheckWebSessionAnswer,
  DirectoryChangesAnswer,
  EndWebSessionAnswer,
  ListedWebSession,
  ListWebSessionsAnswer,
  ResolveSudoAnswer,
  ResolveTokenAnswer,
  ResolveTokenRequest,
  StartWebSessionAnswer,
  StartWebSessionRequest,
} from '@rookery/contracts';
import { Unavailable } from '@rookery/kernel';
import { KEPT_IDLE_MS } from '@rookery/platform';
import type { Neighbours } from '@rookery/platform';
import type { Dispatcher } from 'undici';
import type { DirectoryMark } from '../request/caller';

const CONNECTIONS = 32;
const ATTEMPTS = 2;
/** Longest time to open a connection. Units: milliseconds. */
const CONNECT_MS = 5000;

/**
 * Client for identity's internal API. Units: `deadline` in epoch milliseconds, that of the request.
 * Errors: Unavailable when there is no good answer in time; at once when identity refuses connections.
 */
export class IdentityClient {
  private readonly connection: Dispatcher;
  private readonly headers: Readonly<Record<string, string>>;

  constructor(url: string, authorization: string, neighbours: Neighbours) {
    this.connection = neighbours.connect('identity', url, {
      connections: CONNECTIONS,
      connect: { timeout: CONNECT_MS },
      keepAliveMaxTimeout: KEPT_IDLE_MS,
    });
    this.headers = { authorization, 'content-type': 'application/json' };
  }

  resolveToken(question: ResolveTokenRequest, deadline: number): Promise<ResolveTokenAnswer> {
    return this.postWithRetry(INTERNAL_PATHS.resolveToken, question, deadline);
  }

  resolveSudo(ref: string, deadline: number): Promise<ResolveSudoAnswer> {
    return this.postWithRetry(INTERNAL_PATHS.resolveSudo, { ref }, deadline);
  }

  /** Starts a session. Returns whether it could: not if the token is unknown or revoked. */
  async startWebSession(started: StartWebSessionRequest, deadline: number): Promise<boolean> {
    return (await this.postWithRetry<StartWebSessionAnswer>(INTERNAL_PATHS.startWebSession, started, deadline))
      .is_started;
  }

  /** Whether a session is still live. `ip` is the current address of its browser. */
  async isWebSessionLive(seen: { id: string; ip: string | null }, deadline: number): Promise<boolean> {
    return (await this.postWithRetry<CheckWebSessionAnswer>(INTERNAL_PATHS.checkWebSession, seen, deadline)).is_live;
  }

  /** Returns all sessions of the user of a session, or null if the token of the session may not read them. */
  async webSessions(id: string, deadline: number): Promise<readonly ListedWebSession[] | null> {
    return (await this.postWithRetry<ListWebSessionsAnswer>(INTERNAL_PATHS.listWebSessions, { id }, deadline)).sessions;
  }

  /** Ends a session of the user of the session `id`. Returns whether its token may do so. */
  async endWebSession(id: string, endedId: string, deadline: number): Promise<boolean> {
    const asked = { id, ended_id: endedId };
    return (await this.postWithRetry<EndWebSessionAnswer>(INTERNAL_PATHS.endWebSession, asked, deadline)).is_permitted;
  }

  /** Long-polls for changes after `after`, at most `waitMs`. */
  fetchChanges(after: DirectoryMark, waitMs: number, stop: AbortSignal): Promise<DirectoryChangesAnswer> {
    const query = new URLSearchParams({
      after: String(after.version),
      epoch: after.epoch,
      wait_ms: String(waitMs),
      limit: '1000',
    });
    const signal = AbortSignal.any([stop, AbortSignal.timeout(waitMs + 5000)]);
    return this.sendQuestion({
      method: 'GET',
      path: `${INTERNAL_PATHS.directoryChanges}?${query}`,
      headers: this.headers,
      signal,
    });
  }

  onModuleDestroy(): Promise<void> {
    return this.connection.destroy();
  }

  private async postWithRetry<A>(path: string, question: object, deadline: number): Promise<A> {
    const waitMs = Math.max(1, deadline - Date.now());
    const signal = AbortSignal.timeout(waitMs);
    const headers = { ...this.headers, [INTERNAL_WAIT_HEADER]: String(waitMs) };
    const body = JSON.stringify(question);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.sendQuestion<A>({ method: 'POST', path, body, headers, signal });
      } catch (error) {
        // An idle connection that identity closed says nothing about its health, and these requests may be repeated.
        if (attempt === ATTEMPTS || signal.aborted || error instanceof Unavailable) {
          throw error instanceof Unavailable ? error : createIdentityUnavailableError(error);
        }
      }
    }
  }

  private async sendQuestion<A>(question: Dispatcher.RequestOptions): Promise<A> {
    const { statusCode, body: answer } = await this.connection.request(question);
    if (statusCode === 200) return (await answer.json()) as A;
    await answer.dump();
    throw createIdentityUnavailableError(new Error(`identity answered ${statusCode}`));
  }
}

function createIdentityUnavailableError(cause: unknown): Unavailable {
  const unavailable = new Unavailable('identity away');
  unavailable.cause = cause;
  return unavailable;
}
