import { textBlocks } from './markdown-blocks';

/**
 * Reference in a text to a noteable by its number. `path` is the project's path as written, null for the project of the
 * text.
 */
export interface Reference {
  readonly path: string | null;
  readonly sigil: string;
  readonly number: number;
}

/** Maximum number of references of one text; later ones are ignored. Source: reference work-tracking 2.7. */
export const REFERENCES_PER_TEXT = 50;

/**
 * Maximum length of a path in a reference. A full path may have 21 parts of 255, but such long paths do not occur.
 * Units: UTF-16 code units.
 */
const LONGEST_PATH = 1024;
const NAME = '[a-zA-Z0-9_](?:[a-zA-Z0-9_.-]{0,253}[a-zA-Z0-9_-])?';
const PATH = new RegExp(`^${NAME}(?:/${NAME}){0,20}$`);
/** Character before a path that is not part of another word, URL or path. */
const BEFORE_PATH = /^[^\w@#!&$./\ufffc-]?$/u;

/**
 * Finds the references of a Markdown text outside of code: `#7`, `project#7`, `group/project#7`. Returns each reference
 * once, in the order of the text. `sigils` are the sigils of the kinds that can be referred to by number.
 * Source: reference work-tracking 2.7.
 */
export function findReferences(markdown: string, sigils: readonly string[]): Reference[] {
  const found = new Map<string, Reference>();
  if (!sigils.some((sigil) => markdown.includes(sigil))) return [];
  const pattern = new RegExp(`([${sigils.map((sigil) => `\\${sigil}`).join('')}])([1-9]\\d{0,14})(?![\\w-])`, 'g');
  for (const { text } of textBlocks(markdown)) {
    for (const { 1: sigil, 2: digits, index } of text.matchAll(pattern)) {
      const path = findPathBeforeSigil(text, index);
      if (path === undefined) continue;
      const key = `${path?.toLowerCase() ?? ''}${sigil}${digits}`;
      if (!found.has(key)) found.set(key, { path, sigil: sigil!, number: Number(digits) });
      if (found.size === REFERENCES_PER_TEXT) return [...found.values()];
    }
  }
  return [...found.values()];
}

/**
 * Returns the path before a sigil. Returns null if there is none; undefined if the preceding text means that this is
 * not a reference.
 */
function findPathBeforeSigil(text: string, index: number): string | null | undefined {
  const before = text.slice(Math.max(0, index - LONGEST_PATH), index);
  let start = before.length;
  while (start > 0 && /[\w./-]/.test(before[start - 1]!)) start--;
  if (start === 0 && before.length === LONGEST_PATH) return undefined;
  const path = before.slice(start);
  if (!BEFORE_PATH.test(before.slice(Math.max(0, start - 1), start))) return undefined;
  if (path === '') return null;
  return PATH.test(path) ? path : undefined;
}
