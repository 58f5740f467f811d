import 'reflect-metadata';
import { rulesOf } from './field-rules';

/** What every field decorator takes. */
export interface FieldCommon<T> {
  readonly optional?: true;
  /** An explicit null is told apart and reaches the handler as null; otherwise null counts as not sent. */
  readonly nullable?: true;
  /** Used when the parameter is not sent; makes it optional. */
  readonly default?: T;
  /** Taken from the path only. Parameters named in the path template are, without saying so. */
  readonly in?: 'path';
  /** Deprecated names that are folded into this one. */
  readonly alias?: string | readonly string[];
  /** What to use instead. */
  readonly deprecated?: string;
  readonly about?: string;
}

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

function field(form: FieldForm, common: FieldCommon<unknown>): PropertyDecorator {
  return (target, key) => {
    const owner = target.constructor;
    const inherited = (Reflect.getMetadata(FIELDS, owner) as FieldDeclaration[] | undefined) ?? [];
    const declaration: FieldDeclaration = { name: String(key), form, common };
    Reflect.defineMetadata(FIELDS, [...inherited.filter((one) => one.name !== key), declaration], owner);
    for (const rule of rulesOf(form, common)) rule(target, key);
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

/** A whole number; a numeric text will do. Bounds inclusive; outside of them "does not have a valid value". */
export function Int(o: FieldCommon<number> & Range = {}): PropertyDecorator {
  return field({ kind: 'int', ...range(o) }, o);
}

/** A number. */
export function Float(o: FieldCommon<number> & Range = {}): PropertyDecorator {
  return field({ kind: 'float', ...range(o) }, o);
}

/** Units: `min` and `max` count characters. `blank: 'refused'` answers "is empty" for nothing but blanks. */
export function Text(
  o: FieldCommon<string> & Range & { readonly blank?: 'refused'; readonly pattern?: RegExp } = {},
): PropertyDecorator {
  const pattern = o.pattern ? { pattern: o.pattern } : {};
  return field({ kind: 'text', ...range(o), ...pattern, refuseBlank: o.blank === 'refused' }, o);
}

/** true or false, in every spelling of reference identity-and-import 1.2. */
export function Flag(o: FieldCommon<boolean> = {}): PropertyDecorator {
  return field({ kind: 'flag' }, o);
}

/** A point in time, ISO 8601; a Date for the handler. Bounds: `after` is exclusive. */
export function Instant(o: FieldCommon<Date> & { readonly after?: string } = {}): PropertyDecorator {
  return field({ kind: 'instant', ...(o.after ? { after: o.after } : {}) }, o);
}

/** A calendar day; the text `YYYY-MM-DD` for the handler. */
export function Day(o: FieldCommon<string> = {}): PropertyDecorator {
  return field({ kind: 'day' }, o);
}

/** One of a few values; anything else "does not have a valid value". */
export function OneOf<const T extends string | number>(
  values: readonly T[],
  o: FieldCommon<T> = {},
): PropertyDecorator {
  return field({ kind: 'oneOf', values }, o);
}

/**
 * A list: a JSON array, `name[]=`, or one comma-separated text. Bounds: `max` items (1,000).
 * `splitItems` also splits the items of an array on commas (always so for numbers and enumerations).
 */
export function ListOf(
  of: ItemKind,
  o: FieldCommon<readonly (string | number)[]> & {
    readonly max?: number;
    readonly splitItems?: true;
    readonly empty?: 'refused';
  } = {},
): PropertyDecorator {
  const splitItems = o.splitItems === true || of !== 'text';
  return field({ kind: 'list', of, max: o.max ?? 1000, splitItems, refuseEmpty: o.empty === 'refused' }, o);
}

/** A free hash: `name[key]=value` or a JSON object. */
export function Hash(o: FieldCommon<object> & { readonly of?: 'text' | 'flag' | 'any' } = {}): PropertyDecorator {
  return field({ kind: 'hash', of: o.of ?? 'text' }, o);
}

/** A list of hashes with declared fields: JSON, `name[0][key]=`, or `name[][key]=`. */
export function ListOfHashes(
  of: () => new () => object,
  o: FieldCommon<readonly object[]> & { readonly max?: number } = {},
): PropertyDecorator {
  return field({ kind: 'hashes', of, max: o.max ?? 1000 }, o);
}

/** One hash with declared fields. */
export function HashOf(of: () => new () => object, o: FieldCommon<object> = {}): PropertyDecorator {
  return field({ kind: 'group', of }, o);
}

/** A number for an id, a text for a full path or a name. */
export function IdOrPath(o: FieldCommon<number | string> = {}): PropertyDecorator {
  return field({ kind: 'idOrPath' }, o);
}

/** Any JSON value, unjudged. */
export function AnyValue(o: FieldCommon<unknown> = {}): PropertyDecorator {
  return field({ kind: 'any' }, o);
}

/**
 * A part of a multipart body with a file name: an UploadedFile for the handler. Texts of that name are dropped; with
 * `nullable` a blank one (a part, a form field, JSON `""` or null, `name=` in the query) is null: take the file away.
 * An `alias` counts for files only.
 */
export function Upload(o: FieldCommon<never> = {}): PropertyDecorator {
  return field({ kind: 'upload' }, o);
}

function together(kind: TogetherRule['kind'], names: readonly string[]): ClassDecorator {
  return (target) => {
    // Class decorators run from the last to the first; problems are named in the order that is read.
    Reflect.defineMetadata(TOGETHER, [{ kind, names }, ...togetherRulesOf(target)], target);
  };
}

/** "a, b are missing, at least one parameter must be provided". */
export const AtLeastOneOf = (...names: string[]): ClassDecorator => together('atLeastOne', names);
/** At least one as above with "exactly one", at most one as in Exclusive. */
export const ExactlyOneOf = (...names: string[]): ClassDecorator => together('exactlyOne', names);
/** "a, b are mutually exclusive". */
export const Exclusive = (...names: string[]): ClassDecorator => together('exclusive', names);

function range(o: Range): Range {
  return { ...(o.min === undefined ? {} : { min: o.min }), ...(o.max === undefined ? {} : { max: o.max }) };
}
