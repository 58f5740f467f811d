import { hash } from 'node:crypto';
import type { ResolveTokenAnswer, ResolveTokenRequest, TokenHolder } from '@rookery/contracts';
import { forbidden, isRefusal, REFUSALS } from '../request/refusal';
import type { Caller, CallerRequest, DirectoryMark } from '../request/caller';
import type { Refusal } from '../request/refusal';
import type { FailedLogins } from './failed-logins';
import { LEFT } from './failed-logins';
import type { Tally } from '../metrics/tally';
import type { Credential } from './credential';
import type { DirectoryFloor } from './directory-floor';
import type { IdentityClient } from './identity-client';
import type { TokenLeases } from './token-leases';

export interface AuthenticationLimits {
  readonly authLeaseMs: number;
  readonly anonymousFreshMs: number;
}

interface Flight {
  /** `DirectoryFloor.turns` when it took off: later it may carry an outdated answer. */
  readonly turns: number;
  readonly startedAt: number;
  readonly deadline: number;
  readonly outcome: Promise<Caller | Refusal>;
}

/** What was true so long ago may have been taken away since, whatever a lease is. Units: milliseconds. */
export const STALE_MS = 1000;

/**
 * Turns a credential into a caller by asking identity, or by an answer that is still leased. Fails closed: when
 * identity does not answer, a lease that ran out is not extended.
 * Source: reference reliability 4.3; ADR 0050.
 */
export class Authenticator {
  private readonly flights = new Map<string, Flight>();
  /** Of rotation endpoints: many who replace one token at once are one question, and do not keep others waiting. */
  private readonly rotating = new Map<string, Flight>();

  constructor(
    private readonly sources: {
      readonly identity: IdentityClient;
      readonly floor: DirectoryFloor;
      readonly leases: TokenLeases;
    },
    private readonly failures: FailedLogins,
    private readonly limits: AuthenticationLimits,
    private readonly tally: Tally,
  ) {}

  authenticate(credential: Credential | null, request: CallerRequest): Caller | Refusal | Promise<Caller | Refusal> {
    if (credential === null) return this.anonymous(request.deadline);
    // Nothing resolves job tokens yet; they are unknown, as any credential is that nobody knows.
    if (credential.kind === 'job') return this.failures.refusal(request.address);
    const digest = hash('sha256', credential.secret, 'hex');
    const lease = request.isRotating ? undefined : this.sources.leases.find(digest);
    if (lease && lease.until > Date.now() && this.sources.floor.covers(lease.mark)) {
      this.tally.lease();
      return lease;
    }
    return this.checked(digest, request);
  }

  /** By a check that is under way, if it is still young when it arrives, else by one of its own. */
  private checked(digest: string, request: CallerRequest): Promise<Caller | Refusal> {
    const kind = request.isRotating ? this.rotating : this.flights;
    const flight = kind.get(flightOf(digest, request));
    if (flight === undefined || !this.mayJoin(flight)) return this.takeOff(digest, request, kind);
    const isGivenUp = (outcome: Caller | Refusal): boolean =>
      outcome === LEFT ||
      (outcome === REFUSALS.identityAway && flight.deadline < request.deadline && Date.now() >= flight.deadline);
    return flight.outcome.then((outcome) => (isGivenUp(outcome) ? this.checked(digest, request) : outcome));
  }

  private mayJoin({ turns, startedAt }: Flight): boolean {
    return turns === this.sources.floor.turns && this.limits.authLeaseMs > 0 && Date.now() - startedAt < STALE_MS;
  }

  private takeOff(digest: string, request: CallerRequest, kind: Map<string, Flight>): Promise<Caller | Refusal> {
    const outcome = this.check(digest, request).finally(() => {
      if (kind.get(flightOf(digest, request))?.outcome === outcome) kind.delete(flightOf(digest, request));
    });
    const { turns } = this.sources.floor;
    kind.set(flightOf(digest, request), { turns, startedAt: Date.now(), deadline: request.deadline, outcome });
    return outcome;
  }

