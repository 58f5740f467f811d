import type { Values } from '../sql/conditions';

export type Sort = 'asc' | 'desc';
/** An SQL expression to sort by, with its direction. */
export type OrderTerm = readonly [by: string, sort: Sort, nulls?: 'nulls last'];

/** The SQL of a list. It is trusted SQL; values of a request are parameters. */
export interface ListParts {
  /** Prefix of the names of the prepared statements. */
  readonly name: string;
  /** The FROM clause whose aliases the conditions and columns use: `members m`. */
  readonly from: string;
  /**
   * A unique column. It breaks ties of the order, and the inner query of a page selects it. Default: `id` of `from`.
   */
  readonly key?: string;
  /** The columns of a result row. Default: every column of `from`. */
  readonly columns?: string;
  /** Joined to the rows of the page only: `join users u on u.id = m.user_id`. */
  readonly joins?: string;
  /**
   * Columns that the inner query of a page selects itself: those of a plain table that needs no further columns, or of
   * rows that no key finds again. Without it the inner query selects the key, and `columns` and `joins` are looked up
   * for its rows.
   */
  readonly carries?: string;
  /**
   * The size of a row's long texts in bytes, embedded rows included: an SQL expression that decompresses none of them
   * (`octet_length`), never null. Pages over the byte limit are refused. For lists with `carries`.
   */
  readonly bytes?: string;
  /**
   * Values of the parameters that these texts name. An array instead of an object makes all parameters of the list
   * numbered.
   */
  readonly values?: Values;
}

/** A FROM clause that finds the rows faster than the list's own. */
export interface Source {
  /** A FROM clause with the same aliases, for the count and for pages. */
  readonly from: string;
  /** A FROM clause that holds at least the first `count` rows in order that meet the conditions; for pages. */
  readonly first?: (count: number) => string;
  /** `from` contains the conditions of the list already. */
  readonly isNarrowed?: boolean;
  /** Finding the rows is the costly part: they are found once, for the page and the count. */
  readonly isGathered?: boolean;
}

/**
 * An SQL expression for the rows of a FROM clause in this order, as one JSON array. The expression is null if the
 * boolean expression `heavy` is true, which holds for all rows or for none.
 */
export type JsonRows = (from: string, order: string, heavy: string | null) => string;

/** SQL texts for a statement that returns a page with its count. */
export interface JsonParts {
  readonly rows: JsonRows;
  /** An expression that replaces the bounded count. */
  readonly counted?: string;
  /** The bound of `counted`: it stops past so many rows. Default: COUNT_LIMIT. */
  readonly countedTo?: number;
  /** Common table expressions of the statement. */
  readonly with?: string;
  /** Further columns such as `state.version`, and the FROM clause that provides them. */
  readonly extraColumns?: string;
  readonly from?: string;
}

/** A row of a page that was read with its count. */
export type CountedRow<R> = R & {
  readonly counted: number;
  /** Null for the only row of an empty page, which has just the count. */
  readonly is_row: boolean | null;
};
