/** Problems by field, without the fields that have none: what `Invalid` is made of. */
export function problemsByField(fields: Readonly<Record<string, readonly string[]>>): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, problems]) => problems.length > 0)
      .map(([field, problems]) => [field, [...problems]]),
  );
}

/** Whether a text has more characters than that. Units: characters, not code units. */
export function isLongerThan(text: string, longest: number): boolean {
  // A character has one code unit or two, so most texts need no count.
  if (text.length <= longest) return false;
  if (text.length > longest * 2) return true;
  let count = 0;
  for (let at = 0; at < text.length; count += 1) at += text.codePointAt(at)! > LAST_OF_ONE_UNIT ? 2 : 1;
  return count > longest;
}
const LAST_OF_ONE_UNIT = 0xffff;

/** What is wrong with the length of a text, in the words of the API. Units: characters, not code units. */
export function lengthProblems(text: string, longest: number): string[] {
  return isLongerThan(text, longest) ? [`is too long (maximum is ${longest} characters)`] : [];
}

const SCHEMES = new Set(['http:', 'https:']);

/**
 * What is wrong with the address of a web page, in the words of the API. Hosts are not judged.
 * Shape: `longest` counts characters; `read` is the text as it is to be parsed, where it holds placeholders.
 */
export function webAddressProblems(text: string, longest: number, read = text): string[] {
  const tooLong = lengthProblems(text, longest);
  if (tooLong.length > 0) return tooLong;
  // A parser would take line breaks and blanks around away, which a browser may read otherwise.
  const isClean = text === text.trim() && !/[\u0000-\u001f\u007f]/.test(text);
  if (!isClean || !URL.canParse(read)) return ['must be a valid URL'];
  return SCHEMES.has(new URL(read).protocol) ? [] : ['is blocked: Only allowed schemes are http, https'];
}
