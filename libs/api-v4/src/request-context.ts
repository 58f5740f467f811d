import { timingSafeEqual } from 'node:crypto';
import type { ContextClaims } from '@rookery/contracts';
import { CONTEXT_HEADER } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import { Unauthorized, Unavailable } from '@rookery/kernel';
import type { ContextKeys } from '@rookery/platform';
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
    directory: { version: claims.ver, epoch: claims.epo },
    requestId: claims.rid,
    deadline: claims.ddl,
  };
}

/** Errors: Unauthorized unless the call comes from one of our own processes. */
export function requireInternalSecret(authorization: string | undefined, secret: string): void {
  const given = Buffer.from(authorization ?? '');
  const wanted = Buffer.from(`Bearer ${secret}`);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) throw new Unauthorized();
}
