import { RE2JS } from 're2js';

/** Longest pattern. Units: characters. */
const MAX_PATTERN = 255;

/**
 * Regular expressions of exceptions, in the syntax of RE2. Matching takes linear time whatever a user writes.
 * Source: reference packages-and-admin 4.7.
 */

/** Returns the problem of a pattern, as the end of an API error message, or null for a valid pattern. */
export function findDuplicateExceptionPatternProblem(pattern: string): string | null {
  if (pattern.length > MAX_PATTERN) return `is too long (maximum is ${MAX_PATTERN} characters)`;
  try {
    RE2JS.compile(pattern);
    return null;
  } catch {
    return 'is not valid RE2 syntax';
  }
}

/** Whether a pattern matches a whole text. The empty pattern matches no name. Errors: of the library for an invalid pattern. */
export function matchesDuplicateExceptionPattern(pattern: string, text: string): boolean {
  return pattern !== '' && compileCachedPattern(pattern).matches(text);
}

/** Compiled patterns. Compiling a pattern of many classes takes as long as a hundred matches. */
const cache = new Map<string, RE2JS>();
const MAX_CACHED = 100;

function compileCachedPattern(pattern: string): RE2JS {
  const known = cache.get(pattern) ?? RE2JS.compile(pattern);
  // The pattern that was not used for the longest time goes first.
  cache.delete(pattern);
  cache.set(pattern, known);
  if (cache.size > MAX_CACHED) cache.delete(cache.keys().next().value!);
  return known;
}
