import type { Known, NothingBut } from './inputs';
import { lengthProblems, problemsByField } from './problems';

/** What can be said of every plain field. */
export interface PlainOptions {
  /** Kept in the column of its name; otherwise among the settings, where it has `default` until it is set. */
  readonly column?: true;
  readonly default?: unknown;
  /** null may be sent too. */
  readonly nullable?: true;
  /** `later`: by changes, not when the thing is made; `never`: by nobody. Left out: at any time. */
  readonly settable?: 'later' | 'never';
  /** What others send is ignored. */
  readonly by?: 'administrators';
  /** Who sees it, by a name that the presenter knows; false: nobody. Left out: whoever is signed in and sees the thing. */
  readonly shown?: string | false;
  /** Shown only where the thing is answered alone. */
  readonly in?: 'detail';
  readonly about?: string;
  /** A former name that is taken as well. */
  readonly alias?: string;
  /** What to send instead. */
  readonly deprecated?: string;
  /** Bounds: of numbers, inclusive; `max` of lists counts items. */
  readonly min?: number;
  readonly max?: number;
  /** Units: characters; longer texts are refused by their field. */
  readonly longest?: number;
}

/** Shape: `V` is what is stored, `S` what is sent, `O` are the options as they were written. */
export interface PlainField<V = unknown, O extends PlainOptions = PlainOptions, S = V> {
  readonly kind: 'flag' | 'int' | 'text' | 'oneOf' | 'list' | 'hash';
  readonly options: O;
  /** Of `oneOf`. */
  readonly values?: readonly string[];
  /** Of `list`. */
  readonly items?: 'int' | 'text';
  /** Only for inference. */
  readonly holds?: () => { readonly stored: OrNull<V, O>; readonly sent: OrNull<S, O> };
}
type OrNull<V, O> = O extends { readonly nullable: true } ? V | null : V;

/** A hash with fields of its own, which a class of the edge reads. */
export type PlainHash<V, O extends PlainOptions, S> = PlainField<V, O, S> & { readonly kind: 'hash' };

/** An old on/off switch in place of another field of its table. Shape: everything but `off` is on. */
export interface PlainSwitch<Of extends string = string, V = unknown> {
  readonly kind: 'switch';
  readonly of: Of;
  readonly on: V;
  readonly off: V;
  /** Is it called deprecated in answers too? */
  readonly shownAsDeprecated: boolean;
}

export type PlainTable = Readonly<Record<string, PlainField | PlainSwitch>>;

type Stored<F> = F extends { readonly holds?: () => { readonly stored: infer V } } ? V : never;
type Sent<F> = F extends { readonly kind: 'switch' }
  ? boolean
  : F extends { readonly holds?: () => { readonly sent: infer V } }
    ? V
    : never;
type OptionsOf<F> = F extends { readonly options: infer O } ? O : object;
type WhenOf<F> = OptionsOf<F> extends { readonly settable: infer When } ? When : 'always';
/** When a field is taken: `always` at any time, `later` by changes only. */
export type WhenSettable = 'always' | 'later';

/** Columns of a table of plain fields, with what they hold. */
export type PlainColumns<T> = {
  -readonly [K in keyof T as OptionsOf<T[K]> extends { readonly column: true } ? K : never]: Stored<T[K]>;
};
/** Settings of a table of plain fields, with what they hold. */
export type PlainSettings<T> = {
  -readonly [K in keyof T as 'default' extends keyof OptionsOf<T[K]> ? K : never]: Stored<T[K]>;
};
/** What may be sent of a table of plain fields. */
export type PlainInput<T, When extends WhenSettable = 'always'> = {
  readonly [K in keyof T as WhenOf<T[K]> extends When ? K : never]?: Sent<T[K]>;
};

/** A column, or a setting with its default; null is a default of what may be null. */
type Kept<O, V> = O extends { readonly column: true }
  ? { readonly default?: never }
  : O extends { readonly nullable: true }
    ? { readonly default: V | null }
    : { readonly default: V };
type Common = 'column' | 'default' | 'nullable' | 'settable' | 'by' | 'shown' | 'in' | 'about' | 'alias' | 'deprecated';
type Written<O, V, More extends keyof PlainOptions = never> = Known<O, Pick<PlainOptions, Common | More>> & Kept<O, V>;

/** A switch stands for a field of its table, and for values of it. */
type SwitchesFit<T> = {
  readonly [K in keyof T]: T[K] extends PlainSwitch<infer Of, infer V>
    ? [Of, V] extends [keyof T, Stored<T[Of & keyof T]>]
      ? unknown
      : never
    : unknown;
};

