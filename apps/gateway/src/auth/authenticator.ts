import type { ResolveTokenAnswer, ResolveTokenRequest, TokenHolder } from '@rookery/contracts';
import { forbidden, isRefusal, REFUSALS } from '../request/refusal';
import type { Caller, CallerRequest, DirectoryMark } from '../request/caller';
import type { Refusal } from '../request/refusal';
import type { FailedLogins } from './failed-logins';
import { CLIENT_GONE } from './failed-logins';
import type { Tally } from '../metrics/tally';
import type { ConanClientTokens } from './client-tokens';
import type { Credential } from './credential';
import type { DirectoryFloor } from './directory-floor';
import type { IdentityClient } from './identity-client';
import type { TokenLeases } from './token-leases';

export interface AuthenticationLimits {
  readonly authLeaseMs: number;
  readonly anonymousFreshMs: number;
}

interface PendingCheck {
  /** `DirectoryFloor.invalidations` at the start: if it increased since, the answer may be outdated. */
  readonly invalidations: number;
  readonly startedAt: number;
  readonly deadline: number;
  readonly outcome: Promise<Caller | Refusal>;
}

/**
 * Age from which an answer must be rechecked, independent of leases: permissions may have been removed. Units:
 * milliseconds.
 */
export const STALE_MS = 1000;

/**
 * Resolves a credential to a caller by asking identity, or by an answer that is still leased. Fails closed: when
 * identity does not answer, an expired lease is not extended.
 * Source: reference reliability 4.3; ADR 0050.
 */
export class Authenticator {
  private readonly checks = new Map<string, PendingCheck>();
  /**
   * Checks for rotation endpoints: concurrent rotations of one token share one check and do not delay other requests.
   */
  private readonly rotating = new Map<string, PendingCheck>();

  constructor(
    private readonly sources: {
      readonly identity: IdentityClient;
      readonly floor: DirectoryFloor;
      readonly leases: TokenLeases;
    },
    private readonly failures: FailedLogins,
    private readonly limits: AuthenticationLimits,
    private readonly tally: Tally,
    readonly tokens: ConanClientTokens,
  ) {}

  authenticate(credential: Credential | null, request: CallerRequest): Caller | Refusal | Promise<Caller | Refusal> {
    if (credential === null) return this.admitAnonymous(request.deadline);
    const { digest } = credential;
    if (credential.kind === 'job')
      return this.failures.checkLogin(request, () => this.resolveJobToken(digest, request));
    const lease = request.isRotating ? undefined : this.sources.leases.findLease(digest);
    if (lease && lease.until > Date.now() && this.sources.floor.covers(lease.mark)) {
      this.tally.countLease();
      return lease;
    }
    return this.joinOrStartCheck(digest, request);
  }

  /** Joins a running check if its answer will be recent enough, or starts another. */
  private joinOrStartCheck(digest: string, request: CallerRequest): Promise<Caller | Refusal> {
    const kind = request.isRotating ? this.rotating : this.checks;
    const pending = kind.get(pendingTokenCheckKey(digest, request));
    if (pending === undefined || !this.mayJoin(pending)) return this.startCheck(digest, request, kind);
    this.tally.countJoin();
    const isAbandoned = (outcome: Caller | Refusal): boolean =>
      outcome === CLIENT_GONE ||
      (outcome === REFUSALS.identityAway && pending.deadline < request.deadline && Date.now() >= pending.deadline);
    return pending.outcome.then((outcome) => (isAbandoned(outcome) ? this.joinOrStartCheck(digest, request) : outcome));
  }

  private mayJoin({ invalidations, startedAt }: PendingCheck): boolean {
    return (
      invalidations === this.sources.floor.invalidations &&
      this.limits.authLeaseMs > 0 &&
      Date.now() - startedAt < STALE_MS
    );
  }

  private startCheck(
    digest: string,
    request: CallerRequest,
    pendingChecks: Map<string, PendingCheck>,
  ): Promise<Caller | Refusal> {
    const outcome = this.checkWithGuessLimit(digest, request).finally(() => {
      if (pendingChecks.get(pendingTokenCheckKey(digest, request))?.outcome === outcome)
        pendingChecks.delete(pendingTokenCheckKey(digest, request));
    });
    const { invalidations } = this.sources.floor;
    pendingChecks.set(pendingTokenCheckKey(digest, request), {
      invalidations,
      startedAt: Date.now(),
      deadline: request.deadline,
      outcome,
    });
    return outcome;
  }

  private checkWithGuessLimit(digest: string, request: CallerRequest): Promise<Caller | Refusal> {
    // Expired leases are kept: a credential that was valid a moment ago is no guess.
    if (this.sources.leases.findLease(digest)) return this.resolveTokenUntilFresh(digest, request);
    return this.failures.checkLogin(request, () => this.resolveTokenUntilFresh(digest, request));
  }

