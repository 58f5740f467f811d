import { isTokenRotationRoute } from '@rookery/contracts';
import type { Logger } from '@rookery/platform';
import { presentedCredential } from '../auth/credential';
import type { CallerParameters, Credential } from '../auth/credential';
import { STALE_MS } from '../auth/authenticator';
import type { Authenticator } from '../auth/authenticator';
import type { Sudo } from '../auth/sudo';
import type { LoadShedding } from '../limits/load-shedding';
import type { RateLimits } from '../limits/rate-limits';
import type { Route } from '../routes/route';
import type { Caller, CallerRequest } from '../request/caller';
import type { Exchange } from '../request/exchange';
import {
  forbidden,
  insufficientScope,
  isRefusal,
  REFUSALS,
  withBasicChallenge,
  toConanRefusal,
  toNpmRefusal,
} from '../request/refusal';
import type { Refusal } from '../request/refusal';

/** Admits requests: authenticates the caller, counts its rate and applies `sudo`. */
export class Admission {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly sudo: Sudo,
    private readonly rates: RateLimits,
    readonly shedding: LoadShedding,
    readonly logger: Logger,
  ) {}

  /** Returns the credential of a request, and makes the client token that its route answers with. */
  findCredential(exchange: Exchange, parameters: CallerParameters): Credential | null {
    const { route, head } = exchange;
    const { tokens } = this.authenticator;
    const isConan = route.client === 'conan';
    const accepted = { isClientRoute: route.basic === true, tokens: isConan ? tokens : null };
    const credential = presentedCredential(head, parameters, accepted);
    const isAsked = isConan && route.template.endsWith('/users/authenticate');
    if (isAsked && credential !== null) exchange.clientToken = tokens.createToken(credential);
    return credential;
  }

  /**
   * Admits a request. `sudo` comes from the query or the body, and overrides the header. Returns a promise only if it
   * must wait.
   */
  admit(exchange: Exchange, credential: Credential | null, sudo: string): AdmissionResult | Promise<AdmissionResult> {
    const { route, head } = exchange;
    if (route.service === 'gateway' && route.shed === 'vital') return NO_CALLER;
    const caller = this.authenticator.authenticate(credential, toCallerRequest(exchange, exchange.deadline));
    const sudoUser = sudo || head.sudo;
    if (caller instanceof Promise || this.rates.isEnabled || sudoUser !== '')
      return this.admitAuthenticated(exchange, credential, caller, sudoUser);
    return checkScopeAndFormatRefusal(caller, route);
  }

  /**
   * Checks after a wait that the caller still has the permissions that the service decides by. Returns the refusal that
   * ends the request, or null. Rate limits do not count the request again.
   */
  async recheck(exchange: Exchange, credential: Credential | null, sudo: string): Promise<Refusal | null> {
    const deadline = Math.max(exchange.deadline, Date.now() + RECHECK_MS);
    const known = await this.authenticator.authenticate(credential, toCallerRequest(exchange, deadline));
    if (isRefusal(known)) return known;
    const sudoUser = sudo || exchange.head.sudo;
    const now = sudoUser === '' ? known : await this.applySudo(exchange, credential, known, sudoUser, deadline);
    if (isRefusal(now)) return now;
    return serializeClaimsForComparison(now) === serializeClaimsForComparison(exchange.caller)
      ? null
      : REFUSALS.rightsChanged;
  }

  private async admitAuthenticated(
    exchange: Exchange,
    credential: Credential | null,
    authentication: AdmissionResult | Promise<AdmissionResult>,
    sudoUser: string,
  ): Promise<AdmissionResult> {
    const { route, address, deadline } = exchange;
    const caller = await authentication;
    if (isRefusal(caller)) return checkScopeAndFormatRefusal(caller, route);
    if (this.rates.isEnabled) {
      // The number of bots is unlimited, so their requests count against the user who created them.
      const spender = caller.holder?.maker_id ?? caller.holder?.user_id ?? null;
      const headers = await this.rates.count(spender, address, route.rate);
      if (isRefusal(headers)) return checkScopeAndFormatRefusal(headers, route);
      exchange.rateHeaders = headers;
    }
    return checkScopeAndFormatRefusal(
      sudoUser === '' ? caller : await this.applySudo(exchange, credential, caller, sudoUser, deadline),
      route,
    );
  }

  /** Applies `sudo`. If the answer took long, both it and the caller's own authentication are checked again. */
  private async applySudo(
    exchange: Exchange,
    credential: Credential | null,
    caller: Caller,
    sudoUser: string,
    deadline: number,
  ): Promise<AdmissionResult> {
    for (let known = caller; ;) {
      const askedAt = Date.now();
      const acted = await this.sudo.actAs(known, sudoUser, deadline);
      if (isRefusal(acted) || Date.now() - askedAt <= STALE_MS) return acted;
      const again = await this.authenticator.authenticate(credential, toCallerRequest(exchange, deadline));
      if (isRefusal(again)) return again;
      known = again;
    }
  }
}

/** Time limit of a recheck after the request's own deadline, as with long uploads. Units: milliseconds. */
const RECHECK_MS = 5000;

type AdmissionResult = Caller | Refusal;
const NO_CALLER: Caller = { holder: null, mark: { version: 0, epoch: '' } };

function toCallerRequest({ route, address, head, onGone }: Exchange, deadline: number): CallerRequest {
  const isRotating = isTokenRotationRoute(route.method, route.template);
  return { address, deadline, onGone, isRotating, key: isRotating ? head.idempotencyKey : '' };
}

/** All claims that a service decides by. A changed user name is no changed permission. */
function serializeClaimsForComparison({ holder, actingFor, isReplayOnly }: Caller): string {
  if (holder === null) return '';
  const { user_id, token_id, job, admin, external, bot, scopes, impersonator_id } = holder;
  return JSON.stringify([
    user_id,
    token_id,
    job ?? null,
    admin,
    external,
    bot,
    scopes,
    impersonator_id,
    actingFor ?? null,
    isReplayOnly ?? false,
  ]);
}

/**
 * Checks the scope for the gateway's own routes; for other routes, adds the Basic challenge to a 401. Refusals get the form
 * that the client reads.
 */
function checkScopeAndFormatRefusal(
  outcome: AdmissionResult,
  { service, scopes, basic, client }: Route,
): AdmissionResult {
  if (isRefusal(outcome)) {
    if (client === 'npm') return outcome.status === 401 ? toNpmRefusal(outcome) : outcome;
    const isChallenged = basic && outcome.reason === REFUSALS.unauthorized.reason;
    const refusal = isChallenged ? withBasicChallenge(outcome) : outcome;
    return client === 'conan' ? toConanRefusal(refusal) : refusal;
  }
  if (service !== 'gateway' || scopes === undefined) return outcome;
  if (outcome.holder === null) return REFUSALS.unauthorized;
  if (outcome.holder.job) return forbidden('The token of a job is not accepted here');
  return outcome.holder.scopes.some((scope) => scopes.includes(scope)) ? outcome : insufficientScope(scopes);
}
