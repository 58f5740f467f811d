import { invalidGitArgument } from '../process/git-error';

const MAX_PATH_BYTES = 4096;
const MAX_DEPTH = 100;
/** Characters that HFS+ ignores in names. */
const IGNORED_BY_HFS = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
const GIT_FOLDER = /^(?:\.git|git~\d+)[ .]*(?::.*)?$/i;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Checks the form of a path inside a tree. Errors: GitError `invalid`. */
export function requireTreePath(path: string): string {
  if (!isTreePath(path)) throw invalidGitArgument('The path is invalid.');
  return path;
}

/** Has a path the form of a path inside a tree: relative, without empty parts, `.`, `..` and NUL? */
export function isTreePath(path: string): boolean {
  if (path === '' || Buffer.byteLength(path) > MAX_PATH_BYTES || path.includes('\0') || LONE_SURROGATE.test(path)) {
    return false;
  }
  const parts = path.split('/');
  return parts.length <= MAX_DEPTH && parts.every((part) => part !== '' && part !== '.' && part !== '..');
}

/**
 * May a path be written? Beyond its form, no part of it may be `.git` to git or to a file system that ignores case,
 * trailing dots or some characters, nor contain a backslash, which separates folders on Windows.
 */
export function isWritableTreePath(path: string): boolean {
  return isTreePath(path) && !path.includes('\\') && path.split('/').every((part) => !isGitFolder(part));
}

function isGitFolder(part: string): boolean {
  return GIT_FOLDER.test(part) || GIT_FOLDER.test(part.replaceAll(IGNORED_BY_HFS, ''));
}
