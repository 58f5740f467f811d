import { compileNamedParameters, orderValues } from './named-parameters';
import type { NamedValues } from './named-parameters';

/**
 * Adds a value and returns its parameter, such as `:author_id`. Within a filter the default name is that of the filter.
 * A taken name gets a number. Lists with numbered values return `$3`.
 */
export type Bind = (value: unknown, name?: string) => string;

/** Values of an SQL text: by the names of its parameters (`:viewer`), or by their numbers (`$1`). */
export type Values = NamedValues | readonly unknown[];

/** A boolean SQL expression; as a function it binds its own values. */
export type Condition = string | ((bind: Bind) => string);

/** Returns the condition for a request parameter, or false for none. `asked` contains all the parameters. */
export type Filter<V, P = unknown> = (value: V, bind: Bind, asked: P) => string | false;

/**
 * Filters of a list: a condition for each request parameter, under the parameter's name. A parameter that is missing or
 * null adds no condition.
 */
export type Filters<P> = { readonly [K in keyof P]?: Filter<NonNullable<P[K]>, P> };

/** Filters for every parameter of a class: for a class of parameters that are all filters. */
export type AllFilters<P> = { readonly [K in keyof P]-?: Filter<NonNullable<P[K]>, P> };

/** Filters that most lists need. Columns are SQL expressions. */
export const filter = {
  equals:
    (column: string): Filter<unknown> =>
    (value, bind) =>
      `${column} = ${bind(value)}`,
  compares:
    (column: string, operator: '<' | '>' | '<=' | '>='): Filter<unknown> =>
    (value, bind) =>
      `${column} ${operator} ${bind(value)}`,
  /** The text is part of one of the columns, ignoring case. An empty text adds no condition. */
  contains:
    (...columns: readonly string[]): Filter<string> =>
    (text, bind) =>
      text !== '' && containsSql(columns, bind(likePattern(text))),
  /**
   * The text is part of a short text or of the beginning of a long one, ignoring case. An empty text adds no condition.
   */
  containsIn:
    (texts: SearchedExpressions): Filter<string> =>
    (text, bind) =>
      text !== '' && searchCondition(texts, [text], bind),
  /** The column is none of these ids. */
  noneOf:
    (column: string): Filter<readonly number[]> =>
    (ids, bind) =>
      ids.length > 0 && `${column} <> all(${bind(ids)}::bigint[])`,
  /** A flag that adds its condition if it is true. */
  when:
    (condition: string): Filter<boolean> =>
    (isAsked) =>
      isAsked && condition,
  /** A flag that adds its condition if it is true, and the negated condition if it is false. */
  whether:
    (condition: string): Filter<boolean> =>
    (isAsked) =>
      isAsked ? condition : `not ${condition}`,
} as const;

/** Returns a LIKE pattern that finds the text anywhere. */
export function likePattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}

/**
 * An expression to sort by: columns equal to the text, then columns that begin with it, then others. `text` is a
 * parameter.
 */
export function similarityOrderSql(text: string, columns: readonly string[]): string {
  const equal = columns.map((column) => `lower(${column}) = lower(${text})`);
  const begun = columns.map((column) => `starts_with(lower(${column}), lower(${text}))`);
  return `case when ${equal.join(' or ')} then 0 when ${begun.join(' or ')} then 1 else 2 end`;
}

/**
 * A condition: one of the columns contains the text, ignoring case. The pattern is folded once: ILIKE would fold it
 * again for every row, so that a text of 15,000 characters costs a hundred times as much as a short one. `pattern` is
 * the parameter of a value from `likePattern`.
 */
export function containsSql(columns: readonly string[], pattern: string): string {
  return `(${columns.map((column) => `lower(${column}) like lower(${pattern})`).join(' or ')})`;
}

/** The searched texts, as SQL expressions. A short text has some hundred characters at most. */
export interface SearchedExpressions {
  readonly short: readonly string[];
  readonly long: readonly string[];
}

/** How much of a long text is searched. Units: characters. Source: reference identity-and-import 1.2; ADR 0161. */
const SEARCHED_LENGTH = 65_536;

/**
 * A condition: each of the words is in one of the texts, ignoring case. Texts are decompressed and folded once, however
 * many words there are. Long texts are searched by regular expressions of plain characters: LIKE may compare each
 * character of the word at each position of the text, which takes seconds for an adversarial text.
 */
export function searchCondition({ short, long }: SearchedExpressions, words: readonly string[], bind: Bind): string {
  const folded = [
    ...short.map((text, index) => `lower(${text}) as short_${index}`),
    ...long.map((text, index) => `lower(left(${text}, ${SEARCHED_LENGTH})) as long_${index}`),
  ];
  const found = words.map((word) => {
    const [pattern, plain] = [short.length > 0 && bind(likePattern(word)), long.length > 0 && bind(`***=${word}`)];
    const places = [
      ...short.map((_, index) => `folded.short_${index} like lower(${pattern})`),
      ...long.map((_, index) => `folded.long_${index} ~ lower(${plain})`),
    ];
    return `(${places.join(' or ')})`;
  });
  return `exists (select 1 from (select ${folded.join(', ')} offset 0) folded where ${found.join(' and ')})`;
}

const PLACE = /\$(\d+)/g;

/** Numbers of the parameters in a text, each once, in order. */
export function parameterNumbers(text: string): readonly number[] {
  const numbers = new Set([...text.matchAll(PLACE)].map((match) => Number(match[1])));
  return [...numbers].sort((a, b) => a - b);
}

/** The text with these parameters renumbered from 1. */
export function renumberParameters(text: string, places: readonly number[]): string {
  if (places.at(-1) === places.length) return text;
  const numbers = new Map(places.map((place, index) => [String(place), index + 1]));
  return text.replace(PLACE, (_, place: string) => `$${numbers.get(place)!}`);
}

/** An SQL text and the values of its parameters; there may be more values than parameters. */
export interface SqlDraft {
  readonly text: string;
  readonly values: Values;
}

/**
 * The statement with only those values that have a parameter in its text: a count needs fewer values than its page, and
 * PostgreSQL refuses surplus values. Errors: a plain Error for a named parameter without a value.
 */
export function toStatement({ text: sql, values }: SqlDraft): BoundText {
  if (!isNumbered(values)) {
    const { text, names } = compileNamedParameters(sql);
    return { text, values: orderValues(names, values, 'a statement'), names };
  }
  const places = parameterNumbers(sql);
  return { text: renumberParameters(sql, places), values: places.map((place) => values[place - 1]) };
}

/** The result of `toStatement`. */
export interface BoundText {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly names?: readonly string[];
}

export function isNumbered(values: Values): values is readonly unknown[] {
  return Array.isArray(values);
}
