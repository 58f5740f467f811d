/** Values of an SQL text. The keys are the names of its parameters; there may be surplus keys. */
export type NamedValues = object;

/** SQL with numbered parameters. `names[0]` is the name of `$1`. */
export interface Compiled {
  readonly text: string;
  readonly names: readonly string[];
}

/** Characters that need attention: of parameters and casts, of constructs that may contain colons, and brackets. */
const MARKS = [':', `'`, '"', '--', '/*', '$', '[', ']'] as const;
const NAME = /[A-Za-z_]\w*/y;

/**
 * Compiles named parameters (`:viewer`) to numbered ones, counted in the order of their first use. A colon means a
 * parameter unless it belongs to a cast (`::`), a string, a quoted name, a comment, a dollar quote or a JSON key
 * (`'key':value`). In a subscript it separates the bounds of a slice, so a parameter there has parentheses:
 * `ids[1:(:count)]`. A call or a column there is a bound: `ids[1:array_length(ids, 1)]`.
 * Errors: a plain Error for numbered parameters, for an ambiguous colon, and for a string, a comment or a dollar quote
 * without an end.
 */
export function compileNamedParameters(sql: string): Compiled {
  const numbers = new Map<string, number>();
  const brackets: OpenBracket[] = [];
  const marks = new MarkFinder(sql);
  let text = '';
  let done = 0;
  for (let at = marks.nextMark(0); at < sql.length;) {
    let end = at + 1;
    if (sql[at] === '[') brackets.push({ at, isArray: isArrayBracket(sql, at, brackets) });
    else if (sql[at] === ']') brackets.pop();
    else if (sql[at] !== ':') end = endOfOpaqueText(sql, at);
    else {
      const name = readParameterName(sql, at, brackets.at(-1));
      if (name !== null) {
        const number = numbers.get(name) ?? numbers.size + 1;
        numbers.set(name, number);
        text += `${sql.slice(done, at)}$${number}`;
        done = end = at + 1 + name.length;
      }
    }
    at = marks.nextMark(end);
  }
  return { text: text + sql.slice(done), names: [...numbers.keys()] };
}

/**
 * The values of the parameters, in the order of their numbers. Errors: a plain Error for a parameter without a value.
 */
export function orderValues(names: readonly string[], params: NamedValues, subject: string): unknown[] {
  const values = new Array<unknown>(names.length);
  for (let at = 0; at < names.length; at += 1) {
    const value = (params as Readonly<Record<string, unknown>>)[names[at]!];
    // pg would send null, and PostgreSQL would find nothing.
    if (value === undefined) throw new Error(`${subject} lacks a value of :${names[at]!}`);
    values[at] = value;
  }
  return values;
}

/** SQL with the names of its parameters instead of their numbers. */
export function restoreParameterNames(text: string, names: readonly string[]): string {
  return text.replace(/\$(\d+)/g, (place, number: string) => `:${names[Number(number) - 1] ?? place}`);
}

/** Finds marks in order. A search for each mark is several times as fast as a check of every character. */
class MarkFinder {
  private readonly next = MARKS.map(() => -1);

  constructor(private readonly sql: string) {}

  /** The position of the first mark from there on; Infinity if there is none. */
  nextMark(from: number): number {
    let first = Infinity;
    for (let at = 0; at < MARKS.length; at += 1) {
      let place = this.next[at]!;
      if (place < from) {
        const found = this.sql.indexOf(MARKS[at]!, from);
        this.next[at] = place = found < 0 ? Infinity : found;
      }
      if (place < first) first = place;
    }
    return first;
  }
}

interface OpenBracket {
  readonly at: number;
  /** The bracket begins an array (`array[…]`), not a subscript. */
  readonly isArray: boolean;
}

