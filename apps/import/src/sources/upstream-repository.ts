/** A page of a list. `next` is the address of the next page. */
export interface UpstreamPage {
  readonly items: readonly unknown[];
  readonly next: string | null;
  /** Time until which the host should get no more requests; null if it may get them. */
  readonly pauseUntil: Date | null;
}

/** The lists and objects of one repository of an upstream host. */
export interface UpstreamRepository {
  /** Host of the API as `host:port`. It separates people of different hosts. */
  readonly host: string;
  /** Returns the address of the first page of a list. `path` is relative to the address of the repository. */
  firstPage(path: string, pageSize: number): string;
  /** Reads a page of a list. A list that the repository does not use is empty. Errors: UpstreamError. */
  page(address: string, signal: AbortSignal): Promise<UpstreamPage>;
  /**
   * Reads an object. `path` is relative to the address of the repository. Returns null if the credential does not reach
   * the object. Errors: UpstreamError.
   */
  object(path: string, signal: AbortSignal): Promise<object | null>;
}

/**
 * Access to the API of a host. `url` has no trailing slash. `credential` is a token, or `user:secret` for hosts with
 * HTTP Basic authentication.
 */
export interface UpstreamAccess {
  readonly url: string;
  readonly credential: string;
}

/** Maximum number of items of a page: the largest page size that an import asks for. */
export const MAX_ITEMS = 100;
/** Largest page of a list. Ten times as much may be in memory while it is read. Units: bytes. */
export const PAGE_BYTES = 4 * 1024 * 1024;
/** Largest answer about a user, a repository or its default branch. Units: bytes. */
export const SMALL_BYTES = 256 * 1024;
