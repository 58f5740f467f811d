/** Reason why an outgoing request was not sent or was aborted. */
export type EgressReason =
  /** The address is not allowed; no connection was opened. */
  | 'address refused'
  | 'name unknown'
  | 'unreachable'
  | 'certificate'
  | 'too slow'
  | 'too large'
  | 'redirected'
  | 'malformed';

/**
 * An outgoing request without an answer. `message` may be shown to the user who entered the address: it contains no
 * credential and no address from a DNS lookup.
 */
export class EgressError extends Error {
  constructor(
    readonly reason: EgressReason,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'EgressError';
  }
}
