import type { InstanceAnswer } from '@rookery/contracts';
import { INTERNAL_PATHS } from '@rookery/contracts';
import { KEPT_IDLE_MS } from '@rookery/platform';
import type { Neighbours } from '@rookery/platform';
import type { Dispatcher } from 'undici';

/** Added to the requested wait before the connection counts as dead. Units: ms. */
const GRACE_MS = 2000;

/** Client of admin's internal endpoint for the instance settings. */
export class AdminClient {
  private readonly connection: Dispatcher;
  private readonly path: string;
  private readonly headers: Readonly<Record<string, string>>;

  constructor(adminUrl: string, authorization: string, service: string, neighbours: Neighbours) {
    const url = new URL(adminUrl);
    this.path = url.pathname.replace(/\/+$/, '') + INTERNAL_PATHS.instance;
    this.connection = neighbours.connect('admin', url.origin, {
      connections: 1,
      pipelining: 1,
      connectTimeout: 1000,
      keepAliveMaxTimeout: KEPT_IDLE_MS,
    });
    this.headers = { authorization, 'user-agent': `rookery-${service}` };
  }

  /**
   * Fetches the instance settings. Units: `waitMs` is how long admin may hold the request while its version is `after`.
   * Errors: a plain Error without a valid answer in time.
   */
  async fetchInstance(after: number, waitMs: number, signal: AbortSignal): Promise<InstanceAnswer> {
    const { statusCode, body } = await this.connection.request({
      method: 'GET',
      path: `${this.path}?after=${after}&wait_ms=${waitMs}`,
      headers: this.headers,
      signal: AbortSignal.any([signal, AbortSignal.timeout(waitMs + GRACE_MS)]),
    });
    if (statusCode === 200) return (await body.json()) as InstanceAnswer;
    await body.dump();
    throw new Error(`admin answered ${statusCode}`);
  }

  close(): Promise<void> {
    return this.connection.destroy();
  }
}
