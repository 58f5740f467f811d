import { isRotation } from '@rookery/contracts';
import type { Logger } from '@rookery/platform';
import type { Credential } from '../auth/credential';
import { STALE_MS } from '../auth/authenticator';
import type { Authenticator } from '../auth/authenticator';
import type { Sudo } from '../auth/sudo';
import type { LoadShedding } from '../limits/load-shedding';
import type { RateLimits } from '../limits/rate-limits';
import type { Route } from '../routes/route';
import type { Caller, CallerRequest } from '../request/caller';
import type { Exchange } from '../request/exchange';
import { insufficientScope, isRefusal, REFUSALS, withBasicChallenge } from '../request/refusal';
import type { Refusal } from '../request/refusal';

/** Who comes in, as whom, and how often. */
export class Entrance {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly sudo: Sudo,
    private readonly rates: RateLimits,
    readonly shedding: LoadShedding,
    readonly logger: Logger,
  ) {}

  /** Shape: `sudo` is the query's or the body's; the header's counts when there is none. A promise only where something is asked. */
  admit(exchange: Exchange, credential: Credential | null, sudo: string): Outcome | Promise<Outcome> {
    const { route, head } = exchange;
    if (route.service === 'gateway' && route.shed === 'vital') return NOBODY;
    const caller = this.authenticator.authenticate(credential, callerRequestOf(exchange, exchange.deadline));
    const ref = sudo || head.sudo;
    if (caller instanceof Promise || this.rates.areOn || ref !== '')
      return this.finish(exchange, credential, caller, ref);
    return ownRight(caller, route);
  }

  /**
   * Checks after a wait that the caller still has the rights that the service decides by. Shape: null, or the refusal
   * that ends the request. Rate limits do not count the request again.
   */
  async recheck(exchange: Exchange, credential: Credential | null, sudo: string): Promise<Refusal | null> {
    const deadline = Math.max(exchange.deadline, Date.now() + LOOK_MS);
    const known = await this.authenticator.authenticate(credential, callerRequestOf(exchange, deadline));
    if (isRefusal(known)) return known;
    const ref = sudo || exchange.head.sudo;
    const now = ref === '' ? known : await this.acting(exchange, credential, known, ref, deadline);
    if (isRefusal(now)) return now;
    return rightsOf(now) === rightsOf(exchange.caller) ? null : REFUSALS.rightsChanged;
  }

  private async finish(
    exchange: Exchange,
    credential: Credential | null,
    known: Outcome | Promise<Outcome>,
    ref: string,
  ): Promise<Outcome> {
    const { route, address, deadline } = exchange;
    const caller = await known;
    if (isRefusal(caller)) return ownRight(caller, route);
    if (this.rates.areOn) {
      // Bots are made without a limit: they send in the minute of whoever made them.
      const spender = caller.holder?.maker_id ?? caller.holder?.user_id ?? null;
      const headers = await this.rates.count(spender, address, route.rate);
      if (isRefusal(headers)) return headers;
      exchange.rateHeaders = headers;
    }
    return ownRight(ref === '' ? caller : await this.acting(exchange, credential, caller, ref, deadline), route);
  }

  /** As whom the caller acts. An answer that took long is asked for again, and so is whether the caller still may. */
  private async acting(
    exchange: Exchange,
    credential: Credential | null,
    caller: Caller,
    ref: string,
    deadline: number,
  ): Promise<Outcome> {
    for (let known = caller; ;) {
      const askedAt = Date.now();
      const acted = await this.sudo.act(known, ref, deadline);
      if (isRefusal(acted) || Date.now() - askedAt <= STALE_MS) return acted;
      const again = await this.authenticator.authenticate(credential, callerRequestOf(exchange, deadline));
      if (isRefusal(again)) return again;
      known = again;
    }
  }
}

/** How long the last look at a caller may take when the request's own deadline is over, as with long uploads. */
const LOOK_MS = 5000;

type Outcome = Caller | Refusal;
const NOBODY: Caller = { holder: null, mark: { version: 0, epoch: '' } };

function callerRequestOf({ route, address, head, onGone }: Exchange, deadline: number): CallerRequest {
  const isRotating = isRotation(route.method, route.template);
  return { address, deadline, onGone, isRotating, key: isRotating ? head.idempotencyKey : '' };
}

/** All that a service decides by. A new name is no other right. */
function rightsOf({ holder, actingFor, isForReplay }: Caller): string {
  if (holder === null) return '';
  const { user_id, token_id, admin, external, bot, scopes, impersonator_id } = holder;
  return JSON.stringify([
    user_id,
    token_id,
    admin,
    external,
    bot,
    scopes,
    impersonator_id,
    actingFor ?? null,
    isForReplay ?? false,
  ]);
}

/** The gateway's own routes have no service to check the scope; refusals of others get the challenge they wait for. */
function ownRight(outcome: Outcome, { service, scopes, basic }: Route): Outcome {
  if (isRefusal(outcome))
    return basic && outcome.reason === REFUSALS.unauthorized.reason ? withBasicChallenge(outcome) : outcome;
  if (service !== 'gateway' || scopes === undefined) return outcome;
  if (outcome.holder === null) return REFUSALS.unauthorized;
  return outcome.holder.scopes.some((scope) => scopes.includes(scope)) ? outcome : insufficientScope(scopes);
}
