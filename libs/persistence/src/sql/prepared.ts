import { createHash } from 'node:crypto';
import type { PageRequest } from '@rookery/kernel';
import { toStatement, isNumbered, parameterNumbers, renumberParameters } from './conditions';
import type { SqlDraft, Values } from './conditions';
import { compileNamedParameters, orderValues } from './named-parameters';

/** A statement that each connection parses once, identified by its name. */
export interface PreparedStatement {
  readonly name: string;
  readonly text: string;
}

/**
 * A statement and its values. A statement with a name is kept prepared. `Row` is `never` if the statement does not
 * declare its rows; then its caller states their type.
 */
export interface Statement<Row = never> {
  readonly name?: string;
  readonly text: string;
  readonly values: readonly unknown[];
  /** Names of its parameters in the order of their numbers, if they have names. */
  readonly names?: readonly string[];
  /** Exists only as a type. */
  readonly row?: Row;
}

const texts = new Map<string, string>();
const declared = new Set<string>();
const byText = new Map<string, { readonly name: string; readonly cached: CompiledText }>();

/** Page sizes of stock clients; statements of other sizes are not kept prepared. */
const USUAL_SIZES: readonly number[] = [20, 50, 100];

export function isUsualSize(perPage: number): boolean {
  return USUAL_SIZES.includes(perPage);
}

/** Whether this is a light first page of a frequent size. */
export function isUsualPage({ page, perPage, hasHeavyPagePermit }: PageRequest): boolean {
  return page === 1 && isUsualSize(perPage) && !hasHeavyPagePermit;
}

/**
 * Names a statement, so that PostgreSQL parses it once for each connection and keeps its plan. A name has one text in
 * the whole process. Write limits as literals, since a parameter in `LIMIT` hides the number of rows from the planner.
 * If the page size varies, use one statement for each size.
 * Errors: a plain Error when the name is taken by another text or too long for PostgreSQL (63 bytes).
 * Source: docs/performance.md 5.2.
 */
export function prepareStatement(name: string, text: string): PreparedStatement {
  const known = texts.get(name);
  if (known !== undefined && known !== text) throw new Error(`two statements are named ${name}`);
  if (Buffer.byteLength(name) > 63) throw new Error(`the statement name ${name} is longer than 63 bytes`);
  texts.set(name, text);
  return { name, text };
}

/**
 * A prepared statement for a composed text. Its name is the kind and a digest of the text.
 * Errors: a plain Error for a named parameter without a value.
 */
export function statementByText(kind: string, sql: string, values: Values): Statement<never> {
  const { name, cached } = byText.get(sql) ?? prepareAndCacheByText(kind, sql, values);
  return cached.statement(name, values);
}

function prepareAndCacheByText(kind: string, sql: string, values: Values): { name: string; cached: CompiledText } {
  const cached = compileText(sql, values);
  const { name } = prepareStatement(
    `${kind}-${createHash('sha256').update(cached.text).digest('hex').slice(0, 12)}`,
    cached.text,
  );
  const known = { name, cached };
  byText.set(sql, known);
  return known;
}

/** Reserves the name of a statement that is declared once in the process. Errors: a plain Error when it is taken. */
export function reserveStatementName(name: string): void {
  if (declared.has(name) || texts.has(name)) throw new Error(`two statements are named ${name}`);
  declared.add(name);
}

/** A text with its parameters compiled once. */
interface CompiledText {
  readonly text: string;
  statement<Row>(name: string, values: Values): Statement<Row>;
}

function compileText(sql: string, values: Values): CompiledText {
  if (!isNumbered(values)) {
    const { text, names } = compileNamedParameters(sql);
    return {
      text,
      statement: (name, of) => ({ name, text, values: orderValues(names, of, name), names }),
    };
  }
  const places = parameterNumbers(sql);
  const text = renumberParameters(sql, places);
  return {
    text,
    statement: (name, of) => ({
      name,
      text,
      values: places.map((place) => (of as readonly unknown[])[place - 1]),
    }),
  };
}

/**
 * Statements that are composed at their first use, for hot paths: composing the text costs more than sending it. The
 * name contains everything that the text depends on. All statements may get the same values: those that have no
 * parameter in the text are omitted.
 */
export class CachedStatements {
  private readonly known = new Map<string, CompiledText>();

  /**
   * Returns the statement of this name with these values. A statement without a name is composed for this call, and may
   * have values of its own.
   * Errors: a plain Error for a named parameter without a value.
   */
  findOrCompose<Row = never>(name: string | null, values: Values, make: () => SqlDraft): Statement<Row> {
    if (name === null) return toStatement(make());
    return (this.known.get(name) ?? this.prepareAndCacheText(name, values, make().text)).statement(name, values);
  }

  private prepareAndCacheText(name: string, values: Values, sql: string): CompiledText {
    const cached = compileText(sql, values);
    prepareStatement(name, cached.text);
    this.known.set(name, cached);
    return cached;
  }
}
