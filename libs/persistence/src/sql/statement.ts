import { compileNamedParameters, orderValues } from './named-parameters';
import type { Compiled } from './named-parameters';
import { reserveStatementName, prepareStatement } from './prepared';
import type { Statement } from './prepared';

/** A statement with named parameters. It is kept prepared by each connection. */
export class DeclaredStatement<Params extends object, Row> {
  /** Exists only as a type: the parameters of `with` and the rows of the statement. */
  declare readonly contract: (params: Params) => Row;
  private compiled: Compiled | null = null;

  constructor(
    readonly name: string,
    private readonly compose: () => Compiled,
  ) {}

  /** The statement with these values. Errors: a plain Error for a parameter without a value. */
  with(params: Params): Statement<Row> {
    const { text, names } = (this.compiled ??= this.compose());
    return { name: this.name, text, values: orderValues(names, params, this.name), names };
  }
}

/**
 * Declares a prepared statement: `statement<{ id: number }, UserRow>('users_one', 'select … where id = :id')`. `sql`
 * has the syntax of `compileNamedParameters`. A function composes the text at the first use, for statements that each instance of a
 * class declares. Equal names must then have equal texts.
 * Errors: a plain Error when the name is declared twice, is taken by another text, or is too long for PostgreSQL.
 * Source: docs/performance.md 5.25.
 */
export function statement<Params extends object, Row>(
  name: string,
  sql: string | (() => string),
): DeclaredStatement<Params, Row> {
  if (typeof sql === 'function') return new DeclaredStatement<Params, Row>(name, () => compileAndPrepare(name, sql()));
  reserveStatementName(name);
  const compiled = compileAndPrepare(name, sql);
  return new DeclaredStatement<Params, Row>(name, () => compiled);
}

function compileAndPrepare(name: string, sql: string): Compiled {
  const compiled = compileNamedParameters(sql);
  prepareStatement(name, compiled.text);
  return compiled;
}
