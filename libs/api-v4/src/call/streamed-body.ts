import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { Transform } from 'node:stream';
import type { TransformCallback } from 'node:stream';
import { TooLarge } from '@rookery/kernel';

export type DigestName = 'sha256' | 'sha512' | 'sha1' | 'md5';

/** Request body of an endpoint that reaches its handler as a stream. Made by `streamedBody` only. */
export interface StreamedBodyOption {
  /** Units: bytes, as the handler reads them. */
  readonly maxBytes: number;
  /** Media types; any type, or none, without. */
  readonly types?: readonly string[];
  /** Digests that are computed while the body passes. SHA-256 is always among them. */
  readonly digests?: readonly DigestName[];
  /** Accepts gzip and hands the inflated bytes to the handler. `maxBytes` then bounds both forms. */
  readonly inflates?: true;
}

/** Hands the request body to the handler as `call.body`. Parameters then come from path, query and headers only. */
export function streamedBody(option: StreamedBodyOption): StreamedBodyOption {
  return option;
}

export interface BodyFacts {
  /** As the client sent it; empty without one. */
  readonly mediaType: string;
  /** `Content-Length`; null for a chunked body. */
  readonly declaredSize: number | null;
}

const HIGH_WATER_MARK = 64 * 1024;

/** Passes bytes on up to a limit. Errors: TooLarge. */
export class ByteLimit extends Transform {
  /** Bytes so far. */
  size = 0;

  /** Units: bytes. */
  constructor(private readonly maxBytes: number) {
    super({ highWaterMark: HIGH_WATER_MARK });
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.size += chunk.length;
    if (this.size > this.maxBytes) done(new TooLarge());
    else done(null, chunk);
  }
}

/**
 * The body of a request while it arrives: a Readable that counts its bytes and computes digests. Reading slowly slows
 * the client down.
 * Errors, as `error` of the stream: TooLarge over the limit; UploadCut when the client left before the end;
 * MalformedBody for gzip that is none. After an error the handler must leave nothing behind.
 */
export class StreamedBody extends ByteLimit {
  /** When the last byte had passed. Units: epoch milliseconds; null before. */
  endedAt: number | null = null;
  readonly mediaType: string;
  readonly declaredSize: number | null;
  private readonly hashes: ReadonlyMap<DigestName, Hash>;
  private readonly computed = new Map<DigestName, string>();

  /** Shape: `recheck` checks again whether the caller may still do this. */
  constructor(
    { maxBytes, digests = [] }: Pick<StreamedBodyOption, 'maxBytes' | 'digests'>,
    { mediaType, declaredSize }: BodyFacts,
    private readonly recheck: () => Promise<void>,
  ) {
    super(maxBytes);
    this.mediaType = mediaType;
    this.declaredSize = declaredSize;
    this.hashes = new Map([...new Set<DigestName>(['sha256', ...digests])].map((name) => [name, createHash(name)]));
  }

  override _transform(chunk: Buffer, encoding: BufferEncoding, done: TransformCallback): void {
    for (const hash of this.hashes.values()) hash.update(chunk);
    super._transform(chunk, encoding, done);
  }

  override _flush(done: TransformCallback): void {
    for (const [name, hash] of this.hashes) this.computed.set(name, hash.digest('hex'));
    this.endedAt = Date.now();
    done();
  }

  /** Digest of the whole body, in hexadecimal. Errors: a plain Error before the end, or for one that was not asked for. */
  digest(name: DigestName = 'sha256'): string {
    const digest = this.computed.get(name);
    if (digest === undefined) throw new Error(`no ${name} of a body that is not whole`);
    return digest;
  }

  /**
   * Checks the caller's rights again; call it right before the upload takes effect. `work.run` does the same by itself.
   * Errors: what the caller is answered instead.
   */
  recheckRights(): Promise<void> {
    return this.recheck();
  }
}
