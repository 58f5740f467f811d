import type { JsonSchema } from '@rookery/api-v4';

const FORMATS = [
  ['-----BEGIN SSH SIGNATURE-----', 'SSH'],
  ['-----BEGIN SIGNED MESSAGE-----', 'X509'],
  ['-----BEGIN PGP', 'PGP'],
] as const;

/** Keys of each format. All are null, because Rookery keeps no keys of users. */
const KEYS = {
  PGP: ['gpg_key_id', 'gpg_key_primary_keyid', 'gpg_key_user_name', 'gpg_key_user_email', 'gpg_key_subkey_id'],
  SSH: ['key'],
  X509: ['x509_certificate'],
} as const;

const NO_KEY = { type: 'null', description: 'Always null: keys of users are not kept.' };

export const signatureSchema: JsonSchema = {
  type: 'object',
  description: 'Signature of a commit. Rookery keeps no keys of users, so no signature is verified.',
  properties: {
    signature_type: { type: 'string', enum: Object.keys(KEYS) },
    verification_status: { const: 'unverified' },
    ...Object.fromEntries(Object.values(KEYS).flatMap((names) => names.map((name) => [name, NO_KEY]))),
    commit_source: { const: 'gitaly', description: 'Source of the commit, a constant.' },
  },
  required: ['signature_type', 'verification_status', 'commit_source'],
};

/** Describes an armored signature, null if its format is unknown. Source: reference repositories 4.2. */
export function describeCommitSignature(signature: string): Readonly<Record<string, string | null>> | null {
  const type = FORMATS.find(([start]) => signature.startsWith(start))?.[1];
  if (type === undefined) return null;
  const keys = Object.fromEntries(KEYS[type].map((name) => [name, null]));
  return { signature_type: type, verification_status: 'unverified', ...keys, commit_source: 'gitaly' };
}
