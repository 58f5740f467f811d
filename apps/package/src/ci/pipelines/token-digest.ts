import { createHash } from 'node:crypto';

/** The digest by which a token is stored and found. Tokens are random, so a salt would add nothing. Shape: 32 bytes. */
export function digestToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
