/** Reason why an upstream host did not answer as expected. */
export type UpstreamErrorReason =
  /** The address may not be called. */
  | 'address'
  /** The host does not accept the credential. */
  | 'credential'
  /** The host limits the rate of requests. */
  | 'limit'
  | 'other';

/** A failed request to an upstream host. `message` contains no credential and may be shown to the user. */
export class UpstreamError extends Error {
  /** Status of the answer; null without one. */
  readonly status: number | null;
  /** Time after which the host answers again, of a rate limit. */
  readonly retryAt: Date | null;

  constructor(
    readonly reason: UpstreamErrorReason,
    message: string,
    o: ErrorOptions & { readonly status?: number; readonly retryAt?: Date } = {},
  ) {
    super(message, o);
    this.name = 'UpstreamError';
    this.status = o.status ?? null;
    this.retryAt = o.retryAt ?? null;
  }
}
