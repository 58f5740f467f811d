const HIDDEN = '[redacted]';

/** A key hides its value when its name, without `-` and `_`, ends like this. `token_id` and `scopes` stay readable. */
const SECRET_KEY =
  /(?:password|passwd|passphrase|secret|tokens?|authorization|cookie|credentials?|apikey|accesskey|privatekey|secretkey|contextkeys?|internalkeys?|rookerycontext)$/;

/**
 * Secrets by their own format, anywhere in a text. Each pattern is linear: bounded, or anchored by a look-behind, so
 * that a long hostile text costs no more than its length.
 */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b(gl[a-z]{2,8}-)[\w.=-]{8,}/g, `$1${HIDDEN}`],
  [/\b(gh[pousr]_|github_pat_)\w{16,}/g, `$1${HIDDEN}`],
  [/\b(Bearer|Basic)(\s{1,8})[\w.~+/=-]{6,}/gi, `$1$2${HIDDEN}`],
  [/(?<![\w-])eyJ[\w-]{8,}\.[\w-]+\.[\w-]{16,}/g, HIDDEN],
  [/\bconan-\d{10,12}\.(?:token|job)\.[0-9a-f]{64}\.[\w-]{43}/g, HIDDEN],
  [/([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/"'?#]{1,1024}@/gi, `$1${HIDDEN}@`],
  [/([?&](?:[a-z_-]{0,40}token|password|secret|[a-z_-]{0,40}key|sig(?:nature)?)=)[^&\s"'#]+/gi, `$1${HIDDEN}`],
  [/-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?/g, HIDDEN],
];

/** A cheap test for a line; most lines contain no secret and pass unchanged. */
const SUSPECT =
  /gl[a-z]{2,8}-|gh[pousr]_|github_pat_|conan-\d|bearer|basic|eyJ|:\/\/[^\s/"]{1,1024}@|[?&][a-z_-]{0,40}(?:token|password|secret|key|sig|signature)=|PRIVATE KEY|(?:pass|secret|token|authorization|cookie|credential|key|context)[a-z_-]{0,8}"\s*:/i;

/** Hides secrets in a text. */
export function redactText(text: string): string {
  return PATTERNS.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), text);
}

/** Hides secrets in a JSON value: by key name at any depth, and by pattern in every text. */
export function redactValue(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return value.map(redactValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      item !== null && SECRET_KEY.test(key.toLowerCase().replace(/[-_]/g, '')) ? HIDDEN : redactValue(item),
    ]),
  );
}

/** Hides secrets in one serialised log line. */
export function redactLine(line: string): string {
  if (!SUSPECT.test(line)) return line;
  try {
    return `${JSON.stringify(redactValue(JSON.parse(line)))}\n`;
  } catch {
    return redactText(line);
  }
}
