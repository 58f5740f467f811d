/** Forms of signatures of tags. */
export type SignatureType = 'PGP' | 'SSH' | 'X509';

const BEGINNINGS: readonly (readonly [string, SignatureType])[] = [
  ['-----BEGIN PGP SIGNATURE-----', 'PGP'],
  ['-----BEGIN PGP MESSAGE-----', 'PGP'],
  ['-----BEGIN SSH SIGNATURE-----', 'SSH'],
  ['-----BEGIN SIGNED MESSAGE-----', 'X509'],
];

/** Returns the form of the signature at the end of the message of a tag, null for a tag without one. */
export function detectTagSignatureType(message: string): SignatureType | null {
  const lines = new Set(message.split('\n'));
  return BEGINNINGS.find(([beginning]) => lines.has(beginning))?.[1] ?? null;
}
