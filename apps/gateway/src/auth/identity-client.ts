import { INTERNAL_PATHS } from '@rookery/contracts';
import type {
  DirectoryChangesAnswer,
  ResolveSudoAnswer,
  ResolveTokenAnswer,
  ResolveTokenRequest,
} from '@rookery/contracts';
import { Unavailable } from '@rookery/kernel';
import { Pool } from 'undici';
import type { DirectoryMark } from './directory-floor';

const CONNECTIONS = 32;
const ATTEMPTS = 2;

/** The questions that the gateway asks identity. Errors: Unavailable when there is no good answer in time. */
export class IdentityClient {
  private readonly pool: Pool;
  private readonly headers: Readonly<Record<string, string>>;

  constructor(
    url: string,
    authorization: string,
    private readonly timeoutMs: number,
  ) {
    this.pool = new Pool(url, { connections: CONNECTIONS, connect: { timeout: timeoutMs } });
    this.headers = { authorization, 'content-type': 'application/json' };
  }

  resolveToken(question: ResolveTokenRequest): Promise<ResolveTokenAnswer> {
    return this.post(INTERNAL_PATHS.resolveToken, question);
  }

  resolveSudo(ref: string): Promise<ResolveSudoAnswer> {
    return this.post(INTERNAL_PATHS.resolveSudo, { ref });
  }

  /** Waits at identity until there is something newer than `after`, at most `waitMs`. */
  changes(after: DirectoryMark, waitMs: number, stop: AbortSignal): Promise<DirectoryChangesAnswer> {
    const query = new URLSearchParams({
      after: String(after.version),
      epoch: after.epoch,
      wait_ms: String(waitMs),
      limit: '1000',
    });
    const signal = AbortSignal.any([stop, AbortSignal.timeout(waitMs + 5000)]);
    return this.ask('GET', `${INTERNAL_PATHS.directoryChanges}?${query}`, null, signal);
  }

  onModuleDestroy(): Promise<void> {
    return this.pool.destroy();
  }

  private async post<A>(path: string, question: object): Promise<A> {
    const signal = AbortSignal.timeout(this.timeoutMs);
    const body = JSON.stringify(question);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.ask<A>('POST', path, body, signal);
      } catch (error) {
        // A kept connection that identity closed meanwhile says nothing about identity; the questions change nothing.
        if (attempt === ATTEMPTS || signal.aborted || error instanceof Unavailable) {
          throw error instanceof Unavailable ? error : new Unavailable('identity');
        }
      }
    }
  }

  private async ask<A>(method: 'GET' | 'POST', path: string, body: string | null, signal: AbortSignal): Promise<A> {
    const { statusCode, body: answer } = await this.pool.request({ method, path, body, headers: this.headers, signal });
    if (statusCode === 200) return (await answer.json()) as A;
    await answer.dump();
    throw new Unavailable(`identity (${statusCode})`);
  }
}
