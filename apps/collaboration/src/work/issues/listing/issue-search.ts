import type { Bind } from '@rookery/persistence';
import type { IssueFilter } from './issue-filter';

const MAX_WORDS = 20;
/** So many issues that have the words are looked up one by one; where there are more, the list is walked in its order. */
const FEW = 10_000;
/** What has trigrams everywhere: a database of locale C takes no other letters for letters. */
const HAS_TRIGRAMS = /[a-z0-9]{3}/i;

/** The words that a search asks for; none for blanks. */
export function wordsOf(text = ''): readonly string[] {
  return text.split(/\s+/).filter(Boolean).slice(0, MAX_WORDS);
}

const hasTrigrams = (word: string): boolean => HAS_TRIGRAMS.test(word);
const patternOf = (word: string): string => `***=${word}`;
const wordParameter = (at: number): string => `word_${at + 1}`;
/** Looked at row by row: for a word without trigrams the index would be read whole. */
const UNINDEXED = `(t.text || '')`;

/**
 * Searches of a kind are one statement. Shape: the end of its name, and the values that `foundByWords` binds; null for a
 * search that looks in one of the texts, and for none.
 */
export function keptSearch(
  filter: IssueFilter,
): { readonly name: string; readonly values: Readonly<Record<string, string>> } | null {
  const words = wordsOf(filter.search);
  if (words.length === 0 || !isOfBoth(filter)) return null;
  const name = words.map((word) => (hasTrigrams(word) ? 't' : 's')).join('');
  return { name, values: Object.fromEntries(words.map((word, at) => [wordParameter(at), patternOf(word)])) };
}

/** Are words looked for in title and description? */
export function isOfBoth({ searchIn }: IssueFilter): boolean {
  return !searchIn?.length || (searchIn.includes('title') && searchIn.includes('description'));
}

/** How a list finds the issues that have the words it asks for. Shape: SQL texts. */
export interface FoundByWords {
  /** `found (issue_id, project_id)`: as many of them as are looked up one by one, and one more. */
  readonly with: string;
  /** Boolean: there are no more than that. */
  readonly areFew: string;
  /** Boolean: the issue `own` has the words. */
  readonly hasThem: string;
}

/**
 * Finds issues by what `issue_texts` holds of them. Words hold no blanks, so one that stands in both texts together stands in
 * one of them; a search in one of them still has to look at that. Words are plain characters of a regular expression, which
 * takes no time where a text is made for it, and hidden from the planner, which would guess by their length how many issues have
 * them. Shape: `projects` is a FROM clause of `a.project_id`, null for all there are.
 * Source: docs/performance.md 8; ADR 0161.
 */
export function foundByWords({ search }: IssueFilter, bind: Bind, projects: string | null): FoundByWords | null {
  const words = wordsOf(search);
  if (words.length === 0 || (projects === null && !words.some(hasTrigrams))) return null;
  const has = words
    .map((word, at) => {
      const pattern = bind(patternOf(word), wordParameter(at));
      return `${hasTrigrams(word) ? 't.text' : UNINDEXED} ~ (select lower(${pattern}::text))`;
    })
    .join(' and ');
  const texts = (place: string): string =>
    `select t.issue_id, t.project_id from issue_texts t where ${place}${has} offset 0`;
  const found =
    projects === null
      ? `(${texts('')}) t`
      : `${projects} cross join lateral (${texts('t.project_id = a.project_id and ')}) t`;
  return {
    with: `found as materialized (select t.issue_id, t.project_id from ${found} limit ${FEW + 1})`,
    areFew: `(select count(*) from found) <= ${FEW}`,
    hasThem: `exists (select 1 from (select t.text from issue_texts t where t.issue_id = own.id offset 0) t where ${has})`,
  };
}
