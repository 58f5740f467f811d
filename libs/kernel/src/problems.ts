/** Problems by field without the fields that have none, as `Invalid` expects them. */
export function keepFieldsWithProblems(fields: Readonly<Record<string, readonly string[]>>): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, problems]) => problems.length > 0)
      .map(([field, problems]) => [field, [...problems]]),
  );
}

/** Whether a text is longer than the limit. Units: characters, not code units. */
export function isLongerThan(text: string, longest: number): boolean {
  // A character has one code unit or two, so most texts need no count.
  if (text.length <= longest) return false;
  if (text.length > longest * 2) return true;
  let count = 0;
  for (let at = 0; at < text.length; count += 1) at += text.codePointAt(at)! > LAST_OF_ONE_UNIT ? 2 : 1;
  return count > longest;
}
const LAST_OF_ONE_UNIT = 0xffff;

/** Length problems of a text, in the words of the API. Units: characters, not code units. */
export function lengthProblems(text: string, longest: number): string[] {
  return isLongerThan(text, longest) ? [`is too long (maximum is ${longest} characters)`] : [];
}

const SCHEMES = new Set(['http:', 'https:']);

/**
 * Problems of the address of a web page, in the words of the API. Hosts are not checked. `longest` counts characters.
 * `textToParse` is the text to parse, with its placeholders filled in.
 */
export function webAddressProblems(text: string, longest: number, textToParse = text): string[] {
  const tooLong = lengthProblems(text, longest);
  if (tooLong.length > 0) return tooLong;
  // A URL parser drops line breaks and surrounding blanks, while a browser may interpret them.
  const isClean = text === text.trim() && !/[\u0000-\u001f\u007f]/.test(text);
  if (!isClean || !URL.canParse(textToParse)) return ['must be a valid URL'];
  return SCHEMES.has(new URL(textToParse).protocol) ? [] : ['is blocked: Only allowed schemes are http, https'];
}
