/** Units: characters. */
const LONGEST = 256;
/** Between ids; `,,` would be an id without a character. */
const NOT_ALLOWED = /[\n\r\t]|,,/;

/**
 * Ids of users of some application, in one text with commas between them. Shape: each at most 256 characters, without
 * blanks around it, and not twice; the empty text holds none. Source: reference packages-and-admin 9.1.
 */
export function areUserXids(text: string): boolean {
  if (text === '') return true;
  if (NOT_ALLOWED.test(text)) return false;
  const ids = text.split(',');
  return (
    new Set(ids).size === ids.length && ids.every((id) => id !== '' && id.trim() === id && [...id].length <= LONGEST)
  );
}

/** What is said of a text that they cannot be. */
export const USER_XIDS_RULE = 'must be a string of unique comma separated values each 256 characters or less';
