import type { Viewer } from '@rookery/kernel';
import { TooManyRequests } from '@rookery/kernel';

/** How many requests of a kind run at once. */
export interface Places {
  readonly count: number;
  readonly ofOneCaller: number;
}

/** Of one caller; more are refused at once. */
const MOST_WAITING = 16;
const RETRY_AFTER_SECONDS = 1;
/** Of the time that the request has left, so that there is some for the work. */
const WAITING_PART = 0.5;

/** Who asks. Units: `deadline` in epoch milliseconds. */
export type Asking = Pick<Viewer, 'impersonatorId' | 'userId' | 'address' | 'deadline'>;

interface Caller {
  running: number;
  readonly waiting: (() => void)[];
}

/**
 * Places for requests of a kind that costs much: few for all, and of these a part for each caller. The others wait, and
 * callers take turns, so that nobody waits behind the many requests of somebody else.
 * Source: reference reliability 6.3.
 */
export class DearRequests {
  /** Callers with requests here, in the order in which they are served. */
  private readonly callers = new Map<string, Caller>();
  private taken = 0;

  constructor(private readonly places: Places) {}

  /**
   * Does the work in a place of its own.
   * Errors: TooManyRequests when half of the time until the deadline has gone by, or the caller has too many waiting.
   */
  async run<T>(asking: Asking, work: () => T | Promise<T>): Promise<T> {
    const caller = callerOf(asking);
    const own = this.callers.get(caller) ?? { running: 0, waiting: [] };
    this.callers.set(caller, own);
    if (this.mayBegin(own)) this.begin(own);
    else await this.turn(caller, own, (asking.deadline - Date.now()) * WAITING_PART);
    try {
      return await work();
    } finally {
      own.running -= 1;
      this.taken -= 1;
      this.forgetIdle(caller, own);
      this.callNext();
    }
  }

  private mayBegin({ running }: Caller): boolean {
    return this.taken < this.places.count && running < this.places.ofOneCaller;
  }

  private begin(own: Caller): void {
    own.running += 1;
    this.taken += 1;
  }

  /** Until a place was taken for this request. */
  private turn(caller: string, own: Caller, longestWaitMs: number): Promise<void> {
    if (own.waiting.length >= MOST_WAITING) throw new TooManyRequests(RETRY_AFTER_SECONDS);
    return new Promise((resolve, reject) => {
      const called = (): void => {
        clearTimeout(late);
        resolve();
      };
      own.waiting.push(called);
      const late = setTimeout(() => {
        own.waiting.splice(own.waiting.indexOf(called), 1);
        this.forgetIdle(caller, own);
        reject(new TooManyRequests(RETRY_AFTER_SECONDS));
      }, longestWaitMs);
    });
  }

  private callNext(): void {
    for (const [name, own] of this.callers) {
      if (own.waiting.length === 0 || !this.mayBegin(own)) continue;
      // Behind all others, until it is their turn again.
      this.callers.delete(name);
      this.callers.set(name, own);
      this.begin(own);
      own.waiting.shift()!();
      return;
    }
  }

  private forgetIdle(caller: string, own: Caller): void {
    if (own.running === 0 && own.waiting.length === 0) this.callers.delete(caller);
  }
}

/**
 * The places of a process. Shape: two in five of its connections are for dear requests, half of these for one caller, so
 * that other requests always find one of several; two pages may be heavy at once, and each is of another caller.
 */
export function placesOf(connections: number): { readonly dear: Places; readonly heavy: Places } {
  const count = Math.max(1, Math.floor(connections * 0.4));
  return {
    dear: { count, ofOneCaller: Math.max(1, Math.floor(count / 2)) },
    heavy: { count: Math.min(2, count), ofOneCaller: 1 },
  };
}

/** Whose share counts: the person behind it all, or the address of somebody without a token. */
function callerOf({ impersonatorId, userId, address }: Asking): string {
  return String(impersonatorId ?? userId ?? address);
}
