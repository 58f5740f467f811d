import { createHash } from 'node:crypto';
import { INTERNAL_PATHS } from '@rookery/contracts';
import type { ResolveSudoAnswer, ResolveTokenAnswer, ResolveTokenRequest } from '@rookery/contracts';
import { internalAuthorization } from '@rookery/testing';
import type { ProcessName } from '@rookery/platform';
import type { IdentityApp } from './app';

/**
 * Sends an internal request as the gateway, unless another service is given. Errors: a plain Error with status and body
 * of a refusal.
 */
export async function internalCall<T>(
  { app }: IdentityApp,
  path: string,
  asked: object,
  caller: ProcessName = 'gateway',
): Promise<T> {
  const secret = internalAuthorization(caller, 'identity');
  const { status, text, body } = await app.bare().post(path).set('authorization', secret).send(asked);
  if (status !== 200) throw new Error(`${status} ${text}`);
  return body as T;
}

/** Resolves a token like the gateway. `more` has further fields of the request. */
export function resolve(
  identity: IdentityApp,
  token: string | null,
  more: Partial<ResolveTokenRequest> = {},
): Promise<ResolveTokenAnswer> {
  const digest = token === null ? null : createHash('sha256').update(token).digest('hex');
  return internalCall(identity, INTERNAL_PATHS.resolveToken, { digest, ip: '127.0.0.1', ...more });
}

/** Resolves a user for sudo like the gateway. */
export async function sudo(identity: IdentityApp, ref: string): Promise<ResolveSudoAnswer['user']> {
  return (await internalCall<ResolveSudoAnswer>(identity, INTERNAL_PATHS.resolveSudo, { ref })).user;
}
