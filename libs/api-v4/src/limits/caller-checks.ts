import type { ConfirmCallerAnswer, ConfirmCallerRequest } from '@rookery/contracts';
import { Forbidden, TokenRefused, Unauthorized, Unavailable } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { runWithoutDeadline } from '@rookery/platform';

/**
 * Confirms that the claims of a context about its caller still hold. Two implementations: a request to identity, and
 * identity's own tables. Errors: Unavailable.
 */
export interface CallerSource {
  confirm(question: ConfirmCallerRequest): Promise<ConfirmCallerAnswer>;
}
/** Injection token of CallerSource; a service with endpoints does not start without one. */
export const CALLER_SOURCE: unique symbol = Symbol('CallerSource');

/**
 * A confirmation in progress or completed. Its answer holds for the time of the question. Units: as performance.now().
 */
interface CallerConfirmation {
  readonly askedAt: number;
  readonly answer: Promise<ConfirmCallerAnswer>;
}

/** Time of a successful confirmation, and the directory version at that time. */
export interface Confirmation {
  readonly askedAt: number;
  readonly directory: { readonly version: number; readonly epoch: string };
}

/** Age at which a confirmation is no longer valid. Units: milliseconds. */
export const STALE_MS = 1000;
const CAPACITY = 1000;

/**
 * Confirms that the claims of contexts about their callers still hold. Concurrent requests of one caller share a
 * question for a short time. Source: ADR 0050; reference reliability 4.3.
 */
export class CallerChecks {
  private readonly checks = new Map<string, CallerConfirmation>();

  /** Units: `sharedMs` is the largest age of a question that another request may share. */
  constructor(
    private readonly source: CallerSource,
    private readonly sharedMs: number,
  ) {}

  /**
   * Asks until an answer is recent enough on arrival. `isRotating` is set for token rotations: a revoked token then
   * ends its family, unless a write with the same `key` revoked it.
   * Errors: as the gateway would answer this caller now; Unavailable without a recent answer before the deadline.
   */
  async confirmCaller(viewer: SignedInViewer, isRotating = false, key: string | null = null): Promise<Confirmation> {
    const named = key === null ? {} : { idempotency_key: key };
    const question = { ...toConfirmRequest(viewer), ...(isRotating ? { rotating: true as const, ...named } : {}) };
    for (;;) {
      const { askedAt, answer } = this.findOrStartConfirmation(question);
      const { version, epoch, ...said } = await rejectAtDeadline(answer, viewer.deadline);
      if (said.outcome !== 'holds') throw toCallerRefusal(said);
      if (performance.now() - askedAt <= STALE_MS) return { askedAt, directory: { version, epoch } };
    }
  }

  private findOrStartConfirmation(question: ConfirmCallerRequest): CallerConfirmation {
    const key = JSON.stringify(question);
    const known = this.checks.get(key);
    if (known && performance.now() - known.askedAt < Math.min(this.sharedMs, STALE_MS)) return known;
    const askedAt = performance.now();
    const check: CallerConfirmation = { askedAt, answer: runWithoutDeadline(() => this.source.confirm(question)) };
    this.checks.delete(key);
    if (this.checks.size >= CAPACITY) this.checks.delete(this.checks.keys().next().value as string);
    this.checks.set(key, check);
    check.answer.catch(() => this.checks.get(key) === check && this.checks.delete(key));
    return check;
  }
}

function toConfirmRequest(viewer: SignedInViewer): ConfirmCallerRequest {
  const { userId, tokenId, job, isAdmin, isExternal, isBot, scopes, impersonatorId } = viewer;
  return {
    user_id: userId,
    token_id: tokenId ?? 0,
    ...(job ? { job_id: job.id } : {}),
    admin: isAdmin,
    external: isExternal,
    bot: isBot,
    scopes,
    impersonator_id: impersonatorId,
  };
}

type RefusedCaller = Exclude<ConfirmCallerAnswer, { readonly outcome: 'holds' }>;

function toCallerRefusal(refusal: Pick<RefusedCaller, 'outcome'> & { readonly reason?: string }): Error {
  switch (refusal.outcome) {
    case 'expired':
    case 'revoked':
    case 'impersonation_disabled':
      return new TokenRefused(refusal.outcome);
    case 'user_refused':
      return new Forbidden(refusal.reason);
    // The token is valid, and the next request gets its current permissions.
    case 'changed':
      return new Unavailable('rights changed');
    default:
      return new Unauthorized();
  }
}

/** Rejects at the deadline of one request, while others may keep waiting for the same answer. */
function rejectAtDeadline<T>(answer: Promise<T>, deadline: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Unavailable('identity away')), Math.max(0, deadline - Date.now()));
    answer.finally(() => clearTimeout(late)).then(resolve, reject);
  });
}
