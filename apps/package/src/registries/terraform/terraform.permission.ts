import { NotFound, Unauthorized } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { CHALLENGE } from '../../packages/packages.permission';

/**
 * Asks anonymous callers for a credential where a module is absent or hidden, because clients report 404 as a wrong
 * address. Errors: Unauthorized with the challenge; those of the read.
 */
export async function challengeAnonymousIfNotFound<T>({ userId }: Viewer, read: Promise<T>): Promise<T> {
  try {
    return await read;
  } catch (error) {
    if (userId === null && error instanceof NotFound) throw invalidCredential();
    throw error;
  }
}

/** 401 with the challenge: for an invalid token in an address, and for anonymous callers. */
export function invalidCredential(): Unauthorized {
  return new Unauthorized(undefined, CHALLENGE);
}
