import type { RenderedError } from './errors';

/** Text of every 401. Clients match its beginning. Source: reference repositories 1.3. */
const BASIC_DENIED =
  'HTTP Basic: Access denied. If a password was provided for Git authentication, the password was incorrect or ' +
  "you're required to use a token instead of a password. If a token was provided, it was either incorrect, expired, " +
  'or improperly scoped.';
const CHALLENGE = 'Basic realm="Rookery"';
const LFS_TYPE = 'application/vnd.git-lfs+json';

/** How failures of a route are written. `text`: for git. `lfs`: for clients of Git LFS, which read JSON. */
export type GitClientErrorFormat = 'text' | 'lfs';

/** Returns the failure in another form. A 401 gets the Basic challenge, so that clients ask for a credential. */
export function toGitClientError({ status, headers, body }: RenderedError, form: GitClientErrorFormat): RenderedError {
  const { 'content-type': _, 'www-authenticate': __, ...others } = headers;
  const text = status === 401 ? BASIC_DENIED : extractErrorText(body);
  const type = form === 'lfs' ? LFS_TYPE : 'text/plain; charset=utf-8';
  const challenge = status === 401 ? { 'www-authenticate': CHALLENGE } : {};
  const written = form === 'lfs' ? JSON.stringify({ message: text }) : `${text.trimEnd()}\n`;
  return { status, headers: { ...others, ...challenge, 'content-type': type }, body: written };
}

/** Returns the text of `message`, `error_description` or `error` of a JSON body. Returns other bodies unchanged. */
function extractErrorText(body: string | null): string {
  if (body === null || !body.startsWith('{')) return body ?? '';
  const { message, error, error_description: described } = JSON.parse(body) as Readonly<Record<string, unknown>>;
  const text = message ?? described ?? error;
  return typeof text === 'string' ? text : JSON.stringify(text);
}
