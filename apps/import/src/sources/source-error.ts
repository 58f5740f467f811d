/** Reason why an upstream host did not answer as expected. */
export type SourceReason =
  /** The address may not be called. */
  | 'address'
  /** The host does not accept the credential. */
  | 'credential'
  /** The host limits the rate of requests. */
  | 'limit'
  | 'other';

/** A failed request to an upstream host. Shape: `message` may be shown to the user and has no credential. */
export class SourceError extends Error {
  constructor(
    readonly reason: SourceReason,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'SourceError';
  }
}
