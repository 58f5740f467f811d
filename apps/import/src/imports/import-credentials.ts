import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ContextSigningKeys } from '@rookery/platform';

const ALGORITHM = 'aes-256-gcm';
/** Units: bytes. */
const NONCE_LENGTH = 12;
const TAG_LENGTH = 16;

/**
 * Credentials of upstream hosts, encrypted for one import each. The key is derived from the context keys of the service
 * and is not in the database. Source: reference reliability 8.5.
 */
@Injectable()
export class ImportCredentials {
  private keys: readonly [Buffer, ...Buffer[]] | null = null;

  constructor(private readonly context: ContextSigningKeys) {}

  /** Encrypts the credential of an import. Returns the nonce, the tag and the ciphertext, in this order. */
  seal(importKey: string, credential: string): Buffer {
    const nonce = randomBytes(NONCE_LENGTH);
    const cipher = createCipheriv(ALGORITHM, this.sealingKeys[0], nonce).setAAD(credentialAssociatedData(importKey));
    const text = Buffer.concat([cipher.update(credential), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), text]);
  }

  /** Decrypts the credential of an import; null if its key was removed, or if it belongs to another import. */
  open(importKey: string, sealed: Buffer): string | null {
    for (const key of this.sealingKeys) {
      try {
        const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_LENGTH)).setAAD(
          credentialAssociatedData(importKey),
        );
        decipher.setAuthTag(sealed.subarray(NONCE_LENGTH, NONCE_LENGTH + TAG_LENGTH));
        return Buffer.concat([
          decipher.update(sealed.subarray(NONCE_LENGTH + TAG_LENGTH)),
          decipher.final(),
        ]).toString();
      } catch {
        // Encrypted by another key: the next one is tried.
      }
    }
    return null;
  }

  private get sealingKeys(): readonly [Buffer, ...Buffer[]] {
    return (this.keys ??= this.context.deriveKeys('rookery import credentials', 'import'));
  }
}

/** Binds the ciphertext to its row, so that it cannot be moved to another one. */
function credentialAssociatedData(importKey: string): Buffer {
  return Buffer.from(`project_imports/${importKey}/sealed_credential`);
}
