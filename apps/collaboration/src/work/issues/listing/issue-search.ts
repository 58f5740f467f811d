import type { Bind } from '@rookery/persistence';
import type { IssueFilter } from './issue-filter';

const MAX_WORDS = 20;
/** Limit of matches that are looked up one by one; with more, the list is scanned in its order. */
const FEW = 10_000;
/** Characters that have trigrams in each locale: a database of locale C treats no other characters as letters. */
const HAS_TRIGRAMS = /[a-z0-9]{3}/i;

/** Splits a search text into words; returns none for blank text. */
export function splitSearchWords(text = ''): readonly string[] {
  return text.split(/\s+/).filter(Boolean).slice(0, MAX_WORDS);
}

const hasTrigrams = (word: string): boolean => HAS_TRIGRAMS.test(word);
const toLiteralPostgresRegex = (word: string): string => `***=${word}`;
const wordParameterName = (index: number): string => `word_${index + 1}`;
/** Expression that bypasses the index, for words without trigrams: they would need a scan of the whole index. */
const UNINDEXED = `(t.text || '')`;

/**
 * Returns the key of a search in title and description, since searches of the same form share one prepared statement.
 * The key is the suffix of the statement's name, and the values that `wordSearchSql` binds. Returns null without a
 * search, and for a search in only one of the texts.
 */
export function composeIssueSearchStatementKey(
  filter: IssueFilter,
): { readonly name: string; readonly values: Readonly<Record<string, string>> } | null {
  const words = splitSearchWords(filter.search);
  if (words.length === 0 || !searchesTitleAndDescription(filter)) return null;
  const name = words.map((word) => (hasTrigrams(word) ? 't' : 's')).join('');
  return {
    name,
    values: Object.fromEntries(words.map((word, at) => [wordParameterName(at), toLiteralPostgresRegex(word)])),
  };
}

/** Checks whether a search covers title and description. */
export function searchesTitleAndDescription({ searchIn }: IssueFilter): boolean {
  return !searchIn?.length || (searchIn.includes('title') && searchIn.includes('description'));
}

/** SQL fragments that find the issues with all words of a search. */
export interface WordSearch {
  /** CTE `found (issue_id, project_id)`: the matches. It stops one above the limit, for `areFew`. */
  readonly with: string;
  /** Boolean: the matches do not exceed that limit. */
  readonly areFew: string;
  /** Boolean: the issue `own` has the words. */
  readonly hasThem: string;
}

/**
 * Returns SQL that finds issues by `issue_texts`. Words hold no blanks, so that a word in the joined text is in one of
 * the two. A search in only one of them must check that again.
 * Words are literal regular expressions, whose time stays linear even for a text crafted against them. A subquery hides
 * them from the planner, which would guess the number of matches by the length of the words.
 * `projects` is a FROM clause of `a.project_id`, or null for all projects.
 * Source: docs/performance.md 8; ADR 0161.
 */
export function wordSearchSql({ search }: IssueFilter, bind: Bind, projects: string | null): WordSearch | null {
  const words = splitSearchWords(search);
  if (words.length === 0 || (projects === null && !words.some(hasTrigrams))) return null;
  const has = words
    .map((word, at) => {
      const pattern = bind(toLiteralPostgresRegex(word), wordParameterName(at));
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
