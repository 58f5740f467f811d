import { textBlocks } from './markdown-blocks';
import { REFERENCES_PER_TEXT } from './references';
import type { Reference } from './references';

/** A word that says that something is done, with a small or a capital first letter. */
const VERB =
  /(?<!\w)(?:[Cc]los(?:e[sd]?|ing)|[Ff]ix(?:es|ed|ing)?|[Rr]esolv(?:e[sd]?|ing)|[Ii]mplement(?:s|ed|ing)?):? +/g;
const NOUN = /issues? +/y;
const NAME = '[a-zA-Z0-9_](?:[a-zA-Z0-9_.-]{0,253}[a-zA-Z0-9_-])?';
const PATH = `${NAME}(?:/${NAME}){0,20}`;
const NUMBER = '([1-9]\\d{0,14})(?![\\w-])';
const SHORT = new RegExp(`(${PATH})?#${NUMBER}`, 'y');
const ADDRESS = new RegExp(`/(${PATH})/-/issues/${NUMBER}`, 'y');
/** Nothing, blanks, a comma or `and` between two of one list. */
const BETWEEN = / *(?:, *)?(?:and +)?/y;

/**
 * The issues that a text says are done: `Closes #7`, `Fixes group/project#7, #8 and #9`, `Resolved: issue #7`, or the
 * address of an issue in the place of its number. Shape: each once, in the order of the text, outside of code; `webUrl` is
 * where the instance is, without a slash at its end.
 * Source: reference work-tracking 2.7.
 */
export function closingReferencesIn(markdown: string, webUrl: string): Reference[] {
  const found = new Map<string, Reference>();
  for (const { text } of textBlocks(markdown)) {
    for (const verb of text.matchAll(VERB)) {
      for (const reference of listAt(text, verb.index + verb[0].length, webUrl)) {
        const key = `${reference.path?.toLowerCase() ?? ''}#${reference.number}`;
        if (!found.has(key)) found.set(key, reference);
        if (found.size === REFERENCES_PER_TEXT) return [...found.values()];
      }
    }
  }
  return [...found.values()];
}

/** The references that stand at a place of the text, one behind the other. */
function* listAt(text: string, start: number, webUrl: string): Generator<Reference> {
  for (let at = start; ;) {
    at += taken(NOUN, text, at)?.[0].length ?? 0;
    const isAddress = text.startsWith(`${webUrl}/`, at);
    const named = isAddress ? taken(ADDRESS, text, at + webUrl.length) : taken(SHORT, text, at);
    if (!named) return;
    yield { path: named[1] ?? null, sigil: '#', number: Number(named[2]) };
    at += (isAddress ? webUrl.length : 0) + named[0].length;
    at += taken(BETWEEN, text, at)?.[0].length ?? 0;
  }
}

function taken(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
