import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ContextSigningKeys } from '@rookery/platform';
import { digestToken } from '../pipelines/token-digest';

const PREFIX = 'glptt-';
/** Number of characters after the prefix that other maintainers see. */
const SHOWN_LENGTH = 4;
const ALGORITHM = 'aes-256-gcm';
/** Units: bytes. */
const NONCE_LENGTH = 12;
const TAG_LENGTH = 16;

/** The stored forms of a new token. */
export interface NewSecret {
  readonly digest: Buffer;
  readonly sealedToken: Buffer;
  readonly tokenStart: string;
}

/**
 * Secrets of trigger tokens. A request finds a token by its SHA-256. The token is also kept encrypted, because its owner
 * may read it again. The key is derived from the context keys of the service and is not in the database. After the
 * operator removed that key, the token still works, but its owner sees only its first characters.
 * Source: reference identity-and-import 4.2, 7.1.
 */
@Injectable()
export class TriggerSecrets {
  private keys: readonly [Buffer, ...Buffer[]] | null = null;

  constructor(private readonly context: ContextSigningKeys) {}

  /** Generates a token: `glptt-` and 40 hexadecimal digits. */
  createSecret(): NewSecret {
    const token = PREFIX + randomBytes(20).toString('hex');
    return {
      digest: digestToken(token),
      sealedToken: this.sealToken(token),
      tokenStart: token.slice(PREFIX.length, PREFIX.length + SHOWN_LENGTH),
    };
  }

  /** Decrypts a token; null if its key was removed. */
  openToken({ digest, sealedToken: sealed }: Pick<NewSecret, 'digest' | 'sealedToken'>): string | null {
    for (const key of this.sealingKeys) {
      try {
        const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_LENGTH)).setAAD(digest);
        decipher.setAuthTag(sealed.subarray(NONCE_LENGTH, NONCE_LENGTH + TAG_LENGTH));
        const text = sealed.subarray(NONCE_LENGTH + TAG_LENGTH);
        return Buffer.concat([decipher.update(text), decipher.final()]).toString();
      } catch {
        // Encrypted by another key: the next one is tried.
      }
    }
    return null;
  }

  /** Encrypts a token. Returns the nonce, the tag and the ciphertext, in this order. */
  private sealToken(token: string): Buffer {
    const nonce = randomBytes(NONCE_LENGTH);
    const cipher = createCipheriv(ALGORITHM, this.sealingKeys[0], nonce).setAAD(digestToken(token));
    const text = Buffer.concat([cipher.update(token), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), text]);
  }

  private get sealingKeys(): readonly [Buffer, ...Buffer[]] {
    return (this.keys ??= this.context.deriveKeys('rookery trigger tokens', 'package'));
  }
}
