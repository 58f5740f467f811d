import { InvalidParameters } from '@rookery/kernel';

/** A filter of the older protocol, as far as clients use it. An absent condition is null. */
export interface FeedFilter {
  /** Names of packages as the client wrote them. */
  readonly names: readonly string[] | null;
  readonly version: string | null;
  /** Restricts to the newest version of all, or to the newest release; null for all versions. */
  readonly latest: 'of all' | 'of releases' | null;
}

const MAX_LENGTH = 4096;
const MAX_NAMES = 50;
const NAME = /(?:tolower\(\s*Id\s*\)|\bId) eq '((?:[^']|'')*)'/gi;
const VERSION = /\b(?:Normalized)?Version eq '((?:[^']|'')*)'/gi;
const LATEST = /\b(IsLatestVersion|IsAbsoluteLatestVersion)\b(?: eq true)?/gi;

/**
 * Parses `$filter`: names joined by `or`, or one name, a version and the newest version joined by `and`. Each is optional.
 * Errors: InvalidParameters for other conditions.
 */
export function parseNugetFeedFilter(text: string): FeedFilter {
  const names: string[] = [];
  const versions: string[] = [];
  const latest: string[] = [];
  const take = (into: string[]) => (_: string, value: string) => {
    into.push(unquoteFeedText(`'${value}'`));
    return '+';
  };
  const isLong = text.length > MAX_LENGTH;
  const rest = isLong
    ? text
    : text.replace(NAME, take(names)).replace(VERSION, take(versions)).replace(LATEST, take(latest));
  const isUnderstood = /^(?:[\s()+]|\band\b|\bor\b)*$/.test(rest);
  const hasAlternatives = /\bor\b/.test(rest);
  const isAmbiguous = hasAlternatives ? versions.length + latest.length > 0 || /\band\b/.test(rest) : names.length > 1;
  if (isLong || !isUnderstood || isAmbiguous || names.length > MAX_NAMES || versions.length > 1 || latest.length > 1)
    throw new InvalidParameters(['$filter does not have a valid value']);
  const [kind] = latest;
  return {
    names: names.length > 0 ? names : null,
    version: versions[0] ?? null,
    latest: kind === undefined ? null : /absolute/i.test(kind) ? 'of all' : 'of releases',
  };
}

/** The text inside quotation marks, in which a doubled mark counts once; another text as it is. */
export function unquoteFeedText(text: string): string {
  const match = /^'(.*)'$/s.exec(text.trim());
  return match ? match[1]!.replaceAll("''", "'") : text;
}

/** Returns the key of `Packages(Id='…',Version='…')`, or null for another operation. */
export function parseNugetFeedPackageKey(
  operation: string,
): { readonly name: string; readonly version: string } | null {
  const match = /^Packages\(Id='((?:[^']|'')*)',\s*Version='((?:[^']|'')*)'\)$/.exec(operation);
  return match ? { name: unquoteFeedText(`'${match[1]!}'`), version: unquoteFeedText(`'${match[2]!}'`) } : null;
}
