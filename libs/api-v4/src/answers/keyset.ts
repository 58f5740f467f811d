/** One page of a keyset list. Shape: `next` holds the query parameters that continue it; null at the end. */
export interface KeysetPage<T> {
  readonly rows: readonly T[];
  readonly next: Readonly<Record<string, string | number>> | null;
}

/**
 * Cuts a keyset page out of rows read with a limit of `perPage + 1`. `position` says where the next page begins:
 * `{ id_after: 7 }`, or anything for an opaque cursor.
 */
export function keysetPage<T>(
  perPage: number,
  rowsAndOneMore: readonly T[],
  position: (last: T) => { readonly id_after: number } | { readonly id_before: number } | { readonly cursor: object },
): KeysetPage<T> {
  const rows = rowsAndOneMore.slice(0, perPage);
  const last = rows.at(-1);
  if (last === undefined || rowsAndOneMore.length <= perPage) return { rows, next: null };
  const at = position(last);
  return { rows, next: 'cursor' in at ? { cursor: writeCursor(at.cursor) } : { ...at } };
}

/** Base64url of the JSON. Opaque to clients, but not secret: it must hold nothing that the row does not show. */
export function writeCursor(content: object): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url');
}

/** What a statement can compare with; a forged cursor may hold anything. */
function isPlace(value: unknown): boolean {
  return Number.isSafeInteger(value) || (typeof value === 'string' && !value.includes('\0'));
}

/** The content of a cursor, or undefined when it is not one of ours: an id, and the value that the list is ordered by. */
export function readCursor(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const content: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (typeof content !== 'object' || content === null || Array.isArray(content)) return undefined;
    const cursor = content as Record<string, unknown>;
    return Number.isSafeInteger(cursor['id']) && Object.values(cursor).every(isPlace) ? cursor : undefined;
  } catch {
    return undefined;
  }
}
