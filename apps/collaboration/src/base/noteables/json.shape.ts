import { bool, choice, day, instant, int, list, nested, nullable, presenter, text } from '@rookery/api-v4';
import type { FieldType, Presenter } from '@rookery/api-v4';
import { instantSql } from '@rookery/persistence';

/** A part of a JSON text: constant, or an SQL expression whose value is JSON text and never null. */
type JsonPiece = { readonly constant: string } | { readonly sql: string };

/** Type of an output field: its documented schema and the SQL that renders it. `S` is the type of its source. */
export interface SqlType<S> {
  readonly type: FieldType<never>;
  readonly pieces: (source: S) => readonly JsonPiece[];
  /** Description of the field; default: that of its name. */
  readonly about?: string;
}

/** Type and source of each output field by name, as with `presenter()`; the order is the order of the output. */
type SqlFields<A, V extends Record<string, unknown>> = {
  readonly [K in keyof V]: readonly [SqlType<V[K]>, (args: A) => V[K]];
};

interface CompiledField<A> {
  readonly name: string;
  readonly type: FieldType<never>;
  readonly about: string | undefined;
  readonly pieces: (args: A) => readonly JsonPiece[];
  /** Boolean SQL; the key is left out if it is false. */
  readonly when: ((args: A) => string) | undefined;
}

/** The SQL of a shape with its sources filled in. `sql` is a text expression. */
export interface ShapeSql {
  readonly pieces: readonly JsonPiece[];
  readonly sql: string;
}

/**
 * JSON object that PostgreSQL renders, so that hot lists pass rows on as text (docs/performance.md 5.3). One
 * declaration of the fields yields both the SQL and the documented schema. `A` is the type of the aliases and
 * expressions that the sources use.
 * Source: ADR 0073.
 */
export class JsonShape<in A> {
  /** For the document only: the SQL renders the values. */
  readonly presenter: Presenter<never>;

  constructor(
    name: string,
    private readonly fields: readonly CompiledField<A>[],
    private readonly lookup?: (args: A) => string,
  ) {
    const shown = fields.map(
      ({ name: key, type, about, when }) =>
        [
          key,
          [type, (row: never) => row, { ...(about ? { about } : {}), ...(when ? OPTIONAL : {}) }] as const,
        ] as const,
    );
    this.presenter = presenter<never>(name).fields<Record<string, never>>(Object.fromEntries(shown));
  }

  /**
   * Presenter for the document of answers that may leave out fields, such as a list with `view=simple`. `required` are
   * the fields that are always there.
   */
  documentedAs(name: string, required: readonly string[]): Presenter<never> {
    const shown = this.fields.map(
      ({ name: key, type }) => [key, [type, (row: never) => row, required.includes(key) ? {} : OPTIONAL]] as const,
    );
    return presenter<never>(name).fields<Record<string, never>>(Object.fromEntries(shown));
  }

  /** Names of the fields, in the order of the output. */
  get fieldNames(): readonly string[] {
    return this.fields.map(({ name }) => name);
  }

  /** Renders the SQL of the object with the given sources. */
  toSql(args: A): ShapeSql {
    const pieces: JsonPiece[] = [];
    for (const field of this.fields.filter(({ when }) => !when)) {
      const opening = pieces.length === 0 ? '{' : ',';
      pieces.push({ constant: `${opening}${JSON.stringify(field.name)}:` }, ...field.pieces(args));
    }
    pieces.push(...this.optionalKeyPieces(args), { constant: '}' });
    const sql = joinPiecesSql(pieces);
    if (!this.lookup) return { pieces, sql };
    const subquery = `(select ${sql} from ${this.lookup(args)})`;
    return { pieces: [{ sql: subquery }], sql: subquery };
  }

  /** Optional keys, one expression for all keys with the same condition. */
  private optionalKeyPieces(args: A): readonly JsonPiece[] {
    const conditions = new Map<string, JsonPiece[]>();
    for (const { name, when, pieces } of this.fields) {
      if (!when) continue;
      const key = { constant: `,${JSON.stringify(name)}:` };
      conditions.set(when(args), [...(conditions.get(when(args)) ?? []), key, ...pieces(args)]);
    }
    return [...conditions].map(([condition, pieces]) => ({
      sql: `case when ${condition} then ${joinPiecesSql(pieces)} end`,
    }));
  }

  /** Begins a longer shape: all fields of this one, then more. */
  extend<B extends A>(name: string): JsonShapeBuilder<B> {
    return new JsonShapeBuilder<B>(name, this.fields, this.lookup);
  }
}

