import { matchesWildcard, Refused } from '@rookery/kernel';
import { RE2JS } from 're2js';

/** Whether a short name of a branch or tag belongs to a list. */
export type NameFilter = (name: string) => boolean;

/**
 * Returns the filter of a search: `^x` for names that begin with the text, `x$` for names that end with it, `^x$` for
 * the name itself, otherwise names that contain it. `*` stands for any run of characters. The case is ignored.
 * Source: reference repositories 5.1.
 */
export function createRefSearchFilter(search: string): NameFilter {
  const isStart = search.startsWith('^');
  const isEnd = search.endsWith('$');
  const text = search.slice(isStart ? 1 : 0, isEnd ? -1 : undefined).toLowerCase();
  const pattern = `${isStart ? '' : '*'}${text}${isEnd ? '' : '*'}`;
  return (name) => matchesWildcard(pattern, name.toLowerCase());
}

/**
 * Returns the filter of a regular expression in the syntax of RE2, whose time is linear for any expression.
 * Errors: Refused for an expression that is malformed or too large. Source: reference repositories 5.1.
 */
export function createRefRegexFilter(regex: string): NameFilter {
  const compiled = compileRefSearchPattern(regex);
  return (name) => compiled.matcher(name).find();
}

function compileRefSearchPattern(regex: string): RE2JS {
  try {
    return RE2JS.compile(regex);
  } catch {
    throw new Refused('Regex is invalid', { verbatim: true });
  }
}

/** Moves the ref whose name is the searched text to the front. */
export function moveExactRefMatchFirst<T extends { readonly shortName: string }>(
  refs: readonly T[],
  search: string,
): T[] {
  const isExact = ({ shortName }: T): boolean => shortName.toLowerCase() === search.toLowerCase();
  const index = refs.findIndex(isExact);
  return index <= 0 ? [...refs] : [refs[index]!, ...refs.slice(0, index), ...refs.slice(index + 1)];
}