  private check(digest: string, request: CallerRequest): Promise<Caller | Refusal> {
    // Leases that ran out are still there: what was good a moment ago is no guess.
    if (this.sources.leases.find(digest)) return this.young(digest, request);
    return this.failures.look(request, () => this.young(digest, request));
  }

  /** Asks until an answer is not too old when it arrives, or the time is over. */
  private async young(digest: string, request: CallerRequest): Promise<Caller | Refusal> {
    for (;;) {
      const askedAt = Date.now();
      const outcome = await this.resolved(digest, request, askedAt);
      if (isRefusal(outcome) || Date.now() - askedAt <= STALE_MS) return outcome;
      this.tally.stale();
    }
  }

  private async resolved(digest: string, request: CallerRequest, askedAt: number): Promise<Caller | Refusal> {
    const { address, deadline, isRotating, key } = request;
    const { floor } = this.sources;
    const turns = floor.turns;
    const named = key === '' ? {} : { idempotency_key: key };
    const question = { digest, ip: address, ...(isRotating ? { rotating: true } : {}), ...named };
    const answer = await this.ask(question, deadline);
    if (isRefusal(answer)) return answer;
    if (!floor.observe(answer, Date.now())) this.sources.leases.clear();
    if (answer.outcome === 'valid' && answer.replays_only) return this.admitForReplay(digest, answer.holder, answer);
    if (answer.outcome === 'valid') return this.admit(digest, answer.holder, answer, { askedAt, turns });
    this.sources.leases.drop(digest);
    // Its family went with it: that was a write, and what was leased before it does not count.
    if (isRotating && answer.outcome === 'revoked') floor.raise(answer.version);
    return answer.outcome === 'unknown' ? this.failures.refusal(address) : refusalOf(answer);
  }

  /** Nothing of a token that is gone is leased. */
  private admitForReplay(digest: string, holder: TokenHolder, { version, epoch }: DirectoryMark): Caller {
    this.sources.leases.drop(digest);
    this.sources.floor.raise(version);
    return { holder, mark: { version, epoch }, isForReplay: true };
  }

  private admit(
    digest: string,
    holder: TokenHolder,
    { version, epoch }: DirectoryMark,
    { askedAt, turns }: { readonly askedAt: number; readonly turns: number },
  ): Caller | Refusal {
    const expiresAt = holder.expires_at ?? Infinity;
    if (expiresAt <= Date.now()) return REFUSALS.expired;
    const mark = { version, epoch };
    // Whatever changed while the answer was under way may concern this token: then it counts once.
    if (this.limits.authLeaseMs > 0 && turns === this.sources.floor.turns) {
      this.sources.leases.keep(digest, {
        holder,
        mark,
        until: Math.min(askedAt + this.limits.authLeaseMs, expiresAt),
      });
    }
    return { holder, mark };
  }

  private anonymous(deadline: number): Caller | Promise<Caller | Refusal> {
    const mark = this.sources.floor.current;
    if (mark && this.sources.floor.age(Date.now()) < this.limits.anonymousFreshMs) return { holder: null, mark };
    return this.askHead(deadline);
  }

  private async askHead(deadline: number): Promise<Caller | Refusal> {
    const answer = await this.ask({ digest: null, ip: null }, deadline);
    if (isRefusal(answer)) return answer;
    if (!this.sources.floor.observe(answer, Date.now())) this.sources.leases.clear();
    return { holder: null, mark: { version: answer.version, epoch: answer.epoch } };
  }

  private async ask(question: ResolveTokenRequest, deadline: number): Promise<ResolveTokenAnswer | Refusal> {
    try {
      this.tally.ask();
      return await this.sources.identity.resolveToken(question, deadline);
    } catch (error) {
      this.tally.upstreamError('identity', kindOf(error));
      return REFUSALS.identityAway;
    }
  }
}

/** A rotation with a name is a question of its own. */
function flightOf(digest: string, { key }: CallerRequest): string {
  return digest + key;
}

function refusalOf(answer: ResolveTokenAnswer): Refusal {
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

/** Shape: the code or the name of what is behind it, never a text. */
function kindOf(error: unknown): string {
  const { code, name } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
  return `token check ${code ?? name}`;
}
