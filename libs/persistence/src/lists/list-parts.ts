import type { Values } from '../sql/conditions';

export type Sort = 'asc' | 'desc';
/** An SQL expression to sort by, and how. */
export type OrderTerm = readonly [by: string, sort: Sort, nulls?: 'nulls last'];

/** Shape: trusted SQL; values of a request are parameters. */
export interface ListParts {
  /** Begins the names of the prepared statements. */
  readonly name: string;
  /** The FROM clause that conditions and columns speak of: `members m`. */
  readonly from: string;
  /** The column that tells rows apart. It breaks ties of the order, and the page is cut by it. Default: `id` of `from`. */
  readonly key?: string;
  /** What is shown of a row. Default: every column of `from`. */
  readonly columns?: string;
  /** Joined to the rows of the page only: `join users u on u.id = m.user_id`. */
  readonly joins?: string;
  /**
   * Columns that the cut of the page brings along: those of a plain table, of which nothing else is shown, or of rows that
   * no key finds again. Without it the page is cut by the key, and `columns` and `joins` are looked up for its rows.
   */
  readonly carries?: string;
  /**
   * How many bytes the long texts of a row hold, those of what it shows of others included: an expression that unpacks
   * none of them, so `octet_length`, never null. Pages that hold too many are not made. For lists that carry their rows.
   */
  readonly bytes?: string;
  /** Values of the parameters that these texts name. Shape: by name; an array makes all parameters of the list numbered. */
  readonly values?: Values;
}

/** Where rows are looked for, when there is a quicker way than the FROM clause. */
export interface Source {
  /** A FROM clause with the same aliases, for the count and for pages. */
  readonly from: string;
  /** A FROM clause that holds at least the first so many rows in order, conditions regarded; for pages. */
  readonly first?: (count: number) => string;
  /** The conditions of the list stand in it. */
  readonly isNarrowed?: boolean;
  /** Finding the rows at all is what costs: they are found once, for the page and the count. */
  readonly isGathered?: boolean;
}

/**
 * The rows of a FROM clause in this order, as one JSON array: an expression. Shape: where the boolean expression `heavy`
 * holds of the rows, which it does of all or of none, it is null.
 */
export type JsonRows = (from: string, order: string, heavy: string | null) => string;

/** What a statement that answers a page with its count is made of. Shape: SQL texts. */
export interface JsonParts {
  readonly rows: JsonRows;
  /** In place of the bounded count: an expression. */
  readonly counted?: string;
  /** How far that counts: it stops past so many rows. Default: COUNT_LIMIT. */
  readonly countedTo?: number;
  /** Common table expressions of all that. */
  readonly with?: string;
  /** More columns: `state.version`, and the FROM clause that they are of. */
  readonly besides?: string;
  readonly from?: string;
}

/** A row of a page that was read with its count. */
export type CountedRow<R> = R & {
  readonly counted: number;
  /** Null for the one row of a page that has none. */
  readonly is_row: boolean | null;
};
