import type { Logger } from '@rookery/platform';
import type { Credential } from '../auth/credential';
import type { Authenticator, Caller } from '../auth/authenticator';
import type { Sudo } from '../auth/sudo';
import type { LoadShedding } from '../limits/load-shedding';
import type { RateLimits } from '../limits/rate-limits';
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

  /** Shape: `sudo` is the query's; the header's counts when there is none. */
  async admit(exchange: Exchange, credential: Credential | null, sudo: string): Promise<Caller | Refusal> {
    const { route, head, address } = exchange;
    const isOwn = route.service === 'gateway';
    if (isOwn && route.shed === 'vital') return NOBODY;
    const isRotating = route.template.endsWith('/rotate');
    const caller = await this.authenticator.authenticate(credential, address, isRotating);
    if (isRefusal(caller)) {
      return route.basic && caller === REFUSALS.unauthorized ? withBasicChallenge(caller) : caller;
    }
    if (this.rates.areOn) {
      const headers = await this.rates.count(caller.holder?.user_id ?? null, address, route.rate);
      if (isRefusal(headers)) return headers;
      exchange.rateHeaders = headers;
    }
    const ref = sudo || head.sudo;
    const acting = ref === '' ? caller : await this.sudo.act(caller, ref);
    return isOwn && !isRefusal(acting) ? ownRight(acting, route.scopes) : acting;
  }
}

const NOBODY: Caller = { holder: null, mark: { version: 0, epoch: '' } };

/** The gateway's own routes have no service to check the scope. */
function ownRight(caller: Caller, scopes: readonly string[] | undefined): Caller | Refusal {
  if (scopes === undefined) return caller;
  if (caller.holder === null) return REFUSALS.unauthorized;
  return caller.holder.scopes.some((scope) => scopes.includes(scope)) ? caller : insufficientScope(scopes);
}
