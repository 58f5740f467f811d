import { InvalidParameters } from '@rookery/kernel';
import { isBlankSudo, isSudoSpelling } from './unread-sudo';

/** Parameters by name. The object has no prototype, so that no parameter name can reach one. */
export interface RawParams {
  [name: string]: RawValue;
}
type RawValue = unknown;

// An object made by a constructor without a prototype chain is as safe as Object.create(null), and ten times as fast.
const EmptyParams = function () {} as unknown as new () => RawParams;
EmptyParams.prototype = Object.freeze(Object.create(null) as object);

/** An empty object without `Object.prototype`. */
export function createEmptyParams(): RawParams {
  return new EmptyParams();
}

const MAX_PAIRS = 5000;
const MAX_DEPTH = 32;
/** Signs of another encoding: the NUL bytes of UTF-16, and the replacement character. */
const UNDECODED = /[\0\ufffd]/;
const NONE: RawParams = Object.freeze(createEmptyParams());

/**
 * Parses a query string or a form body like Rails: `a=1`, `a[]=1`, `a[k]=1`, `a[0][k]=1`, `a[][k]=1`. A repeated key
 * begins a new element of `a[]`. A repeated plain name keeps its last value.
 * Errors: InvalidParameters for broken percent escapes, too many pairs, or too deep nesting.
 * Source: reference identity-and-import 1.2; ADR 0031.
 */
export function readUrlEncoded(text: string): RawParams {
  if (text === '') return NONE;
  const params = createEmptyParams();
  const pairs = text.split('&');
  if (pairs.length > MAX_PAIRS) throw new InvalidParameters(['too many parameters']);
  for (const pair of pairs) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decodeFormComponent(equals < 0 ? pair : pair.slice(0, equals));
    addBracketedParam(params, name, equals < 0 ? '' : decodeFormComponent(pair.slice(equals + 1)));
  }
  return params;
}

/** Adds a pair whose name may have brackets. Also used for the parts of a multipart body. Errors: InvalidParameters. */
export function addBracketedParam(params: RawParams, name: string, value: unknown): void {
  // A name in another encoding could be any name.
  if (UNDECODED.test(name)) throw new InvalidParameters(['parameters are not encoded correctly']);
  const bracket = name.indexOf('[');
  const segments = bracket > 0 ? splitBracketedName(name, bracket) : null;
  if (segments === null) {
    // A blank `sudo` does not override an earlier one.
    if (params[name] === undefined || !isBlankSudo(value) || !isSudoSpelling(name)) params[name] = value;
    return;
  }
  if (segments.length > MAX_DEPTH) throw new InvalidParameters([`${segments[0]!} is invalid`]);
  storeNestedValue(params, segments, 0, value);
}

function decodeFormComponent(text: string): string {
  try {
    const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
    return spaced.includes('%') ? decodeURIComponent(spaced) : spaced;
  } catch {
    throw new InvalidParameters(['parameters are not encoded correctly']);
  }
}

/** Splits `a[b][]` into [a, b, '']. Null when brackets do not close; the name is taken literally then. */
function splitBracketedName(name: string, firstBracket: number): string[] | null {
  const segments = [name.slice(0, firstBracket)];
  let at = firstBracket;
  while (at < name.length) {
    const close = name.indexOf(']', at);
    if (name[at] !== '[' || close < 0) return null;
    segments.push(name.slice(at + 1, close));
    at = close + 1;
  }
  return segments;
}

function storeNestedValue(target: RawParams, segments: readonly string[], segmentIndex: number, value: unknown): void {
  const key = segments[segmentIndex]!;
  const next = segments[segmentIndex + 1];
  if (next === undefined) {
    target[key] = value;
    return;
  }
  if (next !== '') {
    storeNestedValue((target[key] = recordOrEmpty(target[key])), segments, segmentIndex + 1, value);
    return;
  }
  const items = (target[key] = Array.isArray(target[key]) ? (target[key] as unknown[]) : []) as unknown[];
  if (segments.length === segmentIndex + 2) {
    items.push(value);
    return;
  }
  const last = items.at(-1);
  const element = isRecord(last) && !hasKeyPath(last, segments, segmentIndex + 2) ? last : createEmptyParams();
  if (element !== last) items.push(element);
  storeNestedValue(element, segments, segmentIndex + 2, value);
}

/**
 * Whether the element already has the key path, so that the pair begins a new element. Paths through lists never do.
 */
function hasKeyPath(element: RawParams, segments: readonly string[], from: number): boolean {
  let held: unknown = element;
  for (let at = from; at < segments.length; at++) {
    if (segments[at] === '') return false;
    if (!isRecord(held) || !(segments[at]! in held)) return false;
    held = held[segments[at]!];
  }
  return true;
}

function recordOrEmpty(value: unknown): RawParams {
  return isRecord(value) ? value : createEmptyParams();
}

/** Whether a value is an object that is not an array. */
export function isRecord(value: unknown): value is RawParams {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Serializes nested parameters to pairs with bracketed names, for links. */
export function toPairs(params: RawParams): [string, string][] {
  const pairs: [string, string][] = [];
  for (const name of Object.keys(params)) appendBracketedPairs(pairs, name, params[name]);
  return pairs;
}

/** Appends the pairs of one parameter. Null and undefined have none. */
export function appendBracketedPairs(pairs: [string, string][], name: string, value: unknown): void {
  if (typeof value === 'string') pairs.push([name, value]);
  else if (value === null || value === undefined) return;
  else if (Array.isArray(value)) for (const item of value) appendBracketedPairs(pairs, `${name}[]`, item);
  else if (value instanceof Date) pairs.push([name, value.toISOString()]);
  else if (isRecord(value))
    for (const key of Object.keys(value)) appendBracketedPairs(pairs, `${name}[${key}]`, value[key]);
  else pairs.push([name, String(value)]);
}
