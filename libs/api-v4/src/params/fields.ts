import 'reflect-metadata';
import type { Known } from '@rookery/kernel';
import type { UploadedFile } from '../call/call';
import { createValidationDecorators } from './field-rules';
import type { FieldCommon, FieldDecorator, FieldsDecorator, FieldValue } from './field-typing';

export type ItemKind = 'int' | 'text' | { readonly oneOf: readonly string[] };

/** Type of a parameter with its constraints; decides how values are coerced and validated. */
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

/** One declared parameter of a parameter class. */
export interface FieldDeclaration {
  readonly name: string;
  readonly form: FieldForm;
  readonly common: FieldCommon<unknown>;
}

/** A rule over several parameters of one class. */
export interface FieldCombinationRule {
  readonly kind: 'atLeastOne' | 'exactlyOne' | 'exclusive';
  readonly names: readonly string[];
}

const FIELDS = Symbol('rookery:fields');
const TOGETHER = Symbol('rookery:together');

/** Declares a field whose property is not type-checked. The public decorators add the check by their types. */
export function declareField(form: FieldForm, common: FieldCommon<unknown>): (target: object, key: unknown) => void {
  return (target, key) => {
    const owner = target.constructor;
    const name = String(key);
    const inherited = (Reflect.getMetadata(FIELDS, owner) as FieldDeclaration[] | undefined) ?? [];
    const declaration: FieldDeclaration = { name, form: withIntegerColumnBounds(form, name), common };
    Reflect.defineMetadata(FIELDS, [...inherited.filter((one) => one.name !== name), declaration], owner);
    for (const rule of createValidationDecorators(declaration.form, common)) rule(target, name);
  };
}

/** Returns the fields of a parameter class; inherited fields come first. */
export function fieldsOf(params: object): readonly FieldDeclaration[] {
  return (Reflect.getMetadata(FIELDS, params) as FieldDeclaration[] | undefined) ?? [];
}

/** Returns the rules over several parameters of a class, in the order of declaration. */
export function fieldCombinationRulesOf(params: object): readonly FieldCombinationRule[] {
  return (Reflect.getMetadata(TOGETHER, params) as FieldCombinationRule[] | undefined) ?? [];
}

type MinMax = { readonly min?: number; readonly max?: number };
type AnyFieldCommon = FieldCommon<unknown>;

/**
 * Declares an integer parameter; numeric texts are accepted. Bounds: inclusive; values outside "do not have a valid
 * value". The default bounds are those of the column: any safe integer for ids and iids (bigint), else 32 bits.
 */
export function Int<O extends FieldCommon<number> & MinMax>(
  o?: Known<O, FieldCommon<number> & MinMax>,
): FieldDecorator<FieldValue<number, O>> {
  return declareField({ kind: 'int', ...pickMinMax(o) }, o ?? {});
}

/** Declares a number parameter. */
export function Float<O extends FieldCommon<number> & MinMax>(
  o?: Known<O, FieldCommon<number> & MinMax>,
): FieldDecorator<FieldValue<number, O>> {
  return declareField({ kind: 'float', ...pickMinMax(o) }, o ?? {});
}

type TextOptions = FieldCommon<string> & MinMax & { readonly blank?: 'refused'; readonly pattern?: RegExp };

/**
 * Declares a text parameter. Units: `min` and `max` in characters. `blank: 'refused'` refuses blank texts with "is
 * empty".
 */
export function Text<O extends TextOptions>(o?: Known<O, TextOptions>): FieldDecorator<FieldValue<string, O>> {
  const pattern = o?.pattern ? { pattern: o.pattern } : {};
  return declareField({ kind: 'text', ...pickMinMax(o), ...pattern, refuseBlank: o?.blank === 'refused' }, o ?? {});
}

/** Longest search text, equal to the longest name. Units: characters. */
export const MAX_SEARCH_LENGTH = 255;
/** Pasted texts may contain line breaks and tabs. */
const NO_CONTROLS = /^[\P{Cc}\t\n\r]*$/u;

/**
 * Declares a search text. It makes the request costly, because no index finds a part of a text.
 * Source: reference identity-and-import 1.2.
 */
export function Search(o: { readonly about?: string } = {}): FieldDecorator<string | undefined> {
  const form: FieldForm = { kind: 'text', max: MAX_SEARCH_LENGTH, refuseBlank: false, pattern: NO_CONTROLS };
  return declareField(form, { ...o, optional: true, costly: true });
}

/** Declares a boolean parameter. Accepts every spelling of reference identity-and-import 1.2. */
export function Flag<O extends FieldCommon<boolean>>(
  o?: Known<O, FieldCommon<boolean>>,
): FieldDecorator<FieldValue<boolean, O>> {
  return declareField({ kind: 'flag' }, o ?? {});
}

type InstantOptions = FieldCommon<Date> & { readonly after?: string };

/** Declares a point in time in ISO 8601; the handler gets a Date. Bounds: `after` is exclusive. */
export function Instant<O extends InstantOptions>(o?: Known<O, InstantOptions>): FieldDecorator<FieldValue<Date, O>> {
  return declareField({ kind: 'instant', ...(o?.after ? { after: o.after } : {}) }, o ?? {});
}

/** Declares a calendar day; the handler gets the text `YYYY-MM-DD`. */
export function Day<O extends FieldCommon<string>>(
  o?: Known<O, FieldCommon<string>>,
): FieldDecorator<FieldValue<string, O>> {
  return declareField({ kind: 'day' }, o ?? {});
}

