/** A user name with a token or password, for HTTP Basic authentication. */
export interface BasicCredential {
  readonly authorization: string;
  /** The forms that answers must not repeat: the whole in base64 without padding, and the token or password. */
  readonly secrets: readonly string[];
}

/** Returns the credential for HTTP Basic authentication. `credential` is `user:secret`. */
export function basicCredential(credential: string): BasicCredential {
  const encoded = Buffer.from(credential).toString('base64');
  return {
    authorization: `Basic ${encoded}`,
    secrets: [encoded.replace(/=+$/, ''), credential.slice(credential.indexOf(':') + 1)],
  };
}
