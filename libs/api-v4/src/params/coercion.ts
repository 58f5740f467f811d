import type { FieldForm, ItemKind } from './fields';
import { isRecord } from './bracket-params';

/** The value cannot be brought into the form: "<name> is invalid". */
export const INVALID: unique symbol = Symbol('invalid');

/** Brings a sent value into form. Shape: null for an empty text where that means "no value". */
export type Coerce = (raw: unknown) => unknown;

const INTEGER = /^[+-]?\d{1,16}$/;
const FLOAT = /^[+-]?\d+(\.\d+)?([eE][+-]?\d{1,3})?$/;
const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;
const INSTANT =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?(Z|UTC|[+-]\d{2}:?\d{2})?)?$/i;

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
  for (const spell of [same, capitalised, (word: string) => word.toUpperCase()]) {
    FLAGS.set(spell(yes), true);
    FLAGS.set(spell(no), false);
  }
}

function same(word: string): string {
  return word;
}
function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** Source: reference identity-and-import 1.2. Bounds: whole numbers within the safe range, so 20 digits are invalid. */
export function toInt(raw: unknown): unknown {
  if (typeof raw === 'number') return Number.isSafeInteger(raw) ? raw : INVALID;
  if (raw === '') return null;
  if (typeof raw !== 'string' || !INTEGER.test(raw)) return INVALID;
  const value = Number(raw);
  return Number.isSafeInteger(value) ? value : INVALID;
}

export function toFloat(raw: unknown): unknown {
  if (typeof raw === 'number') return Number.isFinite(raw) ? raw : INVALID;
  if (raw === '') return null;
  return typeof raw === 'string' && FLOAT.test(raw) ? Number(raw) : INVALID;
}

export function toFlag(raw: unknown): unknown {
  if (raw === '') return null;
  return FLAGS.get(raw) ?? INVALID;
}

const HALF_CHARACTER = /\p{Surrogate}/u;

/**
 * PostgreSQL holds no NUL in a text and no half of a surrogate pair in JSON, which JSON bodies can spell (`"\ud83d"`);
 * so nobody gets to send one. Source: reference identity-and-import 1.2.
 */
function isStorable(text: string): boolean {
  return !text.includes('\0') && !HALF_CHARACTER.test(text);
}

export function toText(raw: unknown): unknown {
  if (typeof raw === 'string') return isStorable(raw) ? raw : INVALID;
  return typeof raw === 'number' || typeof raw === 'boolean' ? String(raw) : INVALID;
}

function isDay(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(year, month - 1, day));
  return year >= 1 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

export function toDay(raw: unknown): unknown {
  if (raw === '') return null;
  if (typeof raw !== 'string') return INVALID;
  // Clients send whole instants where only the day counts.
  const parts = DAY.exec(raw) ?? INSTANT.exec(raw);
  if (!parts || !isDay(Number(parts[1]), Number(parts[2]), Number(parts[3]))) return INVALID;
  return `${parts[1]!}-${parts[2]!}-${parts[3]!}`;
}

/** A text without an offset is UTC. */
export function toInstant(raw: unknown): unknown {
  if (raw === '') return null;
  const parts = typeof raw === 'string' ? INSTANT.exec(raw) : null;
  if (!parts || !isDay(Number(parts[1]), Number(parts[2]), Number(parts[3]))) return INVALID;
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = parts;
  const offset = /^(Z|UTC)$/i.test(zone) ? 'Z' : zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone;
  const millis = fraction.slice(0, 3).padEnd(3, '0');
  const value = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}.${millis}${offset}`);
  return Number.isNaN(value.getTime()) ? INVALID : value;
}

/**
 * Digits that are too many for an id are a path, which may well be one of digits.
 * Source: reference identity-and-import 1.2.
 */
export function toIdOrPath(raw: unknown): unknown {
  if (typeof raw === 'number') return Number.isSafeInteger(raw) ? raw : INVALID;
  if (typeof raw !== 'string' || !isStorable(raw)) return INVALID;
  if (raw === '') return null;
  const id = /^\d+$/.test(raw) ? toInt(raw) : INVALID;
  return id === INVALID ? raw : id;
}

function toOneOf(values: readonly (string | number)[]): Coerce {
  if (values.every((value) => typeof value === 'string')) return toText;
  const areNumbers = values.every((value) => typeof value === 'number');
  return (raw) => {
    if (areNumbers && toInt(raw) === INVALID) return INVALID;
    if (typeof raw !== 'string' && typeof raw !== 'number') return INVALID;
    return values.find((value) => String(value) === String(raw)) ?? raw;
  };
}

/** An index hash `{"0": a, "1": b}` is how `name[0]=a&name[1]=b` arrives. */
export function itemsOf(raw: unknown): readonly unknown[] | undefined {
  if (Array.isArray(raw)) return raw;
  if (!isRecord(raw)) return undefined;
  const keys = Object.keys(raw);
  if (!keys.every((key) => /^\d{1,9}$/.test(key))) return undefined;
  return keys.sort((a, b) => Number(a) - Number(b)).map((key) => raw[key]);
}

function toList(of: ItemKind, splitItems: boolean): Coerce {
  const coerce: Coerce = of === 'int' ? toInt : of === 'text' ? toText : toText;
  const split = (text: string): string[] => text.split(',').map((part) => part.trim());
  return (raw) => {
    const values: unknown[] = [];
    const isTaken = (part: unknown): boolean => {
      if (part === '' || part === null) return true;
      const value = coerce(part);
      return value !== INVALID && values.push(value) > 0;
    };
    if (typeof raw === 'string') return split(raw).every(isTaken) ? values : INVALID;
    const items = typeof raw === 'number' ? [raw] : itemsOf(raw);
    const areTaken = (item: unknown): boolean =>
      splitItems && typeof item === 'string' ? split(item).every(isTaken) : isTaken(item);
    return items?.every(areTaken) ? values : INVALID;
  };
}

function toHash(of: 'text' | 'flag' | 'any'): Coerce {
  const coerce: Coerce = of === 'flag' ? toFlag : of === 'text' ? toText : (same as Coerce);
  return (raw) => {
    if (raw === '') return null;
    if (!isRecord(raw)) return INVALID;
    const hash = Object.create(null) as Record<string, unknown>;
    for (const key of Object.keys(raw)) {
      if (key === '__proto__') continue;
      const value = raw[key] === null ? null : coerce(raw[key]);
      if (value === INVALID || !isStorable(key) || (of === 'any' && !isAllStorable(value))) return INVALID;
      hash[key] = value;
    }
    return hash;
  };
}

function toAny(raw: unknown): unknown {
  return isAllStorable(raw) ? raw : INVALID;
}

function isAllStorable(value: unknown): boolean {
  if (typeof value === 'string') return isStorable(value);
  if (Array.isArray(value)) return value.every(isAllStorable);
  return !isRecord(value) || Object.keys(value).every((key) => isStorable(key) && isAllStorable(value[key]));
}

/** The coercion of a form; nested hashes and uploads are the plan's own business. */
export function coercionOf(form: FieldForm): Coerce {
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
      return toOneOf(form.values);
    case 'list':
      return toList(form.of, form.splitItems);
    case 'hash':
      return toHash(form.of);
    case 'idOrPath':
      return toIdOrPath;
    case 'any':
    case 'hashes':
    case 'group':
    case 'upload':
      return toAny;
  }
}
