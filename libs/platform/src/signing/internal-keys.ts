import { createHash, timingSafeEqual } from 'node:crypto';

/** Key id, caller, callee, key. */
const ITEM = /^([A-Za-z0-9_-]{1,32})\/([a-z]{1,32})\/([a-z]{1,32}):(.*)$/;
const MIN_KEY_BYTES = 32;
const BEARER = 'Bearer ';

interface InternalKey {
  readonly caller: string;
  readonly callee: string;
  /** The key as sent after `Bearer`, and its digest. */
  readonly text: string;
  readonly digest: Buffer;
}

/**
 * The keys by which processes authenticate each other: one for each pair of caller and callee, which only these two
 * have. Of several keys for a pair the first is presented and all are accepted. Source: ADR 0170.
 */
export class InternalKeys {
  constructor(private readonly keys: readonly InternalKey[]) {}

  /** Whether these keys would allow calls between two other processes. */
  reachesBeyond(process: string): boolean {
    return this.keys.some(({ caller, callee }) => caller !== process && callee !== process);
  }

  /** Returns the `Authorization` header of a call. Errors: a plain Error when there is no key for the pair. */
  signAuthorization(caller: string, callee: string): string {
    const key = this.keys.find((one) => one.caller === caller && one.callee === callee);
    if (!key) throw new Error(`ROOKERY_INTERNAL_KEYS holds no key by which ${caller} may ask ${callee}`);
    return BEARER + key.text;
  }

  /**
   * Returns the caller for an `Authorization` header at the callee; null for an unknown key. All keys are compared, in
   * constant time.
   */
  verifyCaller(authorization: string | undefined, callee: string): string | null {
    if (!authorization?.startsWith(BEARER)) return null;
    const given = sha256Of(authorization.slice(BEARER.length));
    let found: string | null = null;
    for (const key of this.keys) {
      if (timingSafeEqual(given, key.digest) && key.callee === callee) found = key.caller;
    }
    return found;
  }
}

/**
 * Parses `ROOKERY_INTERNAL_KEYS`: comma-separated `kid/caller/callee:base64`. To rotate a key, add the new one after
 * the old at the callee, then before it at both, then remove the old one.
 * Errors: a plain Error that names the key and never its value.
 */
export function parseInternalKeys(text: string): InternalKeys {
  const names = new Map<string, string>();
  const keys = text.split(',').map((item): InternalKey => {
    const [, keyId = '', caller = '', callee = '', value = ''] = ITEM.exec(item.trim()) ?? [];
    if (keyId === '') throw new Error('a key has no name of the form kid/caller/callee:base64');
    const name = `${keyId}/${caller}/${callee}`;
    if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(value) || Buffer.from(value, 'base64').length < MIN_KEY_BYTES) {
      throw new Error(`key ${name} is not base64 of at least ${MIN_KEY_BYTES} bytes`);
    }
    if ([...names.values()].includes(name)) throw new Error(`key ${name} is there twice`);
    if (names.has(value)) throw new Error(`key ${name} is that of ${names.get(value)}`);
    names.set(value, name);
    return { caller, callee, text: value, digest: sha256Of(value) };
  });
  return new InternalKeys(keys);
}

/** A digest, so that all compared values have equal length. */
function sha256Of(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
