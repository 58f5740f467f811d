/** Why a request to the outside did not happen, or was broken off. */
export type EgressReason =
  /** The address is none that may be asked; nothing was sent, and nobody was connected to. */
  | 'address refused'
  | 'name unknown'
  | 'unreachable'
  | 'certificate'
  | 'too slow'
  | 'too large'
  | 'redirected'
  | 'malformed';

/**
 * A request to the outside that has no answer. Shape: `message` may be shown to whoever gave the address: it holds no
 * credential and no address that a name was found to have.
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
