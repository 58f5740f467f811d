import { textBlocks } from './markdown-blocks';
import { REFERENCES_PER_TEXT } from './references';
import type { Reference } from './references';

/** Verb that closes an issue, with a lower-case or upper-case first letter. */
const VERB =
  /(?<!\w)(?:[Cc]los(?:e[sd]?|ing)|[Ff]ix(?:es|ed|ing)?|[Rr]esolv(?:e[sd]?|ing)|[Ii]mplement(?:s|ed|ing)?):? +/g;
const NOUN = /issues? +/y;
const NAME = '[a-zA-Z0-9_](?:[a-zA-Z0-9_.-]{0,253}[a-zA-Z0-9_-])?';
const PATH = `${NAME}(?:/${NAME}){0,20}`;
const NUMBER = '([1-9]\\d{0,14})(?![\\w-])';
const SHORT = new RegExp(`(${PATH})?#${NUMBER}`, 'y');
const ADDRESS = new RegExp(`/(${PATH})/(?:-/)?(?:issues|work_items)/${NUMBER}`, 'y');
/** Separator between two references of a list: nothing, blanks, a comma or `and`. */
const BETWEEN = / *(?:, *)?(?:and +)?/y;

/**
 * Finds the references to issues that a text closes: `Closes #7`, `Fixes group/project#7, #8 and #9`,
 * `Resolved: issue #7`, or with the URL of an issue instead of its number. Ignores code. Returns each reference once,
 * in the order of the text. `webUrl` is the URL of the instance, without a trailing slash.
 * Source: reference work-tracking 2.7.
 */
export function findClosingReferences(markdown: string, webUrl: string): Reference[] {
  const found = new Map<string, Reference>();
  for (const { text } of textBlocks(markdown)) {
    for (const verb of text.matchAll(VERB)) {
      for (const reference of parseConsecutiveReferences(text, verb.index + verb[0].length, webUrl)) {
        const key = `${reference.path?.toLowerCase() ?? ''}#${reference.number}`;
        if (!found.has(key)) found.set(key, reference);
        if (found.size === REFERENCES_PER_TEXT) return [...found.values()];
      }
    }
  }
  return [...found.values()];
}

/** Yields the consecutive references from a position of the text on. */
function* parseConsecutiveReferences(text: string, start: number, webUrl: string): Generator<Reference> {
  for (let at = start; ;) {
    at += matchAt(NOUN, text, at)?.[0].length ?? 0;
    const isAddress = text.startsWith(`${webUrl}/`, at);
    const match = isAddress ? matchAt(ADDRESS, text, at + webUrl.length) : matchAt(SHORT, text, at);
    if (!match) return;
    yield { path: match[1] ?? null, sigil: '#', number: Number(match[2]) };
    at += (isAddress ? webUrl.length : 0) + match[0].length;
    at += matchAt(BETWEEN, text, at)?.[0].length ?? 0;
  }
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
