import type {
  AccountMailQuestion,
  AccountMailsAnswer,
  ConfirmCallerAnswer,
  ConfirmCallerRequest,
  DecideAnswer,
  DecideRequest,
  DirectoryChangesAnswer,
  DirectoryHeadAnswer,
} from '@rookery/contracts';
import type { CallerSource } from '@rookery/api-v4';
import { INTERNAL_PATHS, INTERNAL_WAIT_HEADER } from '@rookery/contracts';
import { Unavailable } from '@rookery/kernel';
import { KEPT_IDLE_MS } from '@rookery/platform';
import { Pool } from 'undici';

/** Longest wait for what e-mails say: nobody waits for the answer but a worker. Units: ms. */
const ACCOUNT_MAILS_MS = 5000;
/** Longest wait for a decision, connection included; each request besides waits until its own deadline. Units: ms. */
const DECIDE_MS = 30_000;
/** On top of the asked wait of a long poll, before the connection counts as dead. Units: ms. */
const POLL_GRACE_MS = 5000;

/**
 * The calls of a service to identity: changes of the directory, decisions that its own copy cannot make yet, whether a
 * caller still is who they were, and what no copy holds.
 * Errors: Unavailable whenever there is no good answer in time. Source: reference reliability 4.3.
 */
export class IdentityClient implements CallerSource {
  private readonly pool: Pool;
  private readonly prefix: string;

  constructor(
    identityUrl: string,
    private readonly authorization: string,
    private readonly service: string,
  ) {
    const url = new URL(identityUrl);
    this.prefix = url.pathname.replace(/\/+$/, '');
    this.pool = new Pool(url.origin, {
      connections: 8,
      pipelining: 1,
      connectTimeout: 5000,
      keepAliveMaxTimeout: KEPT_IDLE_MS,
    });
  }

  /**
   * Units: `waitMs` how long identity may hold the request while nothing changes; `limit` entries, whole versions.
   * Shape: `position` with the life in which the copy got there, and with what it ever held.
   */
  async changes(
    position: {
      readonly version: number;
      readonly epoch: string;
      readonly life: string;
      readonly seen: Readonly<Record<string, number>>;
    },
    o: { readonly waitMs: number; readonly limit: number; readonly signal?: AbortSignal },
  ): Promise<DirectoryChangesAnswer> {
    const query = new URLSearchParams({
      after: String(position.version),
      epoch: position.epoch,
      wait_ms: String(o.waitMs),
      limit: String(o.limit),
      life: position.life,
      reader: this.service,
      seen: JSON.stringify(position.seen),
    });
    const answer = await this.call<DirectoryChangesAnswer>(
      'GET',
      `${INTERNAL_PATHS.directoryChanges}?${query.toString()}`,
      null,
      o.waitMs + POLL_GRACE_MS,
      o.signal,
    );
    if (typeof answer.epoch !== 'string' || !Number.isSafeInteger(answer.upTo) || !Array.isArray(answer.changes)) {
      throw new Unavailable('identity away');
    }
    return answer;
  }

  /** Shape: as `decide`, many may share the answer. */
  async head(): Promise<DirectoryHeadAnswer> {
    const answer = await this.call<DirectoryHeadAnswer>('GET', INTERNAL_PATHS.directoryHead, null, DECIDE_MS);
    if (typeof answer.epoch !== 'string' || !Number.isSafeInteger(answer.version))
      throw new Unavailable('identity away');
    return answer;
  }

  /** Shape: many may share the answer, so it is waited for longer than most requests wait. */
  decide(request: DecideRequest): Promise<DecideAnswer> {
    return this.call<DecideAnswer>('POST', INTERNAL_PATHS.decide, JSON.stringify(request), DECIDE_MS);
  }

  /** Shape: as `decide`, many may share the answer. */
  async confirm(question: ConfirmCallerRequest): Promise<ConfirmCallerAnswer> {
    const body = JSON.stringify(question);
    const answer = await this.call<ConfirmCallerAnswer>('POST', INTERNAL_PATHS.confirmCaller, body, DECIDE_MS);
    if (typeof answer.outcome !== 'string' || typeof answer.epoch !== 'string') throw new Unavailable('identity away');
    return answer;
  }

  /** What e-mails about accounts say, and where they go. Shape: one answer for each question, in order. */
  async accountMails(mails: readonly AccountMailQuestion[]): Promise<AccountMailsAnswer> {
    const body = JSON.stringify({ mails });
    const answer = await this.call<AccountMailsAnswer>('POST', INTERNAL_PATHS.accountMails, body, ACCOUNT_MAILS_MS);
    if (!Array.isArray(answer.mails) || answer.mails.length !== mails.length) throw new Unavailable('identity away');
    return answer;
  }

  close(): Promise<void> {
    return this.pool.destroy();
  }

  private async call<T>(
    method: 'GET' | 'POST',
    path: string,
    body: string | null,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<T> {
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const response = await this.pool.request({
        method,
        path: this.prefix + path,
        headers: {
          authorization: this.authorization,
          'user-agent': `rookery-${this.service}`,
          [INTERNAL_WAIT_HEADER]: String(timeoutMs),
          ...(body === null ? {} : { 'content-type': 'application/json' }),
        },
        body,
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      if (response.statusCode !== 200) {
        await response.body.dump();
        throw new Error(`identity answered ${response.statusCode}`);
      }
      return (await response.body.json()) as T;
    } catch (error) {
      const unavailable = new Unavailable('identity away');
      unavailable.cause = error;
      throw unavailable;
    }
  }
}
