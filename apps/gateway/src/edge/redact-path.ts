const SECRET = '[secret]';
/** Slashes and backslashes, also percent-encoded ones: `%2F` belongs to a name for the router, but not for a reader. */
const SEPARATOR = /(\/|%2f|%5c)/i;
/** Names of parameters whose values are secrets. */
const SECRET_PARAMETER = /\{(?:secret|token)\}/;
/** The random part of an upload's address. Uploads of Rookery have 32 digits, links of other hosts at least 16. */
const UPLOAD_SECRET = /[0-9a-f]{16}/;
/** The end of a key that ends a subscription. Names are compared in lower case. */
const UNSUBSCRIBE_KEY = /\.[a-z0-9_-]{43}/;

/**
 * Returns the path of a request as the access log shows it, with `[secret]` in place of secrets: the random part of an
 * upload's address, the key of a link that ends a subscription, and the token that an npm client revokes. Redaction of
 * the logger may not recognize them, because the prefix of tokens is a setting. The other names stay, because a user
 * may give the name `uploads` to a group or a package.
 *
 * Returns null if a parameter of the matched template is a secret. `path` is valid, as `parseRequestTarget` returns it.
 * Source: docs/operations.md 3.
 */
export function redactPathForLog(path: string, template: string | undefined): string | null {
  if (template !== undefined && SECRET_PARAMETER.test(template)) return null;
  const parts = path.split(SEPARATOR);
  const before: string[] = [];
  for (let at = 0; at < parts.length; at += 2) {
    const name = decodeURIComponent(parts[at]!).trim().toLowerCase();
    if (name === '') continue;
    // A token may contain a slash.
    if (before.slice(-3).join('/') === '-/user/token') return [...parts.slice(0, at), SECRET].join('');
    if (isSecretPathSegment(name, before)) parts[at] = SECRET;
    before.push(name);
  }
  return parts.join('');
}

function isSecretPathSegment(segment: string, precedingSegments: readonly string[]): boolean {
  const parent = precedingSegments.at(-1);
  if (parent === 'uploads') return UPLOAD_SECRET.test(segment);
  return parent === 'sent_notifications' && (precedingSegments.at(-2) === '-' || UNSUBSCRIBE_KEY.test(segment));
}
