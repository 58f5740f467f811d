import { bool, day, instant, int, list, nested, nullable, presenter, text } from '@rookery/api-v4';
import type { FieldType, Presenter } from '@rookery/api-v4';
import { instantSql } from '@rookery/persistence';

/** A part of a JSON text: constant, or an SQL expression whose value is JSON text and never null. */
type Piece = { readonly constant: string } | { readonly sql: string };

/** One output field: how it is documented and how PostgreSQL writes it. */
export interface JsonField {
  // The type parameter only serves presenters that write values themselves.
  readonly type: FieldType<never>;
  readonly pieces: readonly Piece[];
}

/**
 * A noun whose JSON PostgreSQL builds. Purpose: hot lists pass rows on as text (performance, learnt 3); the fields are
 * declared once and give both the SQL and the documented schema. Shape: `sql` is a text expression over the aliases
 * that the fields name. Source: ADR 0073.
 */
export interface JsonShape {
  readonly presenter: Presenter<Readonly<Record<string, unknown>>>;
  readonly pieces: readonly Piece[];
  readonly sql: string;
}

export function jsonShape(name: string, fields: Readonly<Record<string, JsonField>>): JsonShape {
  const pieces: Piece[] = [];
  for (const [key, field] of Object.entries(fields)) {
    pieces.push({ constant: `${pieces.length === 0 ? '{' : ','}${JSON.stringify(key)}:` }, ...field.pieces);
  }
  pieces.push({ constant: '}' });
  const shown = Object.entries(fields).map(([key, field]) => [
    key,
    [field.type, (row: Readonly<Record<string, unknown>>) => row[key] as never],
  ]);
  return {
    presenter: presenter<Readonly<Record<string, unknown>>>(name).fields(Object.fromEntries(shown) as never),
    pieces,
    sql: textSql(pieces),
  };
}

/** One `format()` call for the whole object: a third cheaper than joining with `||`, and half of json_build_object. */
function textSql(pieces: readonly Piece[]): string {
  const template = pieces.map((piece) => ('sql' in piece ? '%s' : piece.constant.replaceAll('%', '%%'))).join('');
  const values = pieces.flatMap((piece) => ('sql' in piece ? [piece.sql] : []));
  return `format(${[literalSql(template), ...values].join(', ')})`;
}

/** Shape: trusted text as an SQL literal, quotes doubled. */
export function literalSql(value: string): string {
  // The E form would treat backslashes as escapes; standard_conforming_strings is on everywhere.
  return `'${value.replaceAll("'", "''")}'`;
}

const orNull = (sql: string): Piece => ({ sql: `coalesce(${sql}, 'null')` });

/** SQL sources are expressions of trusted text. Those without `OrNull` must never be null. */
export const json = {
  int: (sql: string): JsonField => ({ type: int as FieldType<never>, pieces: [{ sql }] }),
  intOrNull: (sql: string): JsonField => ({
    type: nullable(int) as FieldType<never>,
    pieces: [orNull(`(${sql})::text`)],
  }),
  bool: (sql: string): JsonField => ({
    type: bool as FieldType<never>,
    pieces: [{ sql: `case when ${sql} then 'true' else 'false' end` }],
  }),
  boolOrNull: (sql: string): JsonField => ({
    type: nullable(bool) as FieldType<never>,
    pieces: [{ sql: `case when ${sql} then 'true' when not ${sql} then 'false' else 'null' end` }],
  }),
  text: (sql: string): JsonField => ({ type: text as FieldType<never>, pieces: [{ sql: `to_json(${sql})` }] }),
  /**
   * A text of characters that JSON never escapes, such as a username or a path; half the cost of `text`.
   * Shape: `prefix` is plain text in front of it, for instance a base address.
   */
  token: (sql: string, prefix = ''): JsonField => ({
    type: text as FieldType<never>,
    pieces: [{ constant: JSON.stringify(prefix).slice(0, -1) }, { sql }, { constant: '"' }],
  }),
  textOrNull: (sql: string): JsonField => ({
    type: nullable(text) as FieldType<never>,
    pieces: [orNull(`to_json(${sql})::text`)],
  }),
  instant: (sql: string): JsonField => ({
    type: instant as FieldType<never>,
    pieces: [{ constant: '"' }, { sql: instantSql(sql) }, { constant: '"' }],
  }),
  instantOrNull: (sql: string): JsonField => ({
    type: nullable(instant) as FieldType<never>,
    pieces: [orNull(`'"' || ${instantSql(sql)} || '"'`)],
  }),
  dayOrNull: (sql: string): JsonField => ({
    type: nullable(day) as FieldType<never>,
    pieces: [orNull(`'"' || to_char(${sql}, 'YYYY-MM-DD') || '"'`)],
  }),
  constant: <V>(type: FieldType<V>, value: V): JsonField => ({
    type: type as FieldType<never>,
    pieces: [{ constant: JSON.stringify(value) }],
  }),
  /** Another shape in place; `presentWhen` is a boolean expression, without which the object is always there. */
  object: (shape: JsonShape, presentWhen?: string): JsonField => ({
    type: (presentWhen ? nullable(nested(shape.presenter)) : nested(shape.presenter)) as FieldType<never>,
    pieces: presentWhen ? [{ sql: `case when ${presentWhen} then ${shape.sql} else 'null' end` }] : shape.pieces,
  }),
  /** One object that a subquery finds, or null. Shape: `from` begins after `select <shape>`. */
  found: (shape: JsonShape, from: string): JsonField => ({
    type: nullable(nested(shape.presenter)) as FieldType<never>,
    pieces: [orNull(`(select ${shape.sql} ${from})`)],
  }),
  /** A list that a subquery finds. Shape: `from` begins after the aggregate; `order` is its order. */
  list: (shape: JsonShape, from: string, order: string): JsonField => ({
    type: list(nested(shape.presenter)) as FieldType<never>,
    pieces: [
      { constant: '[' },
      { sql: `coalesce((select string_agg(${shape.sql}, ',' order by ${order}) ${from}), '')` },
      { constant: ']' },
    ],
  }),
};

/** All rows of a FROM clause as one JSON array text. */
export function arraySql(shape: JsonShape, from: string, order: string): string {
  return `(select '[' || coalesce(string_agg(${shape.sql}, ',' order by ${order}), '') || ']' ${from})`;
}
