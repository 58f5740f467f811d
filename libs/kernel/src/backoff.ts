/** Bounds of a wait that doubles with each failure. Units: ms. */
export interface Backoff {
  /** Wait after the first failure. */
  readonly first: number;
  readonly most: number;
}

/** Returns the wait after a number of failures in a row, from 1 on. Units: ms. Callers add their own jitter. */
export function backoffMs(failures: number, { first, most }: Backoff): number {
  // The exponent is bounded, so that the product stays a finite number.
  return Math.min(most, first * 2 ** Math.min(Math.max(failures, 1) - 1, 30));
}
