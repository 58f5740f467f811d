import type { Known, ExactInput } from './inputs';
import { lengthProblems, keepFieldsWithProblems } from './problems';

/** Options of a plain field, whatever its type. */
export interface PlainOptions {
  /** The value is kept in the column of this name. Otherwise it is one of the settings, with `default` until it is set. */
  readonly column?: true;
  readonly default?: unknown;
  /** null may be sent as well. */
  readonly nullable?: true;
  /** `later`: only by updates, not on creation; `never`: by no request. Absent: always. */
  readonly settable?: 'later' | 'never';
  /** The value is ignored when any other user sends it. */
  readonly by?: 'administrators';
  /** Audience of the value, by a name that the presenter knows; false: no user. Absent: every signed-in user who sees the resource. */
  readonly shown?: string | false;
  /** Shown only in the answer for a single resource, not in lists. */
  readonly in?: 'detail';
  readonly about?: string;
  /** A former name that is accepted as well. */
  readonly alias?: string;
  /** The parameter to send instead. */
  readonly deprecated?: string;
  /** Bounds of numbers, inclusive; for lists, `max` limits the number of items. */
  readonly min?: number;
  readonly max?: number;
  /** Units: characters. Longer texts are refused under the name of the field. */
  readonly longest?: number;
}

/** One plain field. `V` is the stored type, `S` the sent type, `O` the options with their literal types. */
export interface PlainField<V = unknown, O extends PlainOptions = PlainOptions, S = V> {
  readonly kind: 'flag' | 'int' | 'text' | 'oneOf' | 'list' | 'hash';
  readonly options: O;
  /** Allowed values of a field of the kind `oneOf`. */
  readonly values?: readonly string[];
  /** Type of the items of a field of the kind `list`. */
  readonly items?: 'int' | 'text';
  /** Only for inference. */
  readonly holds?: () => { readonly stored: NullIfNullable<V, O>; readonly sent: NullIfNullable<S, O> };
}
type NullIfNullable<V, O> = O extends { readonly nullable: true } ? V | null : V;

/** A hash with fields of its own. A class of the edge reads it. */
export type PlainHash<V, O extends PlainOptions, S> = PlainField<V, O, S> & { readonly kind: 'hash' };

/** A legacy on/off switch for another field of its table. Every value except `off` reads as on. */
export interface PlainSwitch<Of extends string = string, V = unknown> {
  readonly kind: 'switch';
  readonly of: Of;
  readonly on: V;
  readonly off: V;
  /** The switch is marked deprecated in answers too. */
  readonly shownAsDeprecated: boolean;
}

export type PlainTable = Readonly<Record<string, PlainField | PlainSwitch>>;

type StoredValue<F> = F extends { readonly holds?: () => { readonly stored: infer V } } ? V : never;
type SentValue<F> = F extends { readonly kind: 'switch' }
  ? boolean
  : F extends { readonly holds?: () => { readonly sent: infer V } }
    ? V
    : never;
type OptionsOf<F> = F extends { readonly options: infer O } ? O : object;
type SettableWhen<F> = OptionsOf<F> extends { readonly settable: infer When } ? When : 'always';
/** When a field is accepted: `always` on creation and update, `later` on update only. */
export type WhenSettable = 'always' | 'later';

/** Columns of a table of plain fields, with the types of their values. */
export type PlainColumns<T> = {
  -readonly [K in keyof T as OptionsOf<T[K]> extends { readonly column: true } ? K : never]: StoredValue<T[K]>;
};
/** Settings of a table of plain fields, with the types of their values. */
export type PlainSettings<T> = {
  -readonly [K in keyof T as 'default' extends keyof OptionsOf<T[K]> ? K : never]: StoredValue<T[K]>;
};
/** Fields of a table of plain fields that a request may send. */
export type PlainInput<T, When extends WhenSettable = 'always'> = {
  readonly [K in keyof T as SettableWhen<T[K]> extends When ? K : never]?: SentValue<T[K]>;
};

/** A column, or a setting with a default. The default may be null where the field is nullable. */
type ColumnOrDefault<O, V> = O extends { readonly column: true }
  ? { readonly default?: never }
  : O extends { readonly nullable: true }
    ? { readonly default: V | null }
    : { readonly default: V };
type CommonOptionName =
  | 'column'
  | 'default'
  | 'nullable'
  | 'settable'
  | 'by'
  | 'shown'
  | 'in'
  | 'about'
  | 'alias'
  | 'deprecated';
type CheckedOptions<O, V, More extends keyof PlainOptions = never> = Known<
  O,
  Pick<PlainOptions, CommonOptionName | More>
> &
  ColumnOrDefault<O, V>;

/** Checks that each switch names a field of its table, and values of that field. */
type ValidSwitches<T> = {
  readonly [K in keyof T]: T[K] extends PlainSwitch<infer Of, infer V>
    ? [Of, V] extends [keyof T, StoredValue<T[Of & keyof T]>]
      ? unknown
      : never
    : unknown;
};

