import type { ConfirmCallerAnswer, ConfirmCallerRequest } from '@rookery/contracts';
import { Forbidden, TokenRefused, Unauthorized, Unavailable } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { awaitedByMany } from '@rookery/platform';

/**
 * Says whether what a context told of its caller still holds. Two implementations: the question to identity, and identity
 * itself. Errors: Unavailable.
 */
export interface CallerSource {
  confirm(question: ConfirmCallerRequest): Promise<ConfirmCallerAnswer>;
}
/** Injection token of CallerSource; a service with endpoints does not start without one. */
export const CALLER_SOURCE: unique symbol = Symbol('CallerSource');

/** An answer says what held when it was asked for. Units: as performance.now(). */
interface Check {
  readonly askedAt: number;
  readonly answer: Promise<ConfirmCallerAnswer>;
}

/** What held at a moment, and the version of the directory then. */
export interface Confirmed {
  readonly askedAt: number;
  readonly directory: { readonly version: number; readonly epoch: string };
}

/** What was true so long ago may have been taken away since. Units: milliseconds. */
export const STALE_MS = 1000;
const CAPACITY = 1000;

/**
 * Asks whether callers still are who their contexts say. Requests of one caller share a question for as long as its answer
 * is young. Source: ADR 0050; reference reliability 4.3.
 */
export class CallerChecks {
  private readonly checks = new Map<string, Check>();

  /** Units: `sharedMs` is how old a question may be that somebody joins. */
  constructor(
    private readonly source: CallerSource,
    private readonly sharedMs: number,
  ) {}

  /**
   * Asks until an answer is not too old when it arrives. Shape: `isRotating` where a token that was revoked ends its family,
   * unless it was by a write with the same `key`.
   * Errors: what the gateway would answer this caller now; Unavailable when nothing young is had before the deadline.
   */
  async confirmed(viewer: SignedInViewer, isRotating = false, key: string | null = null): Promise<Confirmed> {
    const named = key === null ? {} : { idempotency_key: key };
    const question = { ...questionOf(viewer), ...(isRotating ? { rotating: true as const, ...named } : {}) };
    for (;;) {
      const { askedAt, answer } = this.check(question);
      const { version, epoch, ...said } = await inTime(answer, viewer.deadline);
      if (said.outcome !== 'holds') throw refusalOf(said);
      if (performance.now() - askedAt <= STALE_MS) return { askedAt, directory: { version, epoch } };
    }
  }

  private check(question: ConfirmCallerRequest): Check {
    const key = JSON.stringify(question);
    const known = this.checks.get(key);
    if (known && performance.now() - known.askedAt < Math.min(this.sharedMs, STALE_MS)) return known;
    const askedAt = performance.now();
    const check: Check = { askedAt, answer: awaitedByMany(() => this.source.confirm(question)) };
    this.checks.delete(key);
    if (this.checks.size >= CAPACITY) this.checks.delete(this.checks.keys().next().value as string);
    this.checks.set(key, check);
    check.answer.catch(() => this.checks.get(key) === check && this.checks.delete(key));
    return check;
  }
}

function questionOf({ userId, tokenId, isAdmin, isExternal, isBot, scopes, impersonatorId }: SignedInViewer) {
  return {
    user_id: userId,
    token_id: tokenId ?? 0,
    admin: isAdmin,
    external: isExternal,
    bot: isBot,
    scopes,
    impersonator_id: impersonatorId,
  };
}

type Refused = Exclude<ConfirmCallerAnswer, { readonly outcome: 'holds' }>;

function refusalOf(said: Pick<Refused, 'outcome'> & { readonly reason?: string }): Error {
  switch (said.outcome) {
    case 'expired':
    case 'revoked':
    case 'impersonation_disabled':
      return new TokenRefused(said.outcome);
    case 'user_refused':
      return new Forbidden(said.reason);
    // The token is good, and the next request goes by what it gives now.
    case 'changed':
      return new Unavailable('rights changed');
    default:
      return new Unauthorized();
  }
}

/** Shape: `deadline` of the one who waits; the question is others' too. */
function inTime<T>(answer: Promise<T>, deadline: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Unavailable('identity away')), Math.max(0, deadline - Date.now()));
    answer.finally(() => clearTimeout(late)).then(resolve, reject);
  });
}
