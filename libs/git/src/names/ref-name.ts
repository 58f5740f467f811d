import { invalidGitArgument } from '../process/git-error';

/** Full name of a ref: `HEAD`, or `refs/` and more by the rules of git. It never begins with a dash. */
export type RefName = string & { readonly __refName: unique symbol };

const MAX_REF_BYTES = 255;

const FORBIDDEN = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|^\/|[/.]$/;
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Is a text a ref name by the rules of `git check-ref-format`? It needs at least two parts (`refs/x`).
 * Bounds: linear in the length.
 */
export function isValidRefFormat(name: string): boolean {
  if (FORBIDDEN.test(name) || LONE_SURROGATE.test(name)) return false;
  const parts = name.split('/');
  return parts.length > 1 && parts.every((part) => !part.startsWith('.') && !part.endsWith('.lock'));
}

/** git finds these refs when it is asked for a missing ref by its full name, such as `refs/heads/refs/heads/main`. */
const STAND_IN = /^refs\/(?:(?:heads|tags|remotes)\/)?(?:refs\/|HEAD(?:\/HEAD)?$)/;

/** Whether a text is the full name of a ref that Rookery reads or writes. Bounds: 255 bytes. */
export function isRefName(name: string): name is RefName {
  if (name === 'HEAD') return true;
  if (STAND_IN.test(name)) return false;
  return name.startsWith('refs/') && Buffer.byteLength(name) <= MAX_REF_BYTES && isValidRefFormat(name);
}

/** Checks the full name of a ref. Errors: GitError `invalid`. */
export function refName(name: string): RefName {
  if (!isRefName(name)) throw invalidGitArgument('The name of the ref is invalid.');
  return name;
}

/** Beginning of a full name. A branch named `refs/heads/x` would be `refs/heads/refs/heads/x`, which reads like another branch. */
const NAMESPACE = /^refs\/(?:heads|tags|remotes)\//;
const LIKE_AN_ID = /^[0-9a-f]{40}(?:-\/|\/|$)/;

/**
 * Is a short name safe for a new branch or tag? Beyond the rules of git it has no leading dash, is neither `HEAD` nor
 * `@`, does not repeat a namespace, and cannot be mistaken for an object id.
 */
export function isValidBranchOrTagName(name: string): boolean {
  if (name.startsWith('-') || name === 'HEAD' || name === '@' || NAMESPACE.test(name)) return false;
  return !LIKE_AN_ID.test(name) && isRefName(`refs/heads/${name}`);
}
