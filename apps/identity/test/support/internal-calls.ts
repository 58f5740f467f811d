import { createHash } from 'node:crypto';
import { INTERNAL_PATHS } from '@rookery/contracts';
import type { ResolveSudoAnswer, ResolveTokenAnswer } from '@rookery/contracts';
import { TEST_INTERNAL_SECRET } from '@rookery/testing';
import type { IdentityApp } from './identity-app';

/** Asks as one of our own processes. Errors: a plain Error with status and body of a refusal. */
export async function internalCall<T>({ app }: IdentityApp, path: string, body: unknown): Promise<T> {
  const response = await fetch(`${app.baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_INTERNAL_SECRET}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

/** What the gateway learns of a token. */
export function resolve(identity: IdentityApp, token: string | null): Promise<ResolveTokenAnswer> {
  const digest = token === null ? null : createHash('sha256').update(token).digest('hex');
  return internalCall(identity, INTERNAL_PATHS.resolveToken, { digest, ip: '127.0.0.1' });
}

/** What the gateway learns of somebody whom an administrator wants to act as. */
export async function sudo(identity: IdentityApp, ref: string): Promise<ResolveSudoAnswer['user']> {
  return (await internalCall<ResolveSudoAnswer>(identity, INTERNAL_PATHS.resolveSudo, { ref })).user;
}