export class JsonShapeBuilder<A> {
  constructor(
    private readonly name: string,
    private readonly base: readonly CompiledField<A>[] = [],
    private readonly lookup?: (args: A) => string,
  ) {}

  /**
   * Adds fields. `when` is boolean SQL, the same for all of these fields; they come last, and are left out if it is
   * false.
   */
  fields<V extends Record<string, unknown>>(fields: SqlFields<A, V>, when?: (args: A) => string): JsonShape<A> {
    const own = (Object.keys(fields) as (keyof V & string)[]).map((name) => {
      const [{ type, pieces, about }, source] = fields[name];
      return { name, type, about, pieces: (args: A) => pieces(source(args)), when };
    });
    return new JsonShape<A>(this.name, [...this.base, ...own], this.lookup);
  }
}

/**
 * Begins a shape: `beginJsonShape<NoteSql>('Note').fields({ id: [json.int, () => 'n.id'], … })`. `sharedFrom` returns a FROM
 * item of exactly one row, with an alias, for values that several fields share.
 */
export function beginJsonShape<A>(schemaName: string, sharedFrom?: (args: A) => string): JsonShapeBuilder<A> {
  return new JsonShapeBuilder<A>(schemaName, [], sharedFrom);
}

const OPTIONAL = { when: () => false };

/** One `format()` call for the whole object: a third cheaper than joining with `||`, half the cost of json_build_object. */
function joinPiecesSql(pieces: readonly JsonPiece[]): string {
  const template = pieces.map((piece) => ('sql' in piece ? '%s' : piece.constant.replaceAll('%', '%%'))).join('');
  const values = pieces.flatMap((piece) => ('sql' in piece ? [piece.sql] : []));
  return `format(${[literalSql(template), ...values].join(', ')})`;
}

/** Returns a trusted text as an SQL literal, with doubled quotes. */
export function literalSql(value: string): string {
  // The E form would treat backslashes as escapes; standard_conforming_strings is on everywhere.
  return `'${value.replaceAll("'", "''")}'`;
}

/** SQL expression for the current date in UTC. */
export const TODAY = `(now() at time zone 'UTC')::date`;

const jsonOrNullPiece = (valueSql: string): JsonPiece => ({ sql: `coalesce(${valueSql}, 'null')` });
const quotePieces = (...pieces: readonly JsonPiece[]): readonly JsonPiece[] => [
  { constant: '"' },
  ...pieces,
  { constant: '"' },
];

/** Sources of a nested object that a subquery finds. `from` follows `select <shape>`. */
export interface SubquerySource<A> {
  readonly of: A;
  readonly from: string;
  /** An id; the subquery is skipped if it is null, which costs nothing. */
  readonly by?: string;
}

