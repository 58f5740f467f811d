import type {
  AccountMailRequest,
  AccountMailsAnswer,
  ConfirmCallerAnswer,
  ConfirmCallerRequest,
  DecideAnswer,
  DecideRequest,
  DirectoryChangesAnswer,
  DirectoryHeadAnswer,
  FormerProjectAnswer,
  NotificationEmailAnswer,
  NotificationEmailRequest,
} from '@rookery/contracts';
import type { CallerSource } from '@rookery/api-v4';
import { INTERNAL_PATHS, INTERNAL_WAIT_HEADER } from '@rookery/contracts';
import { Unavailable } from '@rookery/kernel';
import { KEPT_IDLE_MS } from '@rookery/platform';
import type { Neighbours } from '@rookery/platform';
import type { Dispatcher } from 'undici';

/** Longest wait for the contents of account e-mails. Only a worker waits for them. Units: ms. */
const ACCOUNT_MAILS_MS = 5000;
/**
 * Longest wait for a decision, including the connection. Each request waits at most until its own deadline. Units: ms.
 */
const DECIDE_MS = 30_000;
/** Longest wait for a project by a former path, which git clients send. Units: ms. */
const FORMER_PATH_MS = 2000;
/** Time after the requested wait of a long poll until the connection is considered dead. Units: ms. */
const POLL_GRACE_MS = 5000;

/** Identity answered, but not with 200. It is the cause of the error that callers get. */
class UnexpectedIdentityStatus extends Error {
  constructor(readonly status: number) {
    super(`identity answered ${status}`);
  }
}

/** Whether identity has refused a request with 400: an older release does not know all of its values. */
export function isBadRequestToIdentity(error: unknown): boolean {
  return error instanceof Unavailable && error.cause instanceof UnexpectedIdentityStatus && error.cause.status === 400;
}

/**
 * Client for identity's internal routes: changes of the directory, decisions that the copy cannot make yet,
 * confirmation of callers, and data that is not in the copy.
 * Errors: Unavailable without a valid answer in time. Source: reference reliability 4.3.
 */
export class IdentityClient implements CallerSource {
  private readonly connection: Dispatcher;
  private readonly prefix: string;

  constructor(
    identityUrl: string,
    private readonly authorization: string,
    private readonly service: string,
    neighbours: Neighbours,
  ) {
    const url = new URL(identityUrl);
    this.prefix = url.pathname.replace(/\/+$/, '');
    this.connection = neighbours.connect('identity', url.origin, {
      connections: 8,
      pipelining: 1,
      connectTimeout: 5000,
      keepAliveMaxTimeout: KEPT_IDLE_MS,
    });
  }

  /**
   * Returns the changes after a position. Units: `waitMs` is the time for which identity may hold the request while
   * nothing changes; `limit` in entries, whole versions. `position` includes the life in which it was reached and the
   * highest id of each kind ever seen.
   */
  async fetchChanges(
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
    const answer = await this.sendRequest<DirectoryChangesAnswer>(
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

  /** Returns identity's current position. Timeout as for `decide`, because many requests may share the answer. */
  async fetchHead(): Promise<DirectoryHeadAnswer> {
    const answer = await this.sendRequest<DirectoryHeadAnswer>('GET', INTERNAL_PATHS.directoryHead, null, DECIDE_MS);
    if (typeof answer.epoch !== 'string' || !Number.isSafeInteger(answer.version))
      throw new Unavailable('identity away');
    return answer;
  }

  /** Returns a decision. Many requests may share the answer, so the timeout exceeds the deadline of most requests. */
  decide(request: DecideRequest): Promise<DecideAnswer> {
    return this.sendRequest<DecideAnswer>('POST', INTERNAL_PATHS.decide, JSON.stringify(request), DECIDE_MS);
  }

  /** Confirms the claims about a caller. Timeout as for `decide`, because many requests may share the answer. */
  async confirm(question: ConfirmCallerRequest): Promise<ConfirmCallerAnswer> {
    const body = JSON.stringify(question);
    const answer = await this.sendRequest<ConfirmCallerAnswer>('POST', INTERNAL_PATHS.confirmCaller, body, DECIDE_MS);
    if (typeof answer.outcome !== 'string' || typeof answer.epoch !== 'string') throw new Unavailable('identity away');
    return answer;
  }

  /** Returns the contents and addresses of e-mails about accounts: one answer for each question, in the same order. */
  async accountMails(mails: readonly AccountMailRequest[]): Promise<AccountMailsAnswer> {
    const body = JSON.stringify({ mails });
    const answer = await this.sendRequest<AccountMailsAnswer>(
      'POST',
      INTERNAL_PATHS.accountMails,
      body,
      ACCOUNT_MAILS_MS,
    );
    if (!Array.isArray(answer.mails) || answer.mails.length !== mails.length) throw new Unavailable('identity away');
    return answer;
  }

  /** Returns the id of the project that formerly had a full path, null if there is none. */
  async formerProject(fullPath: string): Promise<number | null> {
    const body = JSON.stringify({ full_path: fullPath });
    const answer = await this.sendRequest<FormerProjectAnswer>(
      'POST',
      INTERNAL_PATHS.formerProject,
      body,
      FORMER_PATH_MS,
    );
    return answer.project_id;
  }

  /** Chooses or reads the address for a user's notifications. Timeout as for `decide`. */
  async notificationEmail(request: NotificationEmailRequest): Promise<NotificationEmailAnswer> {
    const body = JSON.stringify(request);
    const answer = await this.sendRequest<NotificationEmailAnswer>(
      'POST',
      INTERNAL_PATHS.notificationEmail,
      body,
      DECIDE_MS,
    );
    if (typeof answer.email !== 'string') throw new Unavailable('identity away');
    return answer;
  }

  close(): Promise<void> {
    return this.connection.destroy();
  }

  private async sendRequest<T>(
    method: 'GET' | 'POST',
    path: string,
    body: string | null,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<T> {
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const response = await this.connection.request({
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
        throw new UnexpectedIdentityStatus(response.statusCode);
      }
      return (await response.body.json()) as T;
    } catch (error) {
      const unavailable = new Unavailable('identity away');
      unavailable.cause = error;
      throw unavailable;
    }
  }
}
