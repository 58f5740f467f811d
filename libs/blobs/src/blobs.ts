import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { BlobError } from './blob-error';
import { requireBlobKey } from './blob-key';
import type { BlobStore, ByteRange } from './blob-store';
import { Digests } from './digests';
import type { DigestName } from './digests';
import { meterSource } from './meter-source';
import { BlobPublisher } from './blob-publisher';
import { sweepOrphans } from './sweep';
import type { SweepOptions, SweepResult } from './sweep';

export interface PutOptions<N extends DigestName> {
  /**
   * A source with more bytes fails with BlobError `too large`. Bounds: 100 GiB. An upload to S3 holds two parts in
   * memory, each of 5 MiB or of a ten-thousandth of this.
   */
  readonly maxBytes: number;
  /** Further digests; `sha256` is always computed. */
  readonly digests?: readonly N[];
  readonly signal?: AbortSignal;
}

/** A stored file. `key` is equal to `sha256`. Units: bytes. */
export type StoredBlob<N extends DigestName = never> = {
  readonly key: string;
  readonly size: number;
} & Readonly<Record<N | 'sha256', string>>;

export interface BlobStat {
  readonly size: number;
  /** Time of the last `put` with this content. */
  readonly modifiedAt: Date;
}

/** Inclusive, as in HTTP. Omitted: from the first byte, up to the last one. */
export interface BlobRange {
  readonly start?: number;
  readonly end?: number;
}

/** Part of a file. `start` and `end` are inclusive; an empty file has `end` -1. */
export interface OpenBlob {
  /** Must be read or destroyed. */
  readonly body: Readable;
  readonly start: number;
  readonly end: number;
  /** Size of the whole file. Units: bytes. */
  readonly size: number;
}

const MAX_READ_BYTES = 16 * 1024 * 1024;
const MAX_FILE_BYTES = 100 * 1024 ** 3;

/**
 * Files by content, on a local disk or in S3. Purpose: stores a file once however often it is uploaded, and gives it back
 * by a key that is its SHA-256. A service keeps the key in a row of its own; the order is file first, row second, and
 * `sweep` removes files without a row.
 * Errors: BlobError.
 */
export class BlobStorage {
  private readonly publication: BlobPublisher;

  constructor(private readonly store: BlobStore) {
    this.publication = new BlobPublisher(store);
  }

  /**
   * Stores a file. It is durable when the promise resolves. The source is read at the pace of the store and is destroyed
   * afterwards in every case; a failed call leaves no file.
   * Errors: BlobError `too large`, `source`, `unavailable`; the reason of `signal`; RangeError for a wrong `maxBytes`.
   */
  async put<N extends DigestName = never>(source: Readable, options: PutOptions<N>): Promise<StoredBlob<N>> {
    const { maxBytes, digests: names = [], signal } = options;
    const temporary = `uploads/${randomUUID()}`;
    const abort = (): void => void source.destroy(signal?.reason instanceof Error ? signal.reason : undefined);
    // A source that fails without a reader must not end the process.
    source.on('error', doNothing);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      signal?.throwIfAborted();
      checkMaxBytes(maxBytes);
      const meter = meterSource(source, maxBytes, await Digests.createDigests(names));
      await this.store.write(temporary, meter, maxBytes);
      const { size, digests } = meter.result();
      await this.publication.publishBlob(temporary, digests.sha256, size);
      return { key: digests.sha256, size, ...digests };
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    } finally {
      signal?.removeEventListener('abort', abort);
      source.destroy();
      // The sweep removes it if this fails.
      await this.store.remove(temporary).catch(doNothing);
    }
  }

  /** Errors: BlobError `not found`, `range`, `unavailable`. A reader that stops must destroy `body`. */
  async open(key: string, range: BlobRange = {}): Promise<OpenBlob> {
    const wanted = checkBlobRange(range);
    const { body, size } = await this.store.open(blobFileNameOf(key), wanted);
    const start = wanted?.start ?? 0;
    return { body, size, start, end: Math.min(wanted?.end ?? Infinity, size - 1) };
  }

  /**
   * Reads a part of a file into memory, for example the central directory of a zip archive. Fewer bytes come back when
   * the file ends before `end`. Bounds: 16 MiB. Errors: BlobError `not found`, `range`, `too large`, `unavailable`.
   */
  async readRange(key: string, range: Required<BlobRange>): Promise<Buffer> {
    if (range.end - range.start >= MAX_READ_BYTES) {
      throw new BlobError('too large', `A range of more than ${MAX_READ_BYTES} bytes is not read into memory.`);
    }
    const { body } = await this.open(key, range);
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) chunks.push(chunk);
    } catch (error) {
      throw new BlobError('unavailable', 'The file could not be read to its end.', { cause: error });
    }
    return Buffer.concat(chunks);
  }

  /** Errors: BlobError `not found`, `unavailable`. */
  async stat(key: string): Promise<BlobStat> {
    const found = await this.store.stat(blobFileNameOf(key));
    if (!found) throw new BlobError('not found', 'There is no file with this key.');
    return { size: found.size, modifiedAt: found.modifiedAt };
  }

  /**
   * Removes a file at once, even if a concurrent `put` has just stored the same content. A file that several rows may
   * share is left to `sweep`. A file that does not exist is no error. Errors: BlobError `unavailable`.
   */
  async remove(key: string): Promise<void> {
    await this.store.remove(blobFileNameOf(key));
  }

  /** Removes old files that the caller does not claim, and remains of failed uploads. Errors: BlobError; the caller's. */
  sweep(options: SweepOptions): Promise<SweepResult> {
    return sweepOrphans(this.store, options);
  }
}

function doNothing(): void {
  // Nothing is left to do.
}

function checkMaxBytes(maxBytes: number): void {
  const isValid = Number.isSafeInteger(maxBytes) && maxBytes >= 0 && maxBytes <= MAX_FILE_BYTES;
  if (!isValid) throw new RangeError(`maxBytes is not between 0 and ${MAX_FILE_BYTES}.`);
}

function blobFileNameOf(key: string): string {
  return `files/${requireBlobKey(key)}`;
}

/** Null when the whole file is wanted. */
function checkBlobRange({ start, end }: BlobRange): ByteRange | null {
  if (start === undefined && end === undefined) return null;
  const first = start ?? 0;
  const isValid = isByteOffset(first) && (end === undefined || (isByteOffset(end) && end >= first));
  if (!isValid) throw new BlobError('range', 'A range is two offsets, the first not greater than the second.');
  return { start: first, end };
}

function isByteOffset(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
