import { compile, valuesOf } from './named-parameters';
import type { NamedValues } from './named-parameters';

/**
 * Adds a value and gives its parameter: `:author_id`. Shape: within a filter the name is that of the filter, unless another
 * is given; a name that is taken gets a number. Lists whose values are numbered give `$3`.
 */
export type Bind = (value: unknown, name?: string) => string;

/** Values of a text: by the names of its parameters (`:viewer`), or by their numbers (`$1`). */
export type Values = NamedValues | readonly unknown[];

/** A boolean SQL expression; as a function it brings its own values. */
export type Condition = string | ((bind: Bind) => string);

/** The condition that a parameter asks for, false when it asks for none. Shape: `asked` are all the parameters. */
export type Filter<V, P = unknown> = (value: V, bind: Bind, asked: P) => string | false;

/**
 * What a list can be narrowed by: a condition for a parameter, under the parameter's name.
 * Shape: a parameter that is missing or null asks for nothing.
 */
export type Filters<P> = { readonly [K in keyof P]?: Filter<NonNullable<P[K]>, P> };

/** Filters that leave out no parameter: for a class of parameters that are all filters. */
export type AllFilters<P> = { readonly [K in keyof P]-?: Filter<NonNullable<P[K]>, P> };

/** The filters that most lists are made of. Shape: columns are SQL expressions. */
export const filter = {
  equals:
    (column: string): Filter<unknown> =>
    (value, bind) =>
      `${column} = ${bind(value)}`,
  compares:
    (column: string, operator: '<' | '>' | '<=' | '>='): Filter<unknown> =>
    (value, bind) =>
      `${column} ${operator} ${bind(value)}`,
  /** Part of one of the columns, ignoring case. An empty text asks for nothing. */
  contains:
    (...columns: readonly string[]): Filter<string> =>
    (text, bind) =>
      text !== '' && partOf(columns, bind(containing(text))),
  /** Part of a short text or of the beginning of a long one, ignoring case. An empty text asks for nothing. */
  containsIn:
    (texts: SearchedTexts): Filter<string> =>
    (text, bind) =>
      text !== '' && wordsIn(texts, [text], bind),
  /** None of these ids. */
  noneOf:
    (column: string): Filter<readonly number[]> =>
    (ids, bind) =>
      ids.length > 0 && `${column} <> all(${bind(ids)}::bigint[])`,
  /** A flag that asks for nothing while it is not set. */
  when:
    (condition: string): Filter<boolean> =>
    (isAsked) =>
      isAsked && condition,
  /** A flag that asks for the opposite when it is false. */
  whether:
    (condition: string): Filter<boolean> =>
    (isAsked) =>
      isAsked ? condition : `not ${condition}`,
} as const;

/** A pattern that finds the text anywhere. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}

/** An expression to sort by: equal to the text, then beginning so, then the rest. Shape: `text` is a place. */
export function nearness(text: string, columns: readonly string[]): string {
  const equal = columns.map((column) => `lower(${column}) = lower(${text})`);
  const begun = columns.map((column) => `starts_with(lower(${column}), lower(${text}))`);
  return `case when ${equal.join(' or ')} then 0 when ${begun.join(' or ')} then 1 else 2 end`;
}

/**
 * Boolean SQL: one of the columns has the text, ignoring case. The pattern is folded once: ILIKE would fold it again for
 * every row, so that a text of 15,000 characters costs a hundred times as much as a short one.
 * Shape: `pattern` is the place of what `containing` gives.
 */
export function partOf(columns: readonly string[], pattern: string): string {
  return `(${columns.map((column) => `lower(${column}) like lower(${pattern})`).join(' or ')})`;
}

/** What is searched. Shape: SQL expressions; a short one holds some hundred characters at most. */
export interface SearchedTexts {
  readonly short: readonly string[];
  readonly long: readonly string[];
}

/** How much of a long text is searched. Units: characters. Source: reference identity-and-import 1.2; ADR 0161. */
export const SEARCHED_LENGTH = 65_536;

/**
 * Boolean SQL: each of the words stands in one of the texts, ignoring case. Texts are unpacked and folded once, however
 * many words there are. In long ones words are looked for as regular expressions of plain characters: LIKE may compare
 * each character of the word at each place of the text, which takes seconds where a text is made for it.
 */
export function wordsIn({ short, long }: SearchedTexts, words: readonly string[], bind: Bind): string {
  const folded = [
    ...short.map((text, index) => `lower(${text}) as short_${index}`),
    ...long.map((text, index) => `lower(left(${text}, ${SEARCHED_LENGTH})) as long_${index}`),
  ];
  const found = words.map((word) => {
    const [pattern, plain] = [short.length > 0 && bind(containing(word)), long.length > 0 && bind(`***=${word}`)];
    const places = [
      ...short.map((_, index) => `folded.short_${index} like lower(${pattern})`),
      ...long.map((_, index) => `folded.long_${index} ~ lower(${plain})`),
    ];
    return `(${places.join(' or ')})`;
  });
  return `exists (select 1 from (select ${folded.join(', ')} offset 0) folded where ${found.join(' and ')})`;
}

const PLACE = /\$(\d+)/g;

/** Numbers of the places in a text, each once, in order. */
export function placesIn(text: string): readonly number[] {
  const numbers = new Set([...text.matchAll(PLACE)].map((match) => Number(match[1])));
  return [...numbers].sort((a, b) => a - b);
}

/** The text with these places numbered from 1 on. */
export function renumbered(text: string, places: readonly number[]): string {
  if (places.at(-1) === places.length) return text;
  const numbers = new Map(places.map((place, index) => [String(place), index + 1]));
  return text.replace(PLACE, (_, place: string) => `$${numbers.get(place)!}`);
}

/** A text and the values of its parameters; there may be more values than parameters. */
export interface Draft {
  readonly text: string;
  readonly values: Values;
}

/**
 * The statement with those values only that have a parameter in its text: a count needs fewer values than its page, and
 * PostgreSQL refuses values that it cannot place. Errors: a plain Error for a named parameter without a value.
 */
export function fitted({ text: sql, values }: Draft): Fitted {
  if (!isNumbered(values)) {
    const { text, names } = compile(sql);
    return { text, values: valuesOf(names, values, 'a statement'), names };
  }
  const places = placesIn(sql);
  return { text: renumbered(sql, places), values: places.map((place) => values[place - 1]) };
}

/** What `fitted` makes of a draft. */
export interface Fitted {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly names?: readonly string[];
}

export function isNumbered(values: Values): values is readonly unknown[] {
  return Array.isArray(values);
}
