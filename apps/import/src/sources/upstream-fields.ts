import type { UpstreamPerson } from '@rookery/contracts';

/** Fields of an object that an upstream host sent. */
export type Fields = Readonly<Record<string, unknown>>;

/** Deleted users have no id. Source: reference identity-and-import 6.7. */
export const DELETED: UpstreamPerson = { id: null, username: 'ghost' };
/** Units: characters. */
export const MAX_USERNAME = 255;
/** Longest id of a commit. Units: characters. */
export const MAX_SHA = 64;
const MAX_LIST = 500;

/** Returns the fields of an object that an upstream host sent. A value of another type has no fields. */
export function toFields(item: unknown): Fields {
  return typeof item === 'object' && item !== null ? (item as Fields) : {};
}

/** Returns an instant; null for a value that is no instant, and for years that the database cannot store. */
export function parseTime(value: unknown): string | null {
  const at = typeof value === 'string' ? new Date(value) : null;
  if (at === null || Number.isNaN(at.getTime())) return null;
  return /^(?!0000)\d{4}-/.test(at.toISOString()) ? at.toISOString() : null;
}

/** Returns at most the first `maxLength` characters of a text. */
export function parseText(value: unknown, maxLength = Infinity): string | null {
  return typeof value === 'string' && value !== '' ? storableText(value.slice(0, maxLength)) : null;
}

export function parseList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, MAX_LIST) : [];
}

export function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** Returns a username without control characters, cut to its maximum. A cut may leave a half of a surrogate pair. */
export function storableUsername(text: string): string {
  return storableText(text.replace(/\p{C}/gu, '').slice(0, MAX_USERNAME));
}

/** Returns a text that PostgreSQL can store: without NUL, and with U+FFFD for each half of a surrogate pair. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '').replace(/\p{Cs}/gu, '\ufffd');
}
