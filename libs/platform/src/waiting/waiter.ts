import { AsyncLocalStorage } from 'node:async_hooks';

/** By what right somebody's work is done, where they may lose it meanwhile. Source: ADR 0050. */
export interface Rights {
  /**
   * Null when it was looked at just now; else looks again, and whatever is about to be read waits for that.
   * Errors: what the caller is told instead of an answer.
   */
  look(): Promise<void> | null;
  /** The same for what is about to be written or committed. */
  lookToWrite(): Promise<void> | null;
  /** How long what was looked at still holds. Units: ms. */
  leftMs(): number;
  /** Something was committed: what is still read, unless it is written by, is the answer to it. */
  committed(): void;
}

/** What a request left of a limit of somebody. Units: `seconds` until all of it is there again. */
export interface LimitState {
  readonly name: string;
  readonly most: number;
  readonly used: number;
  readonly seconds: number;
}

/** Who waits for what runs. Units: `deadline` in epoch milliseconds; Infinity when it was not told. */
export interface Waiter {
  /** A holder is a client whose request holds a connection to the database already. */
  readonly kind: 'client' | 'process' | 'holder';
  readonly deadline: number;
  /** Whose share of what there is little of it takes: the person behind it all by id, or an address. */
  readonly caller?: number | string;
  /** Whether they left: what they only read is not begun for them any more. Left out where it is done all the same. */
  readonly isGone?: () => boolean;
  /** Left out where nothing hangs on the rights of anybody. */
  readonly rights?: Rights;
  /** Hears of a limit that what is done was counted by: the last word counts, and none where it fails. */
  readonly limited?: (state: LimitState) => void;
  /** The one transaction of all that is done for them, where it is to be one; known to `libs/persistence` only. */
  readonly whole?: object;
}

interface Place {
  waiter: Waiter | null;
}

const places = new AsyncLocalStorage<Place>();

/**
 * Runs what somebody waits for, so that whoever must wait within it knows how long that is any use. Shape: what is still
 * running once the promise is settled is awaited by nobody. It costs a hook on every promise: 8 us of CPU a request
 * with Node 20, nothing to speak of with Node 24. Source: ADR 0020.
 */
export async function awaitedBy<T>(waiter: Waiter, use: () => Promise<T>): Promise<T> {
  const place: Place = { waiter };
  try {
    return await places.run(place, use);
  } finally {
    place.waiter = null;
  }
}

/** For what everybody depends on, as where the copy of the directory stands: none of them says how long it may take. */
export function awaitedByMany<T>(use: () => Promise<T>): Promise<T> {
  return awaitedBy({ kind: 'process', deadline: Infinity }, use);
}

/** For what goes on beside an answer. */
export function awaitedByNobody<T>(use: () => T): T {
  return places.exit(use);
}

/** Null for work in the background: effects, relay, mailer, jobs. */
export function currentWaiter(): Waiter | null {
  return places.getStore()?.waiter ?? null;
}
