import 'reflect-metadata';
import type { Known } from '@rookery/kernel';
import type { UploadedFile } from '../call/call';
import { rulesOf } from './field-rules';
import type { FieldCommon, FieldDecorator, FieldsDecorator, Found } from './field-typing';

export type ItemKind = 'int' | 'text' | { readonly oneOf: readonly string[] };

/** How a value is brought into form. */
export type FieldForm =
  | { readonly kind: 'int'; readonly min?: number; readonly max?: number }
  | { readonly kind: 'float'; readonly min?: number; readonly max?: number }
  | {
      readonly kind: 'text';
      readonly min?: number;
      readonly max?: number;
      readonly refuseBlank: boolean;
      readonly pattern?: RegExp;
    }
  | { readonly kind: 'flag' }
  | { readonly kind: 'instant'; readonly after?: string }
  | { readonly kind: 'day' }
  | { readonly kind: 'oneOf'; readonly values: readonly (string | number)[] }
  | {
      readonly kind: 'list';
      readonly of: ItemKind;
      readonly max: number;
      readonly splitItems: boolean;
      readonly refuseEmpty: boolean;
    }
  | { readonly kind: 'hash'; readonly of: 'text' | 'flag' | 'any' }
  | { readonly kind: 'hashes'; readonly of: () => new () => object; readonly max: number }
  | { readonly kind: 'group'; readonly of: () => new () => object }
  | { readonly kind: 'idOrPath' }
  | { readonly kind: 'any' }
  | { readonly kind: 'upload' };

export interface FieldDeclaration {
  readonly name: string;
  readonly form: FieldForm;
  readonly common: FieldCommon<unknown>;
}

/** A rule over several parameters of one class. */
export interface TogetherRule {
  readonly kind: 'atLeastOne' | 'exactlyOne' | 'exclusive';
  readonly names: readonly string[];
}

const FIELDS = Symbol('rookery:fields');
const TOGETHER = Symbol('rookery:together');

/** A field without a look at the property: what it must be is said by the type of the decorator that calls this. */
export function field(form: FieldForm, common: FieldCommon<unknown>): (target: object, key: unknown) => void {
  return (target, key) => {
    const owner = target.constructor;
    const name = String(key);
    const inherited = (Reflect.getMetadata(FIELDS, owner) as FieldDeclaration[] | undefined) ?? [];
    const declaration: FieldDeclaration = { name, form: bounded(form, name), common };
    Reflect.defineMetadata(FIELDS, [...inherited.filter((one) => one.name !== name), declaration], owner);
    for (const rule of rulesOf(declaration.form, common)) rule(target, name);
  };
}

/** The fields of a parameter class, those of its parents first. */
export function fieldsOf(params: object): readonly FieldDeclaration[] {
  return (Reflect.getMetadata(FIELDS, params) as FieldDeclaration[] | undefined) ?? [];
}

export function togetherRulesOf(params: object): readonly TogetherRule[] {
  return (Reflect.getMetadata(TOGETHER, params) as TogetherRule[] | undefined) ?? [];
}

type Range = { readonly min?: number; readonly max?: number };
type Common = FieldCommon<unknown>;

/**
 * A whole number; a numeric text will do. Bounds inclusive, outside of them "does not have a valid value"; left out,
 * they are those of the column that it may reach: any safe number for ids and iids (bigint), else those of integer.
 */
export function Int<O extends FieldCommon<number> & Range>(
  o?: Known<O, FieldCommon<number> & Range>,
): FieldDecorator<Found<number, O>> {
  return field({ kind: 'int', ...range(o) }, o ?? {});
}

/** A number. */
export function Float<O extends FieldCommon<number> & Range>(
  o?: Known<O, FieldCommon<number> & Range>,
): FieldDecorator<Found<number, O>> {
  return field({ kind: 'float', ...range(o) }, o ?? {});
}

type TextOptions = FieldCommon<string> & Range & { readonly blank?: 'refused'; readonly pattern?: RegExp };

/** Units: `min` and `max` count characters. `blank: 'refused'` answers "is empty" for nothing but blanks. */
export function Text<O extends TextOptions>(o?: Known<O, TextOptions>): FieldDecorator<Found<string, O>> {
  const pattern = o?.pattern ? { pattern: o.pattern } : {};
  return field({ kind: 'text', ...range(o), ...pattern, refuseBlank: o?.blank === 'refused' }, o ?? {});
}

/** As long as the longest name. Units: characters. */
export const LONGEST_SEARCH = 255;
/** A line break or a tab comes along when somebody pastes. */
const NO_CONTROLS = /^[\P{Cc}\t\n\r]*$/u;

/**
 * A text that is looked for. It is dear by its nature: no index finds a part of a text.
 * Source: reference identity-and-import 1.2.
 */
export function Search(o: { readonly about?: string } = {}): FieldDecorator<string | undefined> {
  const form: FieldForm = { kind: 'text', max: LONGEST_SEARCH, refuseBlank: false, pattern: NO_CONTROLS };
  return field(form, { ...o, optional: true, dear: true });
}

/** true or false, in every spelling of reference identity-and-import 1.2. */
export function Flag<O extends FieldCommon<boolean>>(
  o?: Known<O, FieldCommon<boolean>>,
): FieldDecorator<Found<boolean, O>> {
  return field({ kind: 'flag' }, o ?? {});
}

type InstantOptions = FieldCommon<Date> & { readonly after?: string };

/** A point in time, ISO 8601; a Date for the handler. Bounds: `after` is exclusive. */
export function Instant<O extends InstantOptions>(o?: Known<O, InstantOptions>): FieldDecorator<Found<Date, O>> {
  return field({ kind: 'instant', ...(o?.after ? { after: o.after } : {}) }, o ?? {});
}