/**
 * Declares the plain fields of a noun: fields that are stored as they are sent and shown as they are stored. One table
 * names each field once. Parameters, defaults, stored changes and answers derive from it. Parameters keep the order of
 * the table. Example:
 * `plain.table({
 *   lfs_enabled: plain.flag({ default: true }),
 *   merge_method: plain.oneOf(METHODS, { default: 'merge' }),
 * })`
 * Source: ADR 0162.
 */
export const plain = {
  table: <const T extends PlainTable>(table: T & ValidSwitches<T>): T => table,
  flag: <const O extends PlainOptions>(o: CheckedOptions<O, boolean>): PlainField<boolean, O> => ({
    kind: 'flag',
    options: o,
  }),
  int: <const O extends PlainOptions>(o: CheckedOptions<O, number, 'min' | 'max'>): PlainField<number, O> => ({
    kind: 'int',
    options: o,
  }),
  text: <const O extends PlainOptions>(o: CheckedOptions<O, string, 'longest'>): PlainField<string, O> => ({
    kind: 'text',
    options: o,
  }),
  oneOf: <const V extends string, const O extends PlainOptions>(
    values: readonly V[],
    o: CheckedOptions<O, NoInfer<V>>,
  ): PlainField<V, O> => ({ kind: 'oneOf', values, options: o }),
  ints: <const O extends PlainOptions>(o: CheckedOptions<O, readonly number[], 'max'>): PlainField<number[], O> => ({
    kind: 'list',
    items: 'int',
    options: o,
  }),
  texts: <const O extends PlainOptions>(o: CheckedOptions<O, readonly string[], 'max'>): PlainField<string[], O> => ({
    kind: 'list',
    items: 'text',
    options: o,
  }),
  /**
   * A hash with fields of its own, read by a class of the edge. Usage: `plain.hash<Stored, Sent>()({ default: … })`.
   */
  hash:
    <V extends object, S extends object>() =>
    <const O extends PlainOptions>(o: CheckedOptions<O, V>): PlainHash<V, O, S> => ({ kind: 'hash', options: o }),
  switch: <Of extends string, const V>(of: Of, o: { on: V; off: V; shownAsDeprecated?: true }): PlainSwitch<Of, V> => ({
    kind: 'switch',
    of,
    on: o.on,
    off: o.off,
    shownAsDeprecated: o.shownAsDeprecated === true,
  }),
};

/** Returns the default of every setting. */
export function plainFieldDefaults<T extends PlainTable>(table: T): PlainSettings<T> {
  const defaults: Record<string, unknown> = {};
  for (const [name, row] of Object.entries(table)) {
    if (row.kind !== 'switch' && row.options.column === undefined) defaults[name] = row.options.default;
  }
  return defaults as PlainSettings<T>;
}

/** The sent values of a table, divided by where they are stored. */
export interface PlainChange<T> {
  readonly columns: Partial<PlainColumns<T>>;
  readonly settings: Partial<PlainSettings<T>>;
}

/**
 * Divides sent values into columns and settings. A switch sets its field, unless the field was sent too. `sent` may
 * hold only fields of the table, so that no value is lost: remove fields with their own rules first.
 */
export function splitIntoColumnsAndSettings<T extends PlainTable, S extends PlainInput<T, WhenSettable>>(
  table: T,
  sent: S & ExactInput<PlainInput<T, WhenSettable>, S>,
  viewer: { readonly isAdmin: boolean },
): PlainChange<T> {
  const values: Readonly<Record<string, unknown>> = sent;
  const parts = { columns: {} as Record<string, unknown>, settings: {} as Record<string, unknown> };
  for (const [name, row] of Object.entries(table)) {
    const field = row.kind === 'switch' ? row.of : name;
    const value = row.kind === 'switch' ? storedValueOfSwitch(row, values[name]) : values[name];
    const { column, by } = plainFieldOptions(table, field);
    const isIgnored = (by === 'administrators' && !viewer.isAdmin) || (field !== name && values[field] !== undefined);
    if (value !== undefined && !isIgnored) parts[column ? 'columns' : 'settings'][field] = value;
  }
  return parts as PlainChange<T>;
}

/** Texts that exceed their limit, as problems by field. */
export function plainFieldLengthProblems<T extends PlainTable>(
  table: T,
  sent: PlainInput<T, WhenSettable>,
): Record<string, string[]> {
  const values: Readonly<Record<string, unknown>> = sent;
  const tooLong = (name: string): string[] => {
    const { longest } = plainFieldOptions(table, name);
    const text = values[name];
    return longest === undefined || typeof text !== 'string' ? [] : lengthProblems(text, longest);
  };
  return keepFieldsWithProblems(Object.fromEntries(Object.keys(table).map((name) => [name, tooLong(name)])));
}

function storedValueOfSwitch({ on, off }: PlainSwitch, sent: unknown): unknown {
  return sent === undefined ? undefined : sent === true ? on : off;
}

function plainFieldOptions(table: PlainTable, name: string): PlainOptions {
  const row = table[name];
  return row === undefined || row.kind === 'switch' ? {} : row.options;
}
