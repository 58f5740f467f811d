/** Reason why a blob operation failed. */
export type BlobReason =
  /** No file has this key, or the text is not a key. */
  | 'not found'
  /** The source has more bytes than the caller allows, or the range is larger than may be held in memory. */
  | 'too large'
  /** The range is malformed or starts after the last byte. */
  | 'range'
  /** The source failed or was closed before its end. */
  | 'source'
  /** The disk or the S3 server does not work, refuses the credentials, or is full. */
  | 'unavailable';

/** Failure of a blob operation. `message` contains no path, URL or credential. `cause` is for logs. */
export class BlobError extends Error {
  constructor(
    readonly reason: BlobReason,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'BlobError';
  }
}