/**
 * Declares the plain fields of a noun: stored as they are sent, shown as they are stored. One table names each of them
 * once; parameters, defaults, what a change stores and what answers show follow from it. Source: ADR 0162.
 * Shape: `plain.table({ lfs_enabled: plain.flag({ default: true }), merge_method: plain.oneOf(METHODS, { default: 'merge' }) })`;
 * the order is that of the parameters.
 */
export const plain = {
  table: <const T extends PlainTable>(table: T & SwitchesFit<T>): T => table,
  flag: <const O extends PlainOptions>(o: Written<O, boolean>): PlainField<boolean, O> => ({
    kind: 'flag',
    options: o,
  }),
  int: <const O extends PlainOptions>(o: Written<O, number, 'min' | 'max'>): PlainField<number, O> => ({
    kind: 'int',
    options: o,
  }),
  text: <const O extends PlainOptions>(o: Written<O, string, 'longest'>): PlainField<string, O> => ({
    kind: 'text',
    options: o,
  }),
  oneOf: <const V extends string, const O extends PlainOptions>(
    values: readonly V[],
    o: Written<O, NoInfer<V>>,
  ): PlainField<V, O> => ({ kind: 'oneOf', values, options: o }),
  ints: <const O extends PlainOptions>(o: Written<O, readonly number[], 'max'>): PlainField<number[], O> => ({
    kind: 'list',
    items: 'int',
    options: o,
  }),
  texts: <const O extends PlainOptions>(o: Written<O, readonly string[], 'max'>): PlainField<string[], O> => ({
    kind: 'list',
    items: 'text',
    options: o,
  }),
  /** A hash with fields of its own, read by a class of the edge. Shape: `plain.hash<Stored, Sent>()({ default: … })`. */
  hash:
    <V extends object, S extends object>() =>
    <const O extends PlainOptions>(o: Written<O, V>): PlainHash<V, O, S> => ({ kind: 'hash', options: o }),
  switch: <Of extends string, const V>(of: Of, o: { on: V; off: V; shownAsDeprecated?: true }): PlainSwitch<Of, V> => ({
    kind: 'switch',
    of,
    on: o.on,
    off: o.off,
    shownAsDeprecated: o.shownAsDeprecated === true,
  }),
};

/** The settings of a thing that never set any. */
export function plainDefaults<T extends PlainTable>(table: T): PlainSettings<T> {
  const defaults: Record<string, unknown> = {};
  for (const [name, row] of Object.entries(table)) {
    if (row.kind !== 'switch' && row.options.column === undefined) defaults[name] = row.options.default;
  }
  return defaults as PlainSettings<T>;
}

/** What of a table was sent, by where it is kept. */
export interface PlainChange<T> {
  readonly columns: Partial<PlainColumns<T>>;
  readonly settings: Partial<PlainSettings<T>>;
}

/**
 * Sorts what was sent. A switch counts for the field that it stands for, unless that was sent too. Shape: `sent` holds
 * fields of the table and nothing besides, so that none is lost: take what has rules of its own out before.
 */
export function plainChange<T extends PlainTable, S extends PlainInput<T, WhenSettable>>(
  table: T,
  sent: S & NothingBut<PlainInput<T, WhenSettable>, S>,
  viewer: { readonly isAdmin: boolean },
): PlainChange<T> {
  const values: Readonly<Record<string, unknown>> = sent;
  const parts = { columns: {} as Record<string, unknown>, settings: {} as Record<string, unknown> };
  for (const [name, row] of Object.entries(table)) {
    const field = row.kind === 'switch' ? row.of : name;
    const value = row.kind === 'switch' ? switched(row, values[name]) : values[name];
    const { column, by } = optionsOf(table, field);
    const isIgnored = (by === 'administrators' && !viewer.isAdmin) || (field !== name && values[field] !== undefined);
    if (value !== undefined && !isIgnored) parts[column ? 'columns' : 'settings'][field] = value;
  }
  return parts as PlainChange<T>;
}

/** Texts that are longer than they may be, by field. */
export function plainProblems<T extends PlainTable>(
  table: T,
  sent: PlainInput<T, WhenSettable>,
): Record<string, string[]> {
  const values: Readonly<Record<string, unknown>> = sent;
  const tooLong = (name: string): string[] => {
    const { longest } = optionsOf(table, name);
    const text = values[name];
    return longest === undefined || typeof text !== 'string' ? [] : lengthProblems(text, longest);
  };
  return problemsByField(Object.fromEntries(Object.keys(table).map((name) => [name, tooLong(name)])));
}

function switched({ on, off }: PlainSwitch, sent: unknown): unknown {
  return sent === undefined ? undefined : sent === true ? on : off;
}

function optionsOf(table: PlainTable, name: string): PlainOptions {
  const row = table[name];
  return row === undefined || row.kind === 'switch' ? {} : row.options;
}
