import { createHash } from 'node:crypto';

/**
 * Returns the digest of 32 bytes by which a token is stored and found. Tokens are random, so a salt would add nothing.
 */
export function digestToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
