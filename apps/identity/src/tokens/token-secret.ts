import { createHash, randomBytes } from 'node:crypto';

/** What a client presents. Shape: prefix and 20 URL-safe characters (120 random bits). Source: reference identity-and-import 4.2. */
export function newSecret(prefix = 'glpat-'): string {
  return prefix + randomBytes(15).toString('base64url');
}

/** What is kept: 32 bytes. The secrets are random, so a salt would add nothing and cost the index look-up. */
export function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