/** Declares an enumeration; other values "do not have a valid value". */
export function OneOf<const V extends string | number, O extends FieldCommon<NoInfer<V>>>(
  values: readonly V[],
  o?: Known<O, FieldCommon<NoInfer<V>>>,
): FieldDecorator<FieldValue<V, O>> {
  return declareField({ kind: 'oneOf', values }, o ?? {});
}

type ListItemType<Of extends ItemKind> = Of extends 'int'
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
 * Declares a list: a JSON array, `name[]=`, or one comma-separated text. `splitItems` also splits the items of an array
 * on commas; numbers and enumerations always are. Bounds: `max` items (default 1,000).
 */
export function ListOf<const Of extends ItemKind, O extends ListOptions<ListItemType<Of>>>(
  of: Of,
  o?: Known<O, ListOptions<ListItemType<Of>>>,
): FieldDecorator<FieldValue<ListItemType<Of>[], O>, FieldValue<readonly ListItemType<Of>[], O>> {
  const splitItems = o?.splitItems === true || of !== 'text';
  return declareField(
    { kind: 'list', of, max: o?.max ?? 1000, splitItems, refuseEmpty: o?.empty === 'refused' },
    o ?? {},
  );
}

type HashOptions = FieldCommon<object> & { readonly of?: keyof HashItemTypes };
interface HashItemTypes {
  readonly text: string | null;
  readonly flag: boolean | null;
  readonly any: unknown;
}
type HashItemType<O> = O extends { readonly of: infer Of extends keyof HashItemTypes }
  ? HashItemTypes[Of]
  : HashItemTypes['text'];

/** Declares a hash with any keys: `name[key]=value` or a JSON object. Its values may be null. */
export function Hash<O extends HashOptions>(
  o?: Known<O, HashOptions>,
): FieldDecorator<FieldValue<Record<string, HashItemType<O>>, O>> {
  return declareField({ kind: 'hash', of: o?.of ?? 'text' }, o ?? {});
}

/** Declares a list of hashes with declared fields: JSON, `name[0][key]=`, or `name[][key]=`. */
export function ListOfHashes<
  H extends object,
  O extends FieldCommon<readonly NoInfer<H>[]> & { readonly max?: number },
>(
  of: () => new () => H,
  o?: Known<O, FieldCommon<readonly NoInfer<H>[]> & { readonly max?: number }>,
): FieldDecorator<FieldValue<H[], O>, FieldValue<readonly H[], O>> {
  return declareField({ kind: 'hashes', of, max: o?.max ?? 1000 }, o ?? {});
}

/** Declares one hash with declared fields. */
export function HashOf<H extends object, O extends FieldCommon<NoInfer<H>>>(
  of: () => new () => H,
  o?: Known<O, FieldCommon<NoInfer<H>>>,
): FieldDecorator<FieldValue<H, O>> {
  return declareField({ kind: 'group', of }, o ?? {});
}

/** Declares an id or a path; the handler gets a number for an id and a text for a full path or name. */
export function IdOrPath<O extends FieldCommon<number | string>>(
  o?: Known<O, FieldCommon<number | string>>,
): FieldDecorator<FieldValue<number | string, O>> {
  return declareField({ kind: 'idOrPath' }, o ?? {});
}

/** Declares a parameter with any JSON value, which is not validated. */
export function AnyValue<O extends AnyFieldCommon>(o?: Known<O, AnyFieldCommon>): FieldDecorator<unknown> {
  return declareField({ kind: 'any' }, o ?? {});
}

/**
 * Declares a file of a multipart body; the handler gets an UploadedFile. Texts with this name are ignored. With
 * `nullable`, a blank text (a part, a form field, JSON `""` or null, `name=` in the query) becomes null, which removes
 * the file. An `alias` applies to files only.
 */
export function Upload<O extends FieldCommon<never>>(
  o?: Known<O, FieldCommon<never>>,
): FieldDecorator<FieldValue<UploadedFile, O>> {
  return declareField({ kind: 'upload' }, o ?? {});
}

function declareFieldCombinationRule(
  kind: FieldCombinationRule['kind'],
  names: readonly string[],
): (target: object) => void {
  return (target) => {
    // Class decorators run from the last to the first; problems are reported in the order of the source.
    Reflect.defineMetadata(TOGETHER, [{ kind, names }, ...fieldCombinationRulesOf(target)], target);
  };
}

/** Requires at least one: "a, b are missing, at least one parameter must be provided". */
export function AtLeastOneOf<const N extends string>(...names: readonly N[]): FieldsDecorator<N> {
  return declareFieldCombinationRule('atLeastOne', names);
}

/** Requires exactly one: fails as AtLeastOneOf, with "exactly one", or as Exclusive. */
export function ExactlyOneOf<const N extends string>(...names: readonly N[]): FieldsDecorator<N> {
  return declareFieldCombinationRule('exactlyOne', names);
}

/** Allows at most one: "a, b are mutually exclusive". */
export function AtMostOneOf<const N extends string>(...names: readonly N[]): FieldsDecorator<N> {
  return declareFieldCombinationRule('exclusive', names);
}

const IS_ID_NAME = /^id(_|$)|(^|_)i?id$/;
const MIN_INTEGER = -2_147_483_648;
const MAX_INTEGER = 2_147_483_647;

/** Bounds integers by their column, because PostgreSQL fails on numbers out of its range. */
function withIntegerColumnBounds(form: FieldForm, name: string): FieldForm {
  if (form.kind !== 'int' || IS_ID_NAME.test(name)) return form;
  return { ...form, min: form.min ?? MIN_INTEGER, max: form.max ?? MAX_INTEGER };
}

function pickMinMax(o: MinMax = {}): MinMax {
  return { ...(o.min === undefined ? {} : { min: o.min }), ...(o.max === undefined ? {} : { max: o.max }) };
}
