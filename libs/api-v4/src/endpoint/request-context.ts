import type { ContextClaims } from '@rookery/contracts';
import { CONTEXT_HEADER } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import { Forbidden, Unauthorized, Unavailable } from '@rookery/kernel';
import type { ContextSigningKeys, InternalKeys } from '@rookery/platform';
import { checkClaims, ContextRefused, verifyContext } from '@rookery/platform';
import { CLAIMS } from '../call/api-request';
import type { ApiRequest } from '../call/api-request';

/**
 * Returns the caller from the context that the gateway signed for this request, or passed with a local call.
 * Errors: ContextRefused when the header is missing or was not signed for this request and service; Unavailable when
 * clocks differ or the deadline has passed.
 */
export function verifyViewer(request: ApiRequest, audience: string, keys: ContextSigningKeys, now: number): Viewer {
  const { method, url } = request.raw;
  const expected = { audience, method: method!, rawUrl: url!, now };
  const passed = request[CLAIMS];
  const claims = passed
    ? checkClaims(passed, expected)
    : verifyContextHeader(request.headers[CONTEXT_HEADER], expected, keys);
  if (now > claims.ddl) throw new Unavailable('deadline');
  const viewer = asViewer(claims);
  // The scopes are copied, because the gateway caches the token's list and uses it for later requests.
  return passed ? { ...viewer, scopes: [...viewer.scopes] } : viewer;
}

function verifyContextHeader(
  header: string | string[] | undefined,
  expected: Parameters<typeof verifyContext>[1],
  keys: ContextSigningKeys,
): ContextClaims {
  if (typeof header !== 'string') throw new ContextRefused('malformed');
  return verifyContext(header, expected, keys);
}

function asViewer(claims: ContextClaims): Viewer {
  return {
    userId: claims.sub,
    username: claims.usr,
    isAdmin: claims.adm,
    isExternal: claims.ext,
    isBot: claims.bot,
    tokenId: claims.tok,
    ...(claims.job ? { job: { id: claims.job[0], projectId: claims.job[1] } } : {}),
    scopes: claims.scp,
    impersonatorId: claims.imp,
    isBySudo: claims.sud === true,
    creatorId: claims.mkr ?? null,
    address: claims.adr ?? null,
    ...(claims.rpl ? { isReplayOnly: true as const } : {}),
    ...(claims.ctk === undefined ? {} : { clientToken: claims.ctk }),
    directory: { version: claims.ver, epoch: claims.epo },
    requestId: claims.rid,
    deadline: claims.ddl,
  };
}

/**
 * Checks that a request comes from one of our own processes that may call the route. If `callers` is null, every
 * process with a key for this service may call it. Errors: Unauthorized without a valid key; Forbidden for a process
 * that is not among `callers`. Source: ADR 0170.
 */
export function requireInternalCaller(
  authorization: string | undefined,
  callers: readonly string[] | null,
  { service, internalKeys }: { readonly service: string; readonly internalKeys: InternalKeys },
): void {
  const caller = internalKeys.verifyCaller(authorization, service);
  if (caller === null) throw new Unauthorized();
  if (callers !== null && !callers.includes(caller)) throw new Forbidden();
}
