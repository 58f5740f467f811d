import type { Readable } from 'node:stream';

/** Object of a store. Units: bytes. */
export interface StoredObject {
  readonly name: string;
  readonly size: number;
  /** Time of the last change, by the clock of the disk or of the S3 server. */
  readonly modifiedAt: Date;
}

/** Inclusive byte range; `end` undefined means up to the last byte. */
export interface ByteRange {
  readonly start: number;
  readonly end: number | undefined;
}

export interface OpenObject {
  readonly body: Readable;
  /** Size of the whole object. Units: bytes. */
  readonly size: number;
}

/**
 * Flat namespace of objects on a disk or in a bucket. Purpose: keeps all rules about content, keys and races out of the
 * backends. A name is `<folder>/<rest>`. This library chooses the folder and makes the rest from hexadecimal digits,
 * dots and dashes.
 * Errors: BlobError.
 */
export interface BlobStore {
  /** Writes a new object, which is durable afterwards. Bounds: `maxBytes` is known to be an upper limit. */
  write(name: string, body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<void>;
  /** Makes `to` an object with the content of `from`, which was written just before; atomic, durable, replaces another. */
  copy(from: string, to: string, size: number): Promise<void>;
  /** Null when there is no such object. */
  stat(name: string): Promise<StoredObject | null>;
  /** Errors: BlobError `not found`, `range` when `start` is not before the end of the object. */
  open(name: string, range: ByteRange | null): Promise<OpenObject>;
  /** An object that does not exist is no error. */
  remove(name: string): Promise<void>;
  /** Objects whose name starts with `<folder>/<start>`, read in pages. */
  list(folder: string, start?: string): AsyncIterable<StoredObject>;
  /** Discards unfinished writes that began before a time and are not visible as objects. Answers their number. */
  discardUnfinished(before: Date): Promise<number>;
}
