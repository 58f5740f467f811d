import { createHash } from 'node:crypto';

/** Digests that `put` can compute. `blake2b-256` is BLAKE2b with 32 bytes of output. */
export const DIGESTS = ['md5', 'sha1', 'sha256', 'sha512', 'blake2b-256'] as const;
export type DigestName = (typeof DIGESTS)[number];

interface StreamingDigest {
  update(chunk: Uint8Array): unknown;
  digest(encoding: 'hex'): string;
}

/** Digests of one pass over a file. */
export class Digests<N extends DigestName> {
  private constructor(private readonly byName: ReadonlyMap<N | 'sha256', StreamingDigest>) {}

  /** Prepares the named digests and `sha256`. */
  static async createDigests<N extends DigestName>(names: readonly N[]): Promise<Digests<N>> {
    const all = new Set<N | 'sha256'>(['sha256', ...names]);
    const made = await Promise.all([...all].map(async (name) => [name, await createDigest(name)] as const));
    return new Digests(new Map(made));
  }

  addChunk(chunk: Uint8Array): void {
    for (const digest of this.byName.values()) digest.update(chunk);
  }

  /** Hexadecimal digits by name. Call it once. */
  finish(): Record<N | 'sha256', string> {
    const texts = [...this.byName].map(([name, digest]) => [name, digest.digest('hex')]);
    return Object.fromEntries(texts) as Record<N | 'sha256', string>;
  }
}

/** OpenSSL has BLAKE2b with 64 bytes of output only, so WebAssembly computes the one with 32, loaded on first use. */
async function createDigest(name: DigestName): Promise<StreamingDigest> {
  if (name !== 'blake2b-256') return createHash(name);
  const { createBLAKE2b } = await import('hash-wasm');
  return createBLAKE2b(256);
}
