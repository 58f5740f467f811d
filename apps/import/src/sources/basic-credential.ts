/** A user name with a token or password. Shape: stored as `user:secret`. */
export interface BasicCredential {
  readonly authorization: string;
  /** The part that answers must not repeat. */
  readonly secret: string;
}

/** Returns the credential for HTTP Basic authentication. Shape: `credential` is `user:secret`. */
export function basicCredential(credential: string): BasicCredential {
  return {
    authorization: `Basic ${Buffer.from(credential).toString('base64')}`,
    secret: credential.slice(credential.indexOf(':') + 1),
  };
}
