/** A repository of an upstream host that becomes a project. */
export interface UpstreamProject {
  readonly name: string;
  /** Owner and name. */
  readonly fullName: string;
  readonly isPrivate: boolean;
  readonly description: string | null;
  /** Web page; null if the host names none. */
  readonly webUrl: string | null;
  /** Without credentials. */
  readonly cloneUrl: string;
  readonly defaultBranch: string | null;
}

/** Maximum length of the name and of the address of a repository. Units: characters. */
const MAX_NAME = 1024;
const MAX_ADDRESS = 2048;

/** A text that the database stores and addresses may have: not empty, without NUL and without halves of surrogate pairs. */
export function isStorableUpstreamText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !value.includes('\0') && !/\p{Cs}/u.test(value);
}

/** A name that a project and its source may have. */
export function isUpstreamRepositoryName(value: unknown): value is string {
  return isStorableUpstreamText(value) && value.length <= MAX_NAME;
}

/** An address without credentials, since addresses are shown to maintainers. */
export function isUrlWithoutCredentials(value: unknown): value is string {
  if (
    !isStorableUpstreamText(value) ||
    value.length > MAX_ADDRESS ||
    !/^https?:\/\//.test(value) ||
    !URL.canParse(value)
  )
    return false;
  const { username, password } = new URL(value);
  return username === '' && password === '';
}

/** Returns an address without the user name that hosts put into it; null for another text. */
export function parseUrlWithoutCredentials(value: unknown): string | null {
  if (
    !isStorableUpstreamText(value) ||
    value.length > MAX_ADDRESS ||
    !/^https?:\/\//.test(value) ||
    !URL.canParse(value)
  )
    return null;
  const url = new URL(value);
  url.username = '';
  url.password = '';
  return url.href;
}