/** Field types. Their sources are SQL expressions of trusted text; types without `OrNull` must never get null. */
export const json = {
  int: { type: int, pieces: (sql: string) => [{ sql }] },
  intOrNull: { type: nullable(int), pieces: (sql: string) => [jsonOrNullPiece(`(${sql})::text`)] },
  bool: { type: bool, pieces: (sql: string) => [{ sql: `case when ${sql} then 'true' else 'false' end` }] },
  boolOrNull: {
    type: nullable(bool),
    pieces: (sql: string) => [{ sql: `case when ${sql} then 'true' when not ${sql} then 'false' else 'null' end` }],
  },
  text: { type: text, pieces: (sql: string) => [{ sql: `to_json(${sql})` }] },
  textOrNull: { type: nullable(text), pieces: (sql: string) => [jsonOrNullPiece(`to_json(${sql})::text`)] },
  /** A text of characters that JSON never escapes, such as a username or a path; half the cost of `text`. */
  token: { type: text, pieces: (sql: string) => quotePieces({ sql }) },
  tokenOrNull: {
    type: nullable(text),
    pieces: (sql: string) => [jsonOrNullPiece(`'"' || (${sql}) || '"'`)],
  },
  /** A token after a constant prefix, for instance a base URL. */
  prefixed: {
    type: text,
    pieces: ({ prefix, sql }: { readonly prefix: string; readonly sql: string }) => [
      { constant: JSON.stringify(prefix).slice(0, -1) },
      { sql },
      { constant: '"' },
    ],
  },
  prefixedOrNull: {
    type: nullable(text),
    pieces: ({ prefix, sql }: { readonly prefix: string; readonly sql: string }) => [
      jsonOrNullPiece(`${literalSql(JSON.stringify(prefix).slice(0, -1))} || (${sql}) || '"'`),
    ],
  },
  instant: { type: instant, pieces: (sql: string) => quotePieces({ sql: instantSql(sql) }) },
  instantOrNull: {
    type: nullable(instant),
    pieces: (sql: string) => [jsonOrNullPiece(`'"' || ${instantSql(sql)} || '"'`)],
  },
  dayOrNull: {
    type: nullable(day),
    pieces: (sql: string) => [jsonOrNullPiece(`'"' || to_char(${sql}, 'YYYY-MM-DD') || '"'`)],
  },
  /** One of a few tokens. The source is an SQL expression or a constant token. */
  choice: <const C extends string>(...values: readonly C[]): SqlType<string | { readonly is: C }> => ({
    type: choice(...values),
    pieces: (source) => quotePieces(typeof source === 'string' ? { sql: source } : { constant: source.is }),
  }),
  choiceOrNull: <const C extends string>(...values: readonly C[]): SqlType<string> => ({
    type: nullable(choice(...values)),
    pieces: (sql) => [jsonOrNullPiece(`'"' || (${sql}) || '"'`)],
  }),
  /** Type of a value that is the same for every row. */
  constant: <V>(type: FieldType<V>): SqlType<V> => ({
    type,
    pieces: (value) => [{ constant: JSON.stringify(value) }],
  }),
  /** A value that is JSON text already. */
  written: (type: FieldType<never>): SqlType<string> => ({ type, pieces: (sql) => [{ sql }] }),
  /** A nested object of another shape. */
  object: <A>(shape: JsonShape<A>): SqlType<A> => ({
    type: nested(shape.presenter),
    pieces: (args) => shape.toSql(args).pieces,
  }),
  /** A nested object of another shape, or null. `when` is boolean SQL. */
  objectWhen: <A>(shape: JsonShape<A>): SqlType<{ readonly of: A; readonly when: string }> => ({
    type: nullable(nested(shape.presenter)),
    pieces: ({ of, when }) => [{ sql: `case when ${when} then ${shape.toSql(of).sql} else 'null' end` }],
  }),
  /** One object that a subquery finds, or null. */
  found: <A>(shape: JsonShape<A>): SqlType<SubquerySource<A>> => ({
    type: nullable(nested(shape.presenter)),
    pieces: ({ of, from, by }) => {
      const found = `(select ${shape.toSql(of).sql} ${from})`;
      return [jsonOrNullPiece(by === undefined ? found : `case when ${by} is not null then ${found} end`)];
    },
  }),
  /** A list of objects from an array of their JSON texts, see `jsonTextsSql`. The array may be null. */
  list: <A>(shape: JsonShape<A>): SqlType<string> => ({
    type: list(nested(shape.presenter)),
    pieces: (array) => [{ constant: '[' }, { sql: `array_to_string(${array}, ',')` }, { constant: ']' }],
  }),
  /** The first object of such an array, or null. */
  first: <A>(shape: JsonShape<A>): SqlType<string> => ({
    type: nullable(nested(shape.presenter)),
    pieces: (array) => [jsonOrNullPiece(`(${array})[1]`)],
  }),
} as const;

/** Adds a description to the type of a field whose name means something else elsewhere. */
export function withDescription<S>(type: SqlType<S>, about: string): SqlType<S> {
  return { ...type, about };
}

/**
 * All rows of a FROM clause as one JSON array text. Returns null if `heavy` holds for any row; heavy rows are not
 * rendered.
 */
export function jsonArraySql(
  { sql }: Pick<ShapeSql, 'sql'>,
  from: string,
  order: string,
  isHeavySql: string | null = null,
): string {
  const array = (row: string): string => `'[' || coalesce(string_agg(${row}, ',' order by ${order}), '') || ']'`;
  if (isHeavySql === null) return `(select ${array(sql)} ${from})`;
  return `(select case when bool_or(${isHeavySql}) then null else ${array(`case when not ${isHeavySql} then ${sql} end`)} end ${from})`;
}

/**
 * Subquery for the JSON texts of all rows of a FROM clause. It has one row with the array `texts`, which is null if
 * there are no rows.
 */
export function jsonTextsSql<A>(shape: JsonShape<A>, { of, from }: SubquerySource<A>, order: string): string {
  return `(select array_agg(${shape.toSql(of).sql} order by ${order}) as texts ${from})`;
}
