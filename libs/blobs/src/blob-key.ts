import { BlobError } from './blob-error';

const KEY = /^[0-9a-f]{64}$/;

/** True for a SHA-256 in lower-case hexadecimal digits, which is the only form of a key. */
export function isBlobKey(text: string): boolean {
  return KEY.test(text);
}

/** Guards every path and object name. Errors: BlobError `not found` for a text that is not a key. */
export function requireBlobKey(text: string): string {
  if (typeof text !== 'string' || !isBlobKey(text))
    throw new BlobError('not found', 'The text is not a key of a file.');
  return text;
}