function isArrayBracket(sql: string, at: number, brackets: readonly OpenBracket[]): boolean {
  const before = sql.slice(0, at).trimEnd();
  if (/\barray$/i.test(before.slice(-6))) return true;
  // A nested array has no keyword of its own.
  return /[[,]$/.test(before) && brackets.at(-1)?.isArray === true;
}

/** The name of the parameter that begins at this colon; null for any other colon. */
function readParameterName(sql: string, at: number, bracket: OpenBracket | undefined): string | null {
  const before = sql[at - 1] ?? '';
  if (before === ':' || before === `'` || before === '"') return null;
  NAME.lastIndex = at + 1;
  const name = NAME.exec(sql)?.[0];
  if (name === undefined) return null;
  const isBound = bracket !== undefined && !bracket.isArray && !hasOpenParenthesis(sql.slice(bracket.at, at));
  // A call or a qualified column, which no parameter looks like.
  if (isBound && /[(.]/.test(sql[NAME.lastIndex] ?? '')) return null;
  if (isBound || /[\w$\])]/.test(before)) {
    throw new Error(`:${name} in "${sql.slice(Math.max(0, at - 20), NAME.lastIndex)}" may be a parameter or a bound`);
  }
  return name;
}

function hasOpenParenthesis(sql: string): boolean {
  return sql.split('(').length > sql.split(')').length;
}

/**
 * Returns the position after the string, quoted name, comment or dollar quote that begins at `at`. Returns `at + 1` if
 * none begins there. Errors: a plain Error if it has no end, and for a numbered parameter.
 */
function endOfOpaqueText(sql: string, at: number): number {
  switch (sql[at]) {
    case `'`:
      return isEscapeString(sql, at) ? endOfEscapeString(sql, at) : findTerminatorEnd(sql, `'`, at, 1);
    case '"':
      return findTerminatorEnd(sql, '"', at, 1);
    case '-':
      return findTerminatorEnd(`${sql}\n`, '\n', at, 2);
    case '/':
      return endOfComment(sql, at);
    default:
      return endOfDollarQuote(sql, at);
  }
}

/** A doubled quote ends the string and begins the next, with the same result. */
function findTerminatorEnd(sql: string, terminator: string, at: number, skipped: number): number {
  const found = sql.indexOf(terminator, at + skipped);
  if (found < 0) throw new Error(`"${sql.slice(at, at + 20)}" has no end`);
  return found + terminator.length;
}

/** Whether the string is E'…', where a backslash escapes a quote. */
function isEscapeString(sql: string, at: number): boolean {
  return /(?<![\w$])e$/i.test(sql.slice(Math.max(0, at - 2), at));
}

function endOfEscapeString(sql: string, start: number): number {
  let at = start + 1;
  while (at < sql.length && sql[at] !== `'`) at += sql[at] === '\\' ? 2 : 1;
  return findTerminatorEnd(sql, `'`, at - 1, 1);
}

/** Comments may be nested. */
function endOfComment(sql: string, start: number): number {
  const edge = /\/\*|\*\//g;
  edge.lastIndex = start;
  let depth = 0;
  for (let match = edge.exec(sql); match; match = edge.exec(sql)) {
    depth += match[0] === '/*' ? 1 : -1;
    if (depth === 0) return edge.lastIndex;
  }
  throw new Error(`"${sql.slice(start, start + 20)}" has no end`);
}

const DOLLARS = /\$(?:([A-Za-z_]\w*)?\$|\d+)/y;

/** The position behind a dollar quote. Errors: a plain Error for an open quote and for a numbered parameter. */
function endOfDollarQuote(sql: string, at: number): number {
  // A name may contain dollars.
  if (/[\w$]/.test(sql[at - 1] ?? '')) return at + 1;
  DOLLARS.lastIndex = at;
  const tag = DOLLARS.exec(sql)?.[0];
  if (tag === undefined) return at + 1;
  if (!tag.endsWith('$')) throw new Error(`${tag} has no name: parameters are named or numbered, not both`);
  return findTerminatorEnd(sql, tag, at, tag.length);
}
