import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(scrypt) as (password: string, salt: Buffer, length: number) => Promise<Buffer>;
const LENGTH = 32;
export const MIN_PASSWORD_LENGTH = 8;

/** Shape: `scrypt$<base64url salt>$<base64url key>`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(password.normalize('NFKC'), salt, LENGTH);
  return `scrypt$${salt.toString('base64url')}$${key.toString('base64url')}`;
}

export async function isPassword(password: string, digest: string): Promise<boolean> {
  const [, salt, key] = digest.split('$');
  if (!salt || !key) return false;
  const derived = await derive(password.normalize('NFKC'), Buffer.from(salt, 'base64url'), LENGTH);
  return timingSafeEqual(derived, Buffer.from(key, 'base64url'));
}
