import { DateTime } from 'luxon';

/**
 * Days of ISO 8601 with a year of four digits: a calendar date, a week date or an ordinal date, extended or basic.
 * Coarser texts such as a year alone are refused: they would be numbers that a client sends by mistake.
 */
const DAY = /^\d{4}(?:-\d\d-\d\d|\d{4}|-?W\d\d-?[1-7]|-\d{3}|\d{3})$/;
/** A time after a day, with the blanks and the name of the zone that SQL and Ruby write. Groups: time, zone. */
const TIME = /^(\d\d[\d:.,]*) ?(Z|UTC|[+-]\d\d:?(?:\d\d)?)?$/;

const LONGEST_INSTANT = 64;

/**
 * Reads a day in any form of ISO 8601, or the day of an instant as it is written. Returns `YYYY-MM-DD`, or null for
 * other texts. Source: reference identity-and-import 1.2.
 */
export function readDay(text: string): string | null {
  const parts = splitDayAndTime(text);
  if (!parts || (parts.time !== null && parseIsoAsUtc(`${parts.day}T${parts.time}`) === null)) return null;
  return parseIsoAsUtc(parts.day)?.toISODate() ?? null;
}

/**
 * Reads an instant of ISO 8601, or as SQL and Ruby write it. Without an offset it is UTC; a day is its begin. Returns
 * null for other texts. Source: reference identity-and-import 1.2.
 */
export function readInstant(text: string): Date | null {
  const parts = splitDayAndTime(text);
  if (!parts) return null;
  return parseIsoAsUtc(parts.time === null ? parts.day : `${parts.day}T${parts.time}`)?.toJSDate() ?? null;
}

/** Splits a text into day and time, both in the spelling of ISO 8601; null for a text that has no such form. */
function splitDayAndTime(text: string): { readonly day: string; readonly time: string | null } | null {
  if (text.length > LONGEST_INSTANT) return null;
  const [day = '', ...rest] = text.toUpperCase().split(/[T ]/, 3);
  if (!DAY.test(day)) return null;
  if (rest.length === 0) return { day, time: null };
  const [, time, zone = ''] = TIME.exec(text.slice(day.length + 1).toUpperCase()) ?? [];
  return time === undefined ? null : { day, time: time + zone.replace('UTC', 'Z') };
}

/**
 * Reads a text of ISO 8601 as UTC. Returns null for other texts and outside of the years 1 to 9999: PostgreSQL has no year 0,
 * and later years have no four digits in answers. An offset or the hour 24 can lead there.
 */
function parseIsoAsUtc(text: string): DateTime<true> | null {
  const read = DateTime.fromISO(text, { zone: 'utc' });
  return read.isValid && read.year >= 1 && read.year <= 9999 ? read : null;
}
