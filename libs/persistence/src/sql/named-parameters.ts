/** Values of a text. Shape: the keys are the names of its parameters; there may be more of them. */
export type NamedValues = object;

/** SQL with numbered parameters. Shape: `names[0]` is the name of `$1`. */
export interface Compiled {
  readonly text: string;
  readonly names: readonly string[];
}

/**
 * The parts of SQL that matter here: texts, quoted names and comments, in which a colon means nothing, dollar quotes,
 * numbered parameters, brackets, casts, and colons in front of a name.
 */
const TOKEN =
  /(?<![\w$])[eE]'(?:[^'\\]|\\.|'')*'|'[^']*'|"[^"]*"|--[^\n]*|\/\*|(?<![\w$])\$(?:[A-Za-z_]\w*)?\$|(?<![\w$])\$\d+|[[\]]|::|:[A-Za-z_]\w*/gs;

/**
 * Compiles named parameters (`:viewer`) to numbered ones, counted in the order of their first use.
 * Shape: a colon means a parameter unless it belongs to a cast (`::`), a text, a quoted name, a comment, a dollar quote or
 * a JSON key (`'key':value`). In a subscript it separates the bounds of a slice, so a parameter there has parentheses:
 * `ids[1:(:count)]`. A call or a column there is a bound: `ids[1:array_length(ids, 1)]`.
 * Errors: a plain Error for numbered parameters, for a colon that could be read in two ways, and for an open comment or
 * dollar quote.
 */
export function compile(sql: string): Compiled {
  const numbers = new Map<string, number>();
  const brackets: Bracket[] = [];
  let text = '';
  let done = 0;
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(sql); match; match = TOKEN.exec(sql)) {
    const [token] = match;
    const at = match.index;
    if (token === '[') brackets.push({ at, isArray: isArray(sql, at, brackets) });
    else if (token === ']') brackets.pop();
    else if (token === '/*') TOKEN.lastIndex = endOfComment(sql, at);
    else if (token.startsWith('$')) TOKEN.lastIndex = endOfDollarQuote(sql, token, at);
    else if (token.startsWith(':') && token !== '::' && isParameter(sql, token, at, brackets.at(-1))) {
      const name = token.slice(1);
      const number = numbers.get(name) ?? numbers.size + 1;
      numbers.set(name, number);
      text += `${sql.slice(done, at)}$${number}`;
      done = at + token.length;
    }
  }
  return { text: text + sql.slice(done), names: [...numbers.keys()] };
}

/**
 * The values of the parameters, in the order of their numbers. Errors: a plain Error for a parameter without a value.
 */
export function valuesOf(names: readonly string[], params: NamedValues, of: string): unknown[] {
  const values = new Array<unknown>(names.length);
  for (let at = 0; at < names.length; at += 1) {
    const value = (params as Readonly<Record<string, unknown>>)[names[at]!];
    // PostgreSQL would be sent null, and find nothing.
    if (value === undefined) throw new Error(`${of} lacks a value of :${names[at]!}`);
    values[at] = value;
  }
  return values;
}

/** SQL with the names of its parameters instead of their numbers. */
export function withNames(text: string, names: readonly string[]): string {
  return text.replace(/\$(\d+)/g, (place, number: string) => `:${names[Number(number) - 1] ?? place}`);
}

interface Bracket {
  readonly at: number;
  /** It begins an array (`array[…]`), and no subscript. */
  readonly isArray: boolean;
}

function isArray(sql: string, at: number, brackets: readonly Bracket[]): boolean {
  const before = sql.slice(0, at).trimEnd();
  if (/\barray$/i.test(before.slice(-6))) return true;
  // An array within an array has no word of its own.
  return /[[,]$/.test(before) && brackets.at(-1)?.isArray === true;
}

function isParameter(sql: string, token: string, at: number, bracket: Bracket | undefined): boolean {
  const before = sql[at - 1] ?? '';
  if (before === `'` || before === '"') return false;
  const isInSubscript = bracket !== undefined && !bracket.isArray && !isInParentheses(sql.slice(bracket.at, at));
  // A call or a column of a table: no parameter goes on so.
  if (isInSubscript && /[(.]/.test(sql[at + token.length] ?? '')) return false;
  if (isInSubscript || /[\w$\])]/.test(before)) {
    throw new Error(`${token} in "${sql.slice(Math.max(0, at - 20), at + token.length)}" may be a parameter or a bound`);
  }
  return true;
}

function isInParentheses(sql: string): boolean {
  return sql.split('(').length > sql.split(')').length;
}

/** Comments hold comments. */
function endOfComment(sql: string, start: number): number {
  const edge = /\/\*|\*\//g;
  edge.lastIndex = start;
  let depth = 0;
  for (let match = edge.exec(sql); match; match = edge.exec(sql)) {
    depth += match[0] === '/*' ? 1 : -1;
    if (depth === 0) return edge.lastIndex;
  }
  throw new Error(`a comment has no end: "${sql.slice(start, start + 20)}"`);
}

function endOfDollarQuote(sql: string, tag: string, start: number): number {
  if (/\d/.test(tag[1]!)) throw new Error(`${tag} has no name: parameters are named or numbered, not both`);
  const end = sql.indexOf(tag, start + tag.length);
  if (end < 0) throw new Error(`a dollar quote has no end: ${tag}`);
  return end + tag.length;
}
