import type { FieldForm, ItemKind } from './fields';
import { isRecord } from './bracket-params';
import { readDay, readInstant } from '@rookery/kernel';

/** Result for a value that cannot be coerced: "<name> is invalid". */
export const INVALID: unique symbol = Symbol('invalid');

/** Coerces a sent value. Returns null for an empty text that means "no value", and INVALID on failure. */
export type Coerce = (raw: unknown) => unknown;

const INTEGER = /^[+-]?\d{1,16}$/;
const FLOAT = /^[+-]?\d+(\.\d+)?([eE][+-]?\d{1,3})?$/;
const FLAGS = new Map<unknown, boolean>([
  [true, true],
  [false, false],
  [1, true],
  [0, false],
]);
for (const [yes, no] of [
  ['true', 'false'],
  ['1', '0'],
  ['t', 'f'],
  ['y', 'n'],
  ['yes', 'no'],
  ['on', 'off'],
] as const) {
  for (const spell of [returnUnchanged, capitalize, (word: string) => word.toUpperCase()]) {
    FLAGS.set(spell(yes), true);
    FLAGS.set(spell(no), false);
  }
}

function returnUnchanged(word: string): string {
  return word;
}
function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/**
 * Coerces to an integer. Bounds: safe integers, so 20 digits are invalid. Source: reference identity-and-import 1.2.
 */
export function toInt(raw: unknown): unknown {
  if (typeof raw === 'number') return Number.isSafeInteger(raw) ? raw : INVALID;
  if (raw === '') return null;
  if (typeof raw !== 'string' || !INTEGER.test(raw)) return INVALID;
  const value = Number(raw);
  return Number.isSafeInteger(value) ? value : INVALID;
}

function toFloat(raw: unknown): unknown {
  if (typeof raw === 'number') return Number.isFinite(raw) ? raw : INVALID;
  if (raw === '') return null;
  return typeof raw === 'string' && FLOAT.test(raw) ? Number(raw) : INVALID;
}

export function toFlag(raw: unknown): unknown {
  if (raw === '') return null;
  return FLAGS.get(raw) ?? INVALID;
}

const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Whether PostgreSQL can store a text: it rejects NUL in texts and lone surrogates in JSON, both of which JSON bodies
 * can express (`"\ud83d"`). Source: reference identity-and-import 1.2.
 */
function isStorableText(text: string): boolean {
  return !text.includes('\0') && !LONE_SURROGATE.test(text);
}

export function toText(raw: unknown): unknown {
  if (typeof raw === 'string') return isStorableText(raw) ? raw : INVALID;
  return typeof raw === 'number' || typeof raw === 'boolean' ? String(raw) : INVALID;
}

export function toDay(raw: unknown): unknown {
  if (raw === '') return null;
  return typeof raw === 'string' ? (readDay(raw) ?? INVALID) : INVALID;
}

export function toInstant(raw: unknown): unknown {
  if (raw === '') return null;
  return typeof raw === 'string' ? (readInstant(raw) ?? INVALID) : INVALID;
}

/**
 * Coerces to an id or a path. Digits beyond the range of ids are a path, because paths may consist of digits.
 * Source: reference identity-and-import 1.2.
 */
export function toIdOrPath(raw: unknown): unknown {
  if (typeof raw === 'number') return Number.isSafeInteger(raw) ? raw : INVALID;
  if (typeof raw !== 'string' || !isStorableText(raw)) return INVALID;
  if (raw === '') return null;
  const id = /^\d+$/.test(raw) ? toInt(raw) : INVALID;
  return id === INVALID ? raw : id;
}

function createChoiceCoercion(values: readonly (string | number)[]): Coerce {
  if (values.every((value) => typeof value === 'string')) return toText;
  const areNumbers = values.every((value) => typeof value === 'number');
  return (raw) => {
    if (areNumbers && raw === '') return null;
    if (areNumbers && toInt(raw) === INVALID) return INVALID;
    if (typeof raw !== 'string' && typeof raw !== 'number') return INVALID;
    return values.find((value) => String(value) === String(raw)) ?? raw;
  };
}

/**
 * Returns the items of a list; undefined for other values. A hash with indexes as keys is a list too:
 * `name[0]=a&name[1]=b`.
 */
export function toItems(raw: unknown): readonly unknown[] | undefined {
  if (Array.isArray(raw)) return raw;
  if (!isRecord(raw)) return undefined;
  const keys = Object.keys(raw);
  if (!keys.every((key) => /^\d{1,9}$/.test(key))) return undefined;
  return keys.sort((a, b) => Number(a) - Number(b)).map((key) => raw[key]);
}

function createListCoercion(itemKind: ItemKind, splitItems: boolean): Coerce {
  const coerce: Coerce = itemKind === 'int' ? toInt : toText;
  const split = (text: string): string[] => text.split(',').map((part) => part.trim());
  return (raw) => {
    const values: unknown[] = [];
    const isTaken = (part: unknown): boolean => {
      if (part === '' || part === null) return true;
      const value = coerce(part);
      return value !== INVALID && values.push(value) > 0;
    };
    if (typeof raw === 'string') return split(raw).every(isTaken) ? values : INVALID;
    const items = typeof raw === 'number' ? [raw] : toItems(raw);
    const areTaken = (item: unknown): boolean =>
      splitItems && typeof item === 'string' ? split(item).every(isTaken) : isTaken(item);
    return items?.every(areTaken) ? values : INVALID;
  };
}

function createHashCoercion(valueKind: 'text' | 'flag' | 'any'): Coerce {
  const coerce: Coerce = valueKind === 'flag' ? toFlag : valueKind === 'text' ? toText : (returnUnchanged as Coerce);
  return (raw) => {
    if (raw === '') return null;
    if (!isRecord(raw)) return INVALID;
    const hash = Object.create(null) as Record<string, unknown>;
    for (const key of Object.keys(raw)) {
      if (key === '__proto__') continue;
      const value = raw[key] === null ? null : coerce(raw[key]);
      if (value === INVALID || !isStorableText(key) || (valueKind === 'any' && !isStorableValue(value))) return INVALID;
      hash[key] = value;
    }
    return hash;
  };
}

function storableOrInvalid(raw: unknown): unknown {
  return isStorableValue(raw) ? raw : INVALID;
}

function isStorableValue(value: unknown): boolean {
  if (typeof value === 'string') return isStorableText(value);
  if (Array.isArray(value)) return value.every(isStorableValue);
  return !isRecord(value) || Object.keys(value).every((key) => isStorableText(key) && isStorableValue(value[key]));
}

/** Returns the coercion for a field form. ParamsPlan coerces nested hashes and uploads itself. */
export function chooseCoercion(form: FieldForm): Coerce {
  switch (form.kind) {
    case 'int':
      return toInt;
    case 'float':
      return toFloat;
    case 'text':
      return toText;
    case 'flag':
      return toFlag;
    case 'instant':
      return toInstant;
    case 'day':
      return toDay;
    case 'oneOf':
      return createChoiceCoercion(form.values);
    case 'list':
      return createListCoercion(form.of, form.splitItems);
    case 'hash':
      return createHashCoercion(form.of);
    case 'idOrPath':
      return toIdOrPath;
    case 'any':
    case 'hashes':
    case 'group':
    case 'upload':
      return storableOrInvalid;
  }
}