  /**
   * Resolves the token of a job, which ends with the job: each request asks, and neither leases nor running checks
   * answer for it. Source: ADR 0190.
   */
  private async resolveJobToken(digest: string, request: CallerRequest): Promise<Caller | Refusal> {
    for (;;) {
      const askedAt = Date.now();
      const answer = await this.askIdentity({ digest, ip: null, job: true }, request.deadline);
      if (isRefusal(answer)) return answer;
      if (!this.sources.floor.observe(answer, Date.now())) this.sources.leases.clear();
      if (answer.outcome === 'unknown') return this.failures.countUnknownCredential(request.address);
      if (answer.outcome !== 'valid') return toTokenRefusal(answer);
      const { holder, version, epoch } = answer;
      if (Date.now() - askedAt <= STALE_MS) return { holder, mark: { version, epoch } };
      this.tally.countStale();
    }
  }

  /** Asks until an answer is recent enough when it arrives, or the deadline has passed. */
  private async resolveTokenUntilFresh(digest: string, request: CallerRequest): Promise<Caller | Refusal> {
    for (;;) {
      const askedAt = Date.now();
      const outcome = await this.resolveToken(digest, request, askedAt);
      if (isRefusal(outcome) || Date.now() - askedAt <= STALE_MS) return outcome;
      this.tally.countStale();
    }
  }

  private async resolveToken(digest: string, request: CallerRequest, askedAt: number): Promise<Caller | Refusal> {
    const { address, deadline, isRotating, key } = request;
    const { floor } = this.sources;
    const invalidations = floor.invalidations;
    const named = key === '' ? {} : { idempotency_key: key };
    const question = { digest, ip: address, ...(isRotating ? { rotating: true } : {}), ...named };
    const answer = await this.askIdentity(question, deadline);
    if (isRefusal(answer)) return answer;
    if (!floor.observe(answer, Date.now())) this.sources.leases.clear();
    if (answer.outcome === 'valid' && answer.replays_only) return this.admitForReplay(digest, answer.holder, answer);
    if (answer.outcome === 'valid')
      return this.admitWithLease(digest, answer.holder, answer, { askedAt, invalidations });
    this.sources.leases.dropLease(digest);
    // Identity revoked the token's family: that was a write, so leases from before it do not count.
    if (isRotating && answer.outcome === 'revoked') floor.raise(answer.version);
    return answer.outcome === 'unknown' ? this.failures.countUnknownCredential(address) : toTokenRefusal(answer);
  }

  /** A revoked token is never leased. */
  private admitForReplay(digest: string, holder: TokenHolder, { version, epoch }: DirectoryMark): Caller {
    this.sources.leases.dropLease(digest);
    this.sources.floor.raise(version);
    return { holder, mark: { version, epoch }, isReplayOnly: true };
  }

  private admitWithLease(
    digest: string,
    holder: TokenHolder,
    { version, epoch }: DirectoryMark,
    { askedAt, invalidations }: { readonly askedAt: number; readonly invalidations: number },
  ): Caller | Refusal {
    const expiresAt = holder.expires_at ?? Infinity;
    if (expiresAt <= Date.now()) return REFUSALS.expired;
    const mark = { version, epoch };
    // A change during the check may concern this token: then the answer is used once and not leased.
    if (this.limits.authLeaseMs > 0 && invalidations === this.sources.floor.invalidations) {
      this.sources.leases.keepLease(digest, {
        holder,
        mark,
        until: Math.min(askedAt + this.limits.authLeaseMs, expiresAt),
      });
    }
    return { holder, mark };
  }

  private admitAnonymous(deadline: number): Caller | Promise<Caller | Refusal> {
    const mark = this.sources.floor.current;
    if (mark && this.sources.floor.age(Date.now()) < this.limits.anonymousFreshMs) return { holder: null, mark };
    return this.fetchAnonymousCaller(deadline);
  }

  private async fetchAnonymousCaller(deadline: number): Promise<Caller | Refusal> {
    const answer = await this.askIdentity({ digest: null, ip: null }, deadline);
    if (isRefusal(answer)) return answer;
    if (!this.sources.floor.observe(answer, Date.now())) this.sources.leases.clear();
    return { holder: null, mark: { version: answer.version, epoch: answer.epoch } };
  }

  private async askIdentity(question: ResolveTokenRequest, deadline: number): Promise<ResolveTokenAnswer | Refusal> {
    try {
      this.tally.countQuestion();
      return await this.sources.identity.resolveToken(question, deadline);
    } catch (error) {
      this.tally.upstreamError('identity', describeTokenCheckError(error));
      return REFUSALS.identityAway;
    }
  }
}

/** Checks of rotations with different idempotency keys are not shared. */
function pendingTokenCheckKey(digest: string, { key }: CallerRequest): string {
  return digest + key;
}

function toTokenRefusal(answer: ResolveTokenAnswer): Refusal {
  switch (answer.outcome) {
    case 'expired':
    case 'revoked':
    case 'impersonation_disabled':
      return REFUSALS[answer.outcome];
    case 'user_refused':
      return forbidden(answer.reason);
    default:
      return REFUSALS.unauthorized;
  }
}

/** Returns the code or the name of the underlying error, never its message. */
function describeTokenCheckError(error: unknown): string {
  const { code, name } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
  return `token check ${code ?? name}`;
}
