import { randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(scrypt) as (password: string, salt: Buffer, length: number) => Promise<Buffer>;
const LENGTH = 32;
export const MIN_PASSWORD_LENGTH = 8;

/** Returns `scrypt$<base64url salt>$<base64url key>`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(password.normalize('NFKC'), salt, LENGTH);
  return `scrypt$${salt.toString('base64url')}$${key.toString('base64url')}`;
}
