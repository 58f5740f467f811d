/** Units: characters. */
const LONGEST = 256;
/** Characters that are not allowed between ids, and `,,`, which would be an empty id. */
const NOT_ALLOWED = /[\n\r\t]|,,/;

/**
 * Whether a text is a valid list of external user ids. The ids are separated by commas and unique. Each has at most 256
 * characters and no surrounding blanks. An empty text is an empty list. Source: reference packages-and-admin 9.1.
 */
export function areUserXids(text: string): boolean {
  if (text === '') return true;
  if (NOT_ALLOWED.test(text)) return false;
  const ids = text.split(',');
  return (
    new Set(ids).size === ids.length && ids.every((id) => id !== '' && id.trim() === id && [...id].length <= LONGEST)
  );
}

/** Error message for an invalid list of external user ids. */
export const USER_XIDS_RULE = 'must be a string of unique comma separated values each 256 characters or less';
