import { AsyncLocalStorage } from 'node:async_hooks';

/** Permissions of a caller that may be removed while its request runs. Source: ADR 0050. */
export interface Rights {
  /**
   * Rechecks the permissions before a read. Returns null if they were checked recently; otherwise the read waits for
   * the result.
   * Errors: the refusal for the caller.
   */
  recheckBeforeRead(): Promise<void> | null;
  /** Does the same as `recheckBeforeRead` before a write or commit. */
  recheckBeforeWrite(): Promise<void> | null;
  /** How long the last check is valid. Units: ms. */
  validForMs(): number;
  /** Records a commit: reads after it, unless a write follows, only produce its answer and need no recheck. */
  recordCommit(): void;
}

/** State of a rate limit after a request. Units: `seconds` until the full limit is available again. */
export interface LimitState {
  readonly name: string;
  readonly most: number;
  readonly used: number;
  readonly seconds: number;
}

/** The caller that waits for the running work. Units: `deadline` in epoch milliseconds; Infinity if unknown. */
export interface Waiter {
  /** `holder`: a client whose request holds a database connection already. */
  readonly kind: 'client' | 'process' | 'holder';
  readonly deadline: number;
  /** The caller whose share of limited resources is used: the id of the responsible user, or an address. */
  readonly caller?: number | string;
  /**
   * Whether the client has disconnected: reads are not begun for it any more. Omitted where work continues regardless.
   */
  readonly isGone?: () => boolean;
  /** Omitted where nothing depends on permissions of a caller. */
  readonly rights?: Rights;
  /** Receives the state of a limit that counted the request: the last call counts, and none if the request fails. */
  readonly limited?: (state: LimitState) => void;
  /** The outer transaction of the request, if it has one; only `libs/persistence` uses it. */
  readonly outerTransaction?: object;
}

interface WaiterSlot {
  waiter: Waiter | null;
}

const slots = new AsyncLocalStorage<WaiterSlot>();

/**
 * Runs work for a waiting caller, so that waits inside know its deadline. Work that still runs after the promise is
 * settled has no waiting caller. It costs a hook on every promise: 8 us of CPU for each request with Node 20, next to
 * nothing with Node 24. Source: ADR 0020.
 */
export async function runForWaiter<T>(waiter: Waiter, use: () => Promise<T>): Promise<T> {
  const slot: WaiterSlot = { waiter };
  try {
    return await slots.run(slot, use);
  } finally {
    slot.waiter = null;
  }
}

/** Runs work that many requests share, such as reading the position of the directory copy: it has no deadline. */
export function runWithoutDeadline<T>(use: () => Promise<T>): Promise<T> {
  return runForWaiter({ kind: 'process', deadline: Infinity }, use);
}

/** Runs work that continues independently of the answer. */
export function runDetached<T>(use: () => T): T {
  return slots.exit(use);
}

/** The waiting caller; null for background work: effects, relay, mailer, jobs. */
export function currentWaiter(): Waiter | null {
  return slots.getStore()?.waiter ?? null;
}
