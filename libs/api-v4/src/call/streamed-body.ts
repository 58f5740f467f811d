import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { Transform } from 'node:stream';
import type { TransformCallback } from 'node:stream';
import { TooLarge } from '@rookery/kernel';

export type DigestName = 'sha256' | 'sha512' | 'sha1' | 'md5';

/** Declares that the handler reads the request body as a stream. Created by `streamedBody` only. */
export interface StreamedBodyOption {
  /** Units: bytes, as the handler reads them. */
  readonly maxBytes: number;
  /** Accepted media types. Omitted: any type, or none. */
  readonly types?: readonly string[];
  /** Digests to compute while the body passes, in addition to SHA-256; or none, for packs that git checks itself. */
  readonly digests?: readonly DigestName[] | 'none';
  /** Accepts gzip and hands the inflated bytes to the handler. `maxBytes` then bounds both forms. */
  readonly inflates?: true;
}

/** Passes the request body to the handler as `call.body`. Parameters then come from path, query and headers only. */
export function streamedBody(option: StreamedBodyOption): StreamedBodyOption {
  return option;
}

/** Properties of a body that its headers declare. */
export interface BodyFacts {
  /** As the client sent it; empty without one. */
  readonly mediaType: string;
  /** `Content-Length`; null for a chunked body. */
  readonly declaredSize: number | null;
}

const HIGH_WATER_MARK = 64 * 1024;

/** Passes bytes through up to a limit. Errors: TooLarge. */
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
 * Readable stream of a request body that counts bytes and computes digests. A slow reader slows the client down.
 * Errors, as `error` of the stream: TooLarge over the limit; UploadAborted when the client left before the end;
 * MalformedBody for invalid gzip. After an error the handler must undo what it stored.
 */
export class StreamedBody extends ByteLimit {
  /** Time at which the last byte had passed. Units: epoch milliseconds; null before. */
  endedAt: number | null = null;
  readonly mediaType: string;
  readonly declaredSize: number | null;
  private readonly hashes: ReadonlyMap<DigestName, Hash>;
  private readonly computed = new Map<DigestName, string>();

  /** `recheck` checks the caller's permissions again. */
  constructor(
    { maxBytes, digests = [] }: Pick<StreamedBodyOption, 'maxBytes' | 'digests'>,
    { mediaType, declaredSize }: BodyFacts,
    private readonly recheck: () => Promise<void>,
  ) {
    super(maxBytes);
    this.mediaType = mediaType;
    this.declaredSize = declaredSize;
    const names = digests === 'none' ? [] : new Set<DigestName>(['sha256', ...digests]);
    this.hashes = new Map([...names].map((name) => [name, createHash(name)]));
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

  /**
   * Returns a digest of the whole body, in hexadecimal. Errors: a plain Error before the end, or for a digest that was
   * not declared.
   */
  digest(name: DigestName = 'sha256'): string {
    const digest = this.computed.get(name);
    if (digest === undefined) throw new Error(`no ${name} of an incomplete body`);
    return digest;
  }

  /** Lets the deadline of the request count from now, after work on the body that may last long (packs). */
  restartDeadline(): void {
    if (this.endedAt !== null) this.endedAt = Date.now();
  }

  /**
   * Rechecks the caller's permissions. Call it immediately before the upload takes effect, unless that happens in
   * `work.run`, which does the same. Errors: the answer to the caller.
   */
  recheckRights(): Promise<void> {
    return this.recheck();
  }
}
