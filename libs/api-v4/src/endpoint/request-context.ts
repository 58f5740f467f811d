import type { ContextClaims } from '@rookery/contracts';
import { CONTEXT_HEADER } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import { Forbidden, Unauthorized, Unavailable } from '@rookery/kernel';
import type { ContextKeys, InternalKeys } from '@rookery/platform';
import { ContextRefused, verifyContext } from '@rookery/platform';
import type { IncomingMessage } from 'node:http';

/**
 * Who asks, as the gateway signed it for this very request.
 * Errors: ContextRefused when the header is missing or not made for this request and service; Unavailable when clocks
 * differ or nobody waits for the answer any more.
 */
export function viewerOf(message: IncomingMessage, audience: string, keys: ContextKeys, now: number): Viewer {
  const header = message.headers[CONTEXT_HEADER];
  if (typeof header !== 'string') throw new ContextRefused('malformed');
  const claims = verifyContext(header, { audience, method: message.method!, rawUrl: message.url!, now }, keys);
  if (now > claims.ddl) throw new Unavailable('deadline');
  return asViewer(claims);
}

function asViewer(claims: ContextClaims): Viewer {
  return {
    userId: claims.sub,
    username: claims.usr,
    isAdmin: claims.adm,
    isExternal: claims.ext,
    isBot: claims.bot,
    tokenId: claims.tok,
    scopes: claims.scp,
    impersonatorId: claims.imp,
    isBySudo: claims.sud === true,
    makerId: claims.mkr ?? null,
    address: claims.adr ?? null,
    ...(claims.rpl ? { isForReplay: true as const } : {}),
    directory: { version: claims.ver, epoch: claims.epo },
    requestId: claims.rid,
    deadline: claims.ddl,
  };
}

/**
 * Shape: `callers` null = whoever has a key for this process. Errors: Unauthorized unless the call comes from one of our
 * own processes; Forbidden for one that may not ask this. Source: ADR 0170.
 */
export function requireCaller(
  authorization: string | undefined,
  callers: readonly string[] | null,
  { service, internalKeys }: { readonly service: string; readonly internalKeys: InternalKeys },
): void {
  const caller = internalKeys.callerOf(authorization, service);
  if (caller === null) throw new Unauthorized();
  if (callers !== null && !callers.includes(caller)) throw new Forbidden();
}
