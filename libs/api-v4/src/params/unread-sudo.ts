import { InvalidParameters } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';

/** Means nobody. */
export function isBlankSudo(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

const LIKE_SUDO = /^[\W_]*sudo[\W_]*$/i;
const IS_PLAIN = /^[\w.[\]-]*$/;
/** However it is written: nothing else has such a name. */
export function isLikeSudo(name: string): boolean {
  if (LIKE_SUDO.test(name)) return true;
  return !IS_PLAIN.test(name) && LIKE_SUDO.test(plainLetters(name));
}

/** A word of an e-mail's head (RFC 2047), as some tools write names of parts; blanks between two of them are none. */
const ENCODED_WORD = /=\?[^?\s]*\?([bq])\?([^?\s]*)\?=(?:\s+(?==\?))?/gi;
const QUOTED_BYTE = /=([0-9a-f]{2})/gi;
const BYTE = /%([0-9a-f]{2})/gi;
/** Not seen: control and format characters, with those between the letters of UTF-16 among them; escapes; accents. */
const UNSEEN = /[\p{C}\p{M}\\]/gu;
function plainLetters(name: string): string {
  const worded = name.replace(ENCODED_WORD, (_, how: string, word: string) =>
    how.toLowerCase() === 'b' ? fromBase64(word) : word.replace(QUOTED_BYTE, byte),
  );
  const once = worded.replace(BYTE, byte);
  return once.normalize('NFKD').replace(UNSEEN, '');
}

const byte = (_: string, hex: string): string => String.fromCharCode(parseInt(hex, 16));
const fromBase64 = (text: string): string => Buffer.from(text, 'base64').toString('latin1');

/**
 * The gateway acts on a `sudo` that it reads, and knows few ways to write one. Whoever sent it another way wants to be
 * somebody else, and gets nothing done as themselves. Shape: parameters by name; a blank one means nobody.
 * Errors: InvalidParameters. Source: reference identity-and-import 1.4.
 */
export function refuseUnreadSudo({ isBySudo }: Viewer, ...sources: readonly Readonly<Record<string, unknown>>[]): void {
  if (isBySudo) return;
  for (const source of sources) {
    const isMeant = Object.keys(source).some((name) => isLikeSudo(name) && !isBlankSudo(source[name]));
    if (!isMeant) continue;
    throw new InvalidParameters(['sudo cannot be read here, it can be sent in the query or as a header']);
  }
}

const ESCAPES = /%([0-9a-f]{2})|\\u00([0-9a-f]{2})/gi;
/**
 * Whether a form is JSON in truth, as it is sent without a content type by some tools, and may say whom to act as: no
 * parameter of a form begins so, and the JSON is not read.
 */
export function isJsonWithSudo(form: string): boolean {
  if (!/^\s*(?:[[{]|%[57]b)/i.test(form)) return false;
  const plain = form.replace(ESCAPES, (_, inForm?: string, inJson?: string) =>
    String.fromCharCode(parseInt(inForm ?? inJson!, 16)),
  );
  return /sudo/i.test(plain);
}

const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g;
/** No name of a parameter begins so. */
const NTH = '\0';

/**
 * Every `sudo` of an object, however it is written: a parser keeps the last of one name. Shape: `content` was parsed
 * before, so a string before a colon is a name.
 */
export function sudosIn(content: string): readonly unknown[] {
  const numbered = content.replace(STRING, (found: string, colon: string | undefined, at: number) => {
    if (colon === undefined || !isLikeSudo(JSON.parse(found.slice(0, -colon.length)) as string)) return found;
    return `${JSON.stringify(NTH + at)}:`;
  });
  const named = Object.entries(JSON.parse(numbered) as Record<string, unknown>);
  return named.flatMap(([name, value]) => (name.startsWith(NTH) ? [value] : []));
}

/** The first of several that is not blank; undefined when there is none. */
export function meantSudoIn(content: string): unknown {
  return sudosIn(content).find((value) => !isBlankSudo(value));
}

const NAMED_PART = /content-disposition[ \t]*:[^\n]*(?:\n[ \t][^\n]*)*/gi;
const NAME = /\bname[ \t]*(?:\*[ \t]*(\d*)[ \t*]*)?=[ \t]*("(?:[^"\\]|\\.)*"?|[^;\s]*)/gi;
/** Of a value that says in what it is written: its characters, then its language (RFC 2231). */
const CODED = /^([\w-]*)'[\w-]*'/;
/** Units: characters of a head that may lie in two chunks. */
const OVERLAP = 2048;

/**
 * Looks through a multipart body for heads of parts that name `sudo`, wherever they stand: a parser leaves out parts of
 * another disposition, what is within a part, and what comes before the first or after the last, and takes one of two
 * names.
 */
export class PartHeads {
  private tail = '';
  nameSudo = false;

  add(chunk: Buffer): void {
    const text = this.tail + chunk.toString('latin1');
    this.nameSudo ||= (text.match(NAMED_PART) ?? []).some(isHeadOfSudo);
    this.tail = text.slice(-OVERLAP);
  }
}

/** A name in pieces (`name*0=su; name*1=do`) is one, in whatever order they come. */
function isHeadOfSudo(head: string): boolean {
  const pieces = [...head.matchAll(NAME)].map(([, at, value]) => ({ at: Number(at || 0), name: nameIn(value!) }));
  const inOrder = pieces.toSorted((one, other) => one.at - other.at).map(({ name }) => name);
  return [...inOrder, inOrder.join('')].some(isLikeSudo);
}

/** One of our parsers takes base64 for characters, too. */
function nameIn(value: string): string {
  const bare = value.replace(/^"|"$/g, '');
  const [coding, characters] = CODED.exec(bare) ?? [''];
  const name = bare.slice(coding.length);
  return characters?.toLowerCase() === 'base64' ? fromBase64(name) : name;
}
