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

const BYTE = /%([0-9a-f]{2})/gi;
/** Not seen: control and format characters, with those between the letters of UTF-16 among them; escapes; accents. */
const UNSEEN = /[\p{C}\p{M}\\]/gu;
function plainLetters(name: string): string {
  const once = name.replace(BYTE, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return once.normalize('NFKD').replace(UNSEEN, '');
}

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
 * The first `sudo` of an object that is not blank, of several however they are written: a parser keeps the last of one
 * name. Shape: `content` was parsed before, so a string before a colon is a name; undefined when there is none.
 */
export function meantSudoIn(content: string): unknown {
  const numbered = content.replace(STRING, (found: string, colon: string | undefined, at: number) => {
    if (colon === undefined || !isLikeSudo(JSON.parse(found.slice(0, -colon.length)) as string)) return found;
    return `${JSON.stringify(NTH + at)}:`;
  });
  const named = Object.entries(JSON.parse(numbered) as Record<string, unknown>);
  return named.find(([name, value]) => name.startsWith(NTH) && !isBlankSudo(value))?.[1];
}

const NAMED_PART = /content-disposition[ \t]*:[^\n]*(?:\n[ \t][^\n]*)*/gi;
const NAME = /\bname[ \t]*(?:\*[\d*]*)?=[ \t]*("(?:[^"\\]|\\.)*"?|[^;\s]*)/gi;
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

/** A name in pieces (`name*0=su; name*1=do`) is one. */
function isHeadOfSudo(head: string): boolean {
  const names = [...head.matchAll(NAME)].map(([, name]) => name!.replace(/^"|"$/g, '').replace(/^[\w-]*'[\w-]*'/, ''));
  return [...names, names.join('')].some(isLikeSudo);
}
