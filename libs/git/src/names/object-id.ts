import { invalidGitArgument } from '../process/git-error';

/** Full id of an object: 40 hexadecimal digits in lower case, so it can never be an option. */
export type ObjectId = string & { readonly __objectId: unique symbol };

const FULL = /^[0-9a-f]{40}$/;
/** Value of a ref that does not exist. */
export const NO_OBJECT = '0'.repeat(40) as ObjectId;
/** Tree without entries; git knows it in every repository. */
export const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904' as ObjectId;

/** Whether a text is a full object id. */
export function isObjectId(text: string): text is ObjectId {
  return FULL.test(text);
}

/** Checks a full object id. Errors: GitError `invalid`. */
export function objectId(text: string): ObjectId {
  if (!isObjectId(text)) throw invalidGitArgument('An object id has 40 hexadecimal digits.');
  return text;
}
