import type { Logger } from '@rookery/platform';
import type { Credential } from '../auth/credential';
import type { Authenticator, Caller } from '../auth/authenticator';
import type { Sudo } from '../auth/sudo';
import type { LoadShedding } from '../limits/load-shedding';
import type { RateLimits } from '../limits/rate-limits';
import type { Route } from '../routes/route';
import type { Exchange } from './exchange';
import { insufficientScope, isRefusal, REFUSALS, withBasicChallenge } from './refusal';
import type { Refusal } from './refusal';

/** Who comes in, as whom, and how often. */
export class Entrance {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly sudo: Sudo,
    private readonly rates: RateLimits,
    readonly shedding: LoadShedding,
    readonly logger: Logger,
  ) {}

  /** Shape: `sudo` is the query's; the header's counts when there is none. A promise only where something is asked. */
  admit(exchange: Exchange, credential: Credential | null, sudo: string): Outcome | Promise<Outcome> {
    const { route, head, address, deadline } = exchange;
    if (route.service === 'gateway' && route.shed === 'vital') return NOBODY;
    const caller = this.authenticator.authenticate(credential, { address, deadline, isRotating: isRotation(route) });
    const ref = sudo || head.sudo;
    if (caller instanceof Promise || this.rates.areOn || ref !== '') return this.finish(exchange, caller, ref);
    return ownRight(caller, route);
  }

  private async finish(exchange: Exchange, known: Outcome | Promise<Outcome>, ref: string): Promise<Outcome> {
    const { route, address } = exchange;
    const caller = await known;
    if (isRefusal(caller)) return ownRight(caller, route);
    if (this.rates.areOn) {
      const headers = await this.rates.count(caller.holder?.user_id ?? null, address, route.rate);
      if (isRefusal(headers)) return headers;
      exchange.rateHeaders = headers;
    }
    return ownRight(ref === '' ? caller : await this.sudo.act(caller, ref, exchange.deadline), route);
  }
}

type Outcome = Caller | Refusal;
const NOBODY: Caller = { holder: null, mark: { version: 0, epoch: '' } };

function isRotation({ method, template }: Route): boolean {
  return method === 'POST' && template.endsWith('/rotate');
}

/** The gateway's own routes have no service to check the scope; refusals of others get the challenge they wait for. */
function ownRight(outcome: Outcome, { service, scopes, basic }: Route): Outcome {
  if (isRefusal(outcome)) return basic && outcome === REFUSALS.unauthorized ? withBasicChallenge(outcome) : outcome;
  if (service !== 'gateway' || scopes === undefined) return outcome;
  if (outcome.holder === null) return REFUSALS.unauthorized;
  return outcome.holder.scopes.some((scope) => scopes.includes(scope)) ? outcome : insufficientScope(scopes);
}
