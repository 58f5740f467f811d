import { InvalidParameters } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';

/** Whether a `sudo` value names no user. */
export function isBlankSudo(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

const LIKE_SUDO = /^[\W_]*sudo[\W_]*$/i;
const IS_PLAIN = /^[\w.[\]-]*$/;
/** Whether a parameter name means `sudo`, in any spelling or encoding. No other parameter has a similar name. */
export function isSudoSpelling(name: string): boolean {
  if (LIKE_SUDO.test(name)) return true;
  return !IS_PLAIN.test(name) && LIKE_SUDO.test(normalizeParamName(name));
}

/** Encoded word of RFC 2047, as some tools write names of parts. Blanks between two encoded words are dropped. */
const ENCODED_WORD = /=\?[^?\s]*\?([bq])\?([^?\s]*)\?=(?:\s+(?==\?))?/gi;
const QUOTED_BYTE = /=([0-9a-f]{2})/gi;
const BYTE = /%([0-9a-f]{2})/gi;
/** Invisible characters: control and format characters (including the NUL bytes of UTF-16), backslashes and accents. */
const INVISIBLE = /[\p{C}\p{M}\\]/gu;
function normalizeParamName(name: string): string {
  const worded = name.replace(ENCODED_WORD, (_, how: string, word: string) =>
    how.toLowerCase() === 'b' ? decodeBase64(word) : word.replace(QUOTED_BYTE, hexToCharacter),
  );
  const once = worded.replace(BYTE, hexToCharacter);
  return once.normalize('NFKD').replace(INVISIBLE, '');
}

const hexToCharacter = (_: string, hex: string): string => String.fromCharCode(parseInt(hex, 16));
const decodeBase64 = (text: string): string => Buffer.from(text, 'base64').toString('latin1');

/**
 * Refuses requests with a `sudo` that the gateway did not read. The gateway reads few spellings. A request with another
 * one means to act as another user and must not be executed as the caller. `sources` are parameters by name.
 * Errors: InvalidParameters. Source: reference identity-and-import 1.4.
 */
export function refuseUnreadSudo({ isBySudo }: Viewer, ...sources: readonly Readonly<Record<string, unknown>>[]): void {
  if (isBySudo) return;
  for (const source of sources) {
    const hasSudo = Object.keys(source).some((name) => isSudoSpelling(name) && !isBlankSudo(source[name]));
    if (!hasSudo) continue;
    throw new InvalidParameters(['sudo cannot be read here, it can be sent in the query or as a header']);
  }
}

const ESCAPES = /%([0-9a-f]{2})|\\u00([0-9a-f]{2})/gi;
/**
 * Whether a form body is really JSON that may contain `sudo`. Some tools send JSON as a form. No form parameter begins
 * with a bracket or brace, and such JSON is not parsed.
 */
export function mayFormBeJsonWithSudo(formBody: string): boolean {
  if (!/^\s*(?:[[{]|%[57]b)/i.test(formBody)) return false;
  const plain = formBody.replace(ESCAPES, (_, inForm?: string, inJson?: string) =>
    String.fromCharCode(parseInt(inForm ?? inJson!, 16)),
  );
  return /sudo/i.test(plain);
}

const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g;
/** Prefix that no parameter name has. */
const MARK = '\0';

/**
 * Returns the values of every `sudo` of a JSON object, in any spelling. A parser keeps only the last of a repeated
 * name. `content` must be valid JSON, so that a string before a colon is a name.
 */
export function findSudoValues(content: string): readonly unknown[] {
  const numbered = content.replace(STRING, (found: string, colon: string | undefined, at: number) => {
    if (colon === undefined || !isSudoSpelling(JSON.parse(found.slice(0, -colon.length)) as string)) return found;
    return `${JSON.stringify(MARK + at)}:`;
  });
  const named = Object.entries(JSON.parse(numbered) as Record<string, unknown>);
  return named.flatMap(([name, value]) => (name.startsWith(MARK) ? [value] : []));
}

/** Returns the first `sudo` of a JSON object that is not blank; undefined for none. */
export function findEffectiveSudo(content: string): unknown {
  return findSudoValues(content).find((value) => !isBlankSudo(value));
}

const NAMED_PART = /content-disposition[ \t]*:[^\n]*(?:\n[ \t][^\n]*)*/gi;
const NAME = /\bname[ \t]*(?:\*[ \t]*(\d*)[ \t*]*)?=[ \t]*("(?:[^"\\]|\\.)*"?|[^;\s]*)/gi;
/** Charset and language before an extended value (RFC 2231). */
const CODED = /^([\w-]*)'[\w-]*'/;
/** Longest header that may be split between two chunks. Units: characters. */
const OVERLAP = 2048;

/**
 * Scans a multipart body for part headers that name `sudo`, anywhere in the body. The parser ignores parts with another
 * disposition, headers inside parts, text before the first and after the last part, and the second of two names.
 */
export class MultipartSudoScanner {
  private tail = '';
  hasSudo = false;

  addChunk(chunk: Buffer): void {
    const text = this.tail + chunk.toString('latin1');
    this.hasSudo ||= (text.match(NAMED_PART) ?? []).some(isPartNamedSudo);
    this.tail = text.slice(-OVERLAP);
  }
}

/** Whether a part header names `sudo`. A name in pieces (`name*0=su; name*1=do`) is joined by their numbers. */
function isPartNamedSudo(partHeader: string): boolean {
  const pieces = [...partHeader.matchAll(NAME)].map(([, at, value]) => ({
    at: Number(at || 0),
    name: decodeMultipartFieldName(value!),
  }));
  const inOrder = pieces.toSorted((one, other) => one.at - other.at).map(({ name }) => name);
  return [...inOrder, inOrder.join('')].some(isSudoSpelling);
}

/** Decodes a name. The multipart parser accepts `base64` as a charset too. */
function decodeMultipartFieldName(value: string): string {
  const bare = value.replace(/^"|"$/g, '');
  const [coding, characters] = CODED.exec(bare) ?? [''];
  const name = bare.slice(coding.length);
  return characters?.toLowerCase() === 'base64' ? decodeBase64(name) : name;
}