/** A calendar day; the text `YYYY-MM-DD` for the handler. */
export function Day<O extends FieldCommon<string>>(
  o?: Known<O, FieldCommon<string>>,
): FieldDecorator<Found<string, O>> {
  return field({ kind: 'day' }, o ?? {});
}

/** One of a few values; anything else "does not have a valid value". */
export function OneOf<const V extends string | number, O extends FieldCommon<NoInfer<V>>>(
  values: readonly V[],
  o?: Known<O, FieldCommon<NoInfer<V>>>,
): FieldDecorator<Found<V, O>> {
  return field({ kind: 'oneOf', values }, o ?? {});
}

type Item<Of extends ItemKind> = Of extends 'int'
  ? number
  : Of extends { readonly oneOf: readonly (infer V)[] }
    ? V
    : string;
type ListOptions<V> = FieldCommon<readonly V[]> & {
  readonly max?: number;
  readonly splitItems?: true;
  readonly empty?: 'refused';
};

/**
 * A list: a JSON array, `name[]=`, or one comma-separated text. Bounds: `max` items (1,000).
 * `splitItems` also splits the items of an array on commas (always so for numbers and enumerations).
 */
export function ListOf<const Of extends ItemKind, O extends ListOptions<Item<Of>>>(
  of: Of,
  o?: Known<O, ListOptions<Item<Of>>>,
): FieldDecorator<Found<Item<Of>[], O>, Found<readonly Item<Of>[], O>> {
  const splitItems = o?.splitItems === true || of !== 'text';
  return field({ kind: 'list', of, max: o?.max ?? 1000, splitItems, refuseEmpty: o?.empty === 'refused' }, o ?? {});
}

type HashOptions = FieldCommon<object> & { readonly of?: keyof HashItems };
interface HashItems {
  readonly text: string | null;
  readonly flag: boolean | null;
  readonly any: unknown;
}
type HashItem<O> = O extends { readonly of: infer Of extends keyof HashItems } ? HashItems[Of] : HashItems['text'];

/** A free hash: `name[key]=value` or a JSON object. Its values may be null. */
export function Hash<O extends HashOptions>(
  o?: Known<O, HashOptions>,
): FieldDecorator<Found<Record<string, HashItem<O>>, O>> {
  return field({ kind: 'hash', of: o?.of ?? 'text' }, o ?? {});
}

/** A list of hashes with declared fields: JSON, `name[0][key]=`, or `name[][key]=`. */
export function ListOfHashes<
  H extends object,
  O extends FieldCommon<readonly NoInfer<H>[]> & { readonly max?: number },
>(
  of: () => new () => H,
  o?: Known<O, FieldCommon<readonly NoInfer<H>[]> & { readonly max?: number }>,
): FieldDecorator<Found<H[], O>, Found<readonly H[], O>> {
  return field({ kind: 'hashes', of, max: o?.max ?? 1000 }, o ?? {});
}

/** One hash with declared fields. */
export function HashOf<H extends object, O extends FieldCommon<NoInfer<H>>>(
  of: () => new () => H,
  o?: Known<O, FieldCommon<NoInfer<H>>>,
): FieldDecorator<Found<H, O>> {
  return field({ kind: 'group', of }, o ?? {});
}

/** A number for an id, a text for a full path or a name. */
export function IdOrPath<O extends FieldCommon<number | string>>(
  o?: Known<O, FieldCommon<number | string>>,
): FieldDecorator<Found<number | string, O>> {
  return field({ kind: 'idOrPath' }, o ?? {});
}

/** Any JSON value, unjudged. */
export function AnyValue<O extends Common>(o?: Known<O, Common>): FieldDecorator<unknown> {
  return field({ kind: 'any' }, o ?? {});
}

/**
 * A part of a multipart body with a file name: an UploadedFile for the handler. Texts of that name are dropped; with
 * `nullable` a blank one (a part, a form field, JSON `""` or null, `name=` in the query) is null: take the file away.
 * An `alias` counts for files only.
 */
export function Upload<O extends FieldCommon<never>>(
  o?: Known<O, FieldCommon<never>>,
): FieldDecorator<Found<UploadedFile, O>> {
  return field({ kind: 'upload' }, o ?? {});
}

function together(kind: TogetherRule['kind'], names: readonly string[]): (target: object) => void {
  return (target) => {
    // Class decorators run from the last to the first; problems are named in the order that is read.
    Reflect.defineMetadata(TOGETHER, [{ kind, names }, ...togetherRulesOf(target)], target);
  };
}

/** "a, b are missing, at least one parameter must be provided". */
export function AtLeastOneOf<const N extends string>(...names: readonly N[]): FieldsDecorator<N> {
  return together('atLeastOne', names);
}

/** At least one as above with "exactly one", at most one as in Exclusive. */
export function ExactlyOneOf<const N extends string>(...names: readonly N[]): FieldsDecorator<N> {
  return together('exactlyOne', names);
}

/** "a, b are mutually exclusive". */
export function Exclusive<const N extends string>(...names: readonly N[]): FieldsDecorator<N> {
  return together('exclusive', names);
}

const NAMES_ROWS = /^id(_|$)|(^|_)i?id$/;
const LEAST_INTEGER = -2_147_483_648;
const MOST_INTEGER = 2_147_483_647;

/** PostgreSQL fails on a number that its column does not hold. */
function bounded(form: FieldForm, name: string): FieldForm {
  if (form.kind !== 'int' || NAMES_ROWS.test(name)) return form;
  return { ...form, min: form.min ?? LEAST_INTEGER, max: form.max ?? MOST_INTEGER };
}

function range(o: Range = {}): Range {
  return { ...(o.min === undefined ? {} : { min: o.min }), ...(o.max === undefined ? {} : { max: o.max }) };
}
