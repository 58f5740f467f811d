import { types } from 'pg';

const INT8 = 20;
const DATE = 1082;
const INT8_ARRAY = 1016;

const textArray = types.getTypeParser(1009 as number, 'text') as (text: string) => (string | null)[];

/** Ids are far below 2^53. A larger value would silently become the id of another row, so it is refused. */
function parseSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} does not fit a number`);
  return value;
}

const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  [INT8]: parseSafeInteger,
  [DATE]: (text) => text,
  [INT8_ARRAY]: (text) => textArray(text).map((item) => (item === null ? null : parseSafeInteger(item))),
};

/**
 * Parsers of column values on our connections: int8 is a number, a calendar day stays 'YYYY-MM-DD', timestamptz is a
 * Date. They belong to the connection, since pg's own table of parsers is global.
 * Source: docs/architecture.md 5.
 */
export const rowValues = {
  getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
    const own = format === 'binary' ? undefined : parsers[oid];
    return own ?? (types.getTypeParser(oid, format as 'text') as (value: string) => unknown);
  },
};

/**
 * An SQL expression that renders an instant as the API does: UTC with milliseconds, '2026-11-21T09:30:00.000Z'.
 * `expression` is a timestamptz expression of trusted SQL; null stays null.
 */
export function instantSql(expression: string): string {
  return `to_char((${expression}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
