/** A repository of an upstream host. Units: `bytes` as the host estimates it. */
export interface RemoteRepository {
  readonly id: number;
  readonly name: string;
  /** Owner and name. */
  readonly fullName: string;
  readonly isPrivate: boolean;
  readonly description: string | null;
  /** Web page; null if the host names none. */
  readonly webUrl: string | null;
  readonly cloneUrl: string;
  readonly defaultBranch: string | null;
  readonly bytes: number;
}

/** Refs of the heads of pull requests. */
export const REMOTE_HEADS = 'refs/pull/*/head';
const KIB = 1024;
/** Longest name and address. Units: characters. */
const MAX_NAME = 1024;
const MAX_ADDRESS = 2048;

/**
 * Reads a repository from the answer of an upstream host. Shape: null if a needed field is missing or has another type.
 * Source: reference identity-and-import 6.9.
 */
export function repositoryIn(answer: unknown): RemoteRepository | null {
  if (typeof answer !== 'object' || answer === null) return null;
  const fields = answer as Readonly<Record<string, unknown>>;
  const { id, name, full_name: fullName, private: isPrivate, clone_url: cloneUrl, size } = fields;
  if (!Number.isSafeInteger(id) || typeof isPrivate !== 'boolean') return null;
  if (!isText(name) || !isText(fullName) || fullName.length > MAX_NAME || !isAddress(cloneUrl)) return null;
  const web = fields['html_url'];
  return {
    id: id as number,
    ...{ name, fullName, isPrivate, cloneUrl },
    description: isText(fields['description']) ? fields['description'] : null,
    webUrl: isAddress(web) ? web : null,
    defaultBranch: isText(fields['default_branch']) ? fields['default_branch'] : null,
    bytes: typeof size === 'number' && size > 0 ? size * KIB : 0,
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !value.includes('\0');
}

/** An address without credentials, since addresses are shown to maintainers. */
function isAddress(value: unknown): value is string {
  if (!isText(value) || value.length > MAX_ADDRESS || !/^https?:\/\//.test(value) || !URL.canParse(value)) return false;
  const { username, password } = new URL(value);
  return username === '' && password === '';
}
