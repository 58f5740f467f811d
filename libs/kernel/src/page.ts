import { RookeryError } from './errors';

export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 100;
/** Past this many rows a list does not say how many there are. Source: reference identity-and-import 1.3. */
export const COUNT_LIMIT = 10_000;

const KIB = 1024;
const MIB = 1024 * KIB;
/** What the texts of a page may hold together that is made without more ado. Units: bytes. */
export const LIGHT_PAGE = 512 * KIB;
/** What they may hold at all. Units: bytes. Source: reference identity-and-import 1.3. */
export const HEAVIEST_PAGE = 32 * MIB;

/** What the caller asked for. Bounds: page >= 1, 1 <= perPage <= 100. */
export interface PageRequest {
  readonly page: number;
  readonly perPage: number;
  /** There is a place for making a heavy page now. */
  readonly mayBeHeavy?: boolean;
}

/** A page whose texts hold more than they may: of a light page, or at all. */
export class HeavyPage extends RookeryError {
  readonly code = 'heavy_page';
  constructor() {
    super(`per_page is too large for these texts (a page holds at most ${HEAVIEST_PAGE / MIB} MiB of them)`);
  }
}

/** What the texts of this page may hold. Units: bytes. */
export function mostBytesOf({ mayBeHeavy }: PageRequest): number {
  return mayBeHeavy ? HEAVIEST_PAGE : LIGHT_PAGE;
}

/** One page of rows. `total` is null when there are more than COUNT_LIMIT, or than the list counts. */
export interface Page<T> {
  readonly rows: readonly T[];
  readonly total: number | null;
  readonly hasNext: boolean;
}

/** One page whose rows are one JSON array already, as PostgreSQL built it. Shape: `total` as in Page. */
export interface JsonPage {
  readonly json: string;
  readonly total: number | null;
  readonly hasNext: boolean;
}

export function offsetOf(request: PageRequest): number {
  return (request.page - 1) * request.perPage;
}

/**
 * Builds a page from rows read with a limit of `perPage + 1` and a count that stopped at COUNT_LIMIT + 1.
 * Shape: `counted` is the number of rows found by a count limited to COUNT_LIMIT + 1.
 */
export function pageOf<T>(request: PageRequest, rowsAndOneMore: readonly T[], counted: number): Page<T> {
  return {
    rows: rowsAndOneMore.slice(0, request.perPage),
    total: counted > COUNT_LIMIT ? null : counted,
    hasNext: rowsAndOneMore.length > request.perPage,
  };
}

/** What a statement that reads a page tells of the whole. Shape: `has_more` is null where the count tells it. */
export interface ToldTotal {
  readonly counted: number;
  readonly has_more: boolean | null;
}

/** Shape: the count stopped past `most`. */
export function totalOf(
  { page, perPage }: PageRequest,
  { counted, has_more: hasMore }: ToldTotal,
  most = COUNT_LIMIT,
): Pick<JsonPage, 'total' | 'hasNext'> {
  return { total: counted > most ? null : counted, hasNext: hasMore ?? counted > page * perPage };
}

/** The row of a statement that answers a page as JSON. Shape: `json` is null when the page would be too heavy. */
export interface JsonPageRow extends ToldTotal {
  readonly json: string | null;
}

/** Shape: `most` as in `totalOf`. Errors: HeavyPage. */
export function jsonPageOf(request: PageRequest, row: JsonPageRow, most = COUNT_LIMIT): JsonPage {
  if (row.json === null) throw new HeavyPage();
  return { json: row.json, ...totalOf(request, row, most) };
}
