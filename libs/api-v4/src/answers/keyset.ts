/** One page of a keyset list. `next` has the query parameters of the next page; null on the last page. */
export interface KeysetPage<T> {
  readonly rows: readonly T[];
  readonly next: Readonly<Record<string, string | number>> | null;
}

/** Start of a page: ids, with the order that they belong to, or the content of an opaque cursor. */
type PagePosition =
  | { readonly id_after: number; readonly order_by?: 'id' }
  | { readonly id_before: number; readonly order_by?: 'id' }
  | { readonly cursor: object };

/**
 * Builds a keyset page from rows that were read with a limit of `perPage + 1`. `position` returns the start of the next
 * page: `{ id_after: 7 }`, or any object for an opaque cursor.
 */
export function keysetPage<T>(
  perPage: number,
  rowsAndOneMore: readonly T[],
  position: (last: T) => PagePosition,
): KeysetPage<T> {
  const rows = rowsAndOneMore.slice(0, perPage);
  const last = rows.at(-1);
  if (last === undefined || rowsAndOneMore.length <= perPage) return { rows, next: null };
  const at = position(last);
  return { rows, next: 'cursor' in at ? { cursor: writeCursor(at.cursor) } : { ...at } };
}

/**
 * Encodes a cursor as JSON in base64url. It is opaque but not secret: it must contain only values that the row shows.
 */
export function writeCursor(content: object): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url');
}

/** Whether a statement can use the value. A forged cursor may contain any value. */
function isUsableCursorValue(value: unknown): boolean {
  return Number.isSafeInteger(value) || (typeof value === 'string' && !value.includes('\0'));
}

/** Decodes a cursor: an id, and the value that the list is ordered by. Returns undefined for a malformed cursor. */
export function readCursor(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const content: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (typeof content !== 'object' || content === null || Array.isArray(content)) return undefined;
    const cursor = content as Record<string, unknown>;
    return Number.isSafeInteger(cursor['id']) && Object.values(cursor).every(isUsableCursorValue) ? cursor : undefined;
  } catch {
    return undefined;
  }
}
