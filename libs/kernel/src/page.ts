import { RookeryError } from './errors';

export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 100;
/** Lists with more rows than this report no total. Source: reference identity-and-import 1.3. */
export const COUNT_LIMIT = 10_000;

const KIB = 1024;
const MIB = 1024 * KIB;
/** Limit of the texts of an ordinary page together. Heavier pages need a permit. Units: bytes. */
export const ORDINARY_PAGE_BYTES = 512 * KIB;
/** Limit of the texts of any page together. Units: bytes. Source: reference identity-and-import 1.3. */
export const MAX_PAGE_BYTES = 32 * MIB;

/** The page that the caller asked for. Bounds: page >= 1, 1 <= perPage <= 100. */
export interface PageRequest {
  readonly page: number;
  readonly perPage: number;
  /** The request holds a permit for a heavy page. */
  readonly hasHeavyPagePermit?: boolean;
}

/** The texts of a page exceed the limit of an ordinary page, or of any page. */
export class HeavyPage extends RookeryError {
  readonly code = 'heavy_page';
  constructor() {
    super(`per_page is too large for these texts (a page holds at most ${MAX_PAGE_BYTES / MIB} MiB of them)`);
  }
}

/** Limit of the texts of this page. Units: bytes. */
export function byteLimitOf({ hasHeavyPagePermit }: PageRequest): number {
  return hasHeavyPagePermit ? MAX_PAGE_BYTES : ORDINARY_PAGE_BYTES;
}

/** One page of rows. `total` is null when there are more than COUNT_LIMIT rows, or more than the list counts. */
export interface Page<T> {
  readonly rows: readonly T[];
  readonly total: number | null;
  readonly hasNext: boolean;
}

/** One page whose rows are already a JSON array, built by PostgreSQL. `total` has the meaning of that in Page. */
export interface JsonPage {
  readonly json: string;
  readonly total: number | null;
  readonly hasNext: boolean;
}

export function offsetOf(request: PageRequest): number {
  return (request.page - 1) * request.perPage;
}

/**
 * Builds a page from rows read with a limit of `perPage + 1` and a count that stopped at COUNT_LIMIT + 1. `counted` is
 * the number of rows found by a count limited to COUNT_LIMIT + 1.
 */
export function pageOf<T>(request: PageRequest, rowsAndOneMore: readonly T[], counted: number): Page<T> {
  return {
    rows: rowsAndOneMore.slice(0, request.perPage),
    total: counted > COUNT_LIMIT ? null : counted,
    hasNext: rowsAndOneMore.length > request.perPage,
  };
}

/** Total of a list, as a page statement returns it. `has_more` is null if `counted` already implies it. */
export interface CountedTotal {
  readonly counted: number;
  readonly has_more: boolean | null;
}

/** Returns total and next-page flag of a list. The total is null if the statement counted more than `most` rows. */
export function totalOf(
  { page, perPage }: PageRequest,
  { counted, has_more: hasMore }: CountedTotal,
  most = COUNT_LIMIT,
): Pick<JsonPage, 'total' | 'hasNext'> {
  return { total: counted > most ? null : counted, hasNext: hasMore ?? counted > page * perPage };
}

/** Row of a statement that returns a page as JSON. `json` is null if the page would be too large. */
export interface JsonPageRow extends CountedTotal {
  readonly json: string | null;
}

/** Turns the row of a page statement into a page. `most` has the meaning of that in `totalOf`. Errors: HeavyPage. */
export function jsonPageOf(request: PageRequest, row: JsonPageRow, most = COUNT_LIMIT): JsonPage {
  if (row.json === null) throw new HeavyPage();
  return { json: row.json, ...totalOf(request, row, most) };
}
