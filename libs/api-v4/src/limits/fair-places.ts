import type { Viewer } from '@rookery/kernel';
import { TooManyRequests } from '@rookery/kernel';
import type { RateLimit } from '@rookery/kernel';

/** How many requests of a kind run at once, and how many wait for that. */
export interface Places {
  /** What whoever finds no place is told; the number is `ofOneCaller`, unless it is named. */
  readonly named: Pick<RateLimit, 'name' | 'setting'> & Partial<Pick<RateLimit, 'most'>>;
  readonly count: number;
  readonly ofOneCaller: number;
  readonly waiting: number;
  readonly waitingOfOneCaller: number;
  /** Of the time that a request has left, so that there is some for the work. */
  readonly waitingPart: number;
}

const RETRY_AFTER_SECONDS = 1;

/**
 * Who asks. Units: `deadline` in epoch milliseconds. Shape: `onGone` has something done once they do not wait for an answer
 * any more.
 */
export type Asking = Pick<Viewer, 'impersonatorId' | 'makerId' | 'userId' | 'address' | 'deadline'> & {
  readonly onGone?: (leave: () => void) => void;
};

interface Waiting {
  readonly begin: () => void;
  readonly refuse: () => void;
}

interface Caller {
  running: number;
  readonly waiting: Waiting[];
}

/**
 * Places for requests of a kind that costs much: few for all, and of these a part for each caller. The others wait, and
 * callers take turns, so that nobody waits behind the many requests of somebody else. When the line is full, whoever has
 * most in it loses the last of theirs to somebody with fewer.
 * Source: reference reliability 6.3.
 */
export class FairPlaces {
  /** Callers with requests here, in the order in which they are served. */
  private readonly callers = new Map<number | string, Caller>();
  private taken = 0;
  private line = 0;

  constructor(private readonly places: Places) {}

  /** How many wait now. */
  get waiting(): number {
    return this.line;
  }

  /**
   * Does the work in a place of its own. Shape: the place is free for other callers once the work is done; `settled` is
   * what the caller's own next request waits for besides, when the work did not fail.
   * Errors: TooManyRequests when too much of the time until the deadline has gone by, too many wait, or nobody does any more.
   */
  async run<T>(asking: Asking, work: () => T | Promise<T>, settled?: () => Promise<void>): Promise<T> {
    const name = callerOf(asking);
    const own = this.callers.get(name) ?? { running: 0, waiting: [] };
    this.callers.set(name, own);
    if (this.mayBegin(own)) this.begin(own);
    else await this.turn(name, own, asking);
    let isDone = false;
    try {
      const result = await work();
      isDone = true;
      return result;
    } finally {
      this.taken -= 1;
      if (isDone && settled) {
        this.callNext();
        await settled();
      }
      own.running -= 1;
      this.forgetIdle(name, own);
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
  private turn(name: number | string, own: Caller, { deadline, onGone }: Asking): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(late);
        own.waiting.splice(own.waiting.indexOf(waiting), 1);
        this.line -= 1;
      };
      const waiting: Waiting = {
        begin: () => {
          leave();
          this.begin(own);
          resolve();
        },
        refuse: () => {
          leave();
          this.forgetIdle(name, own);
          const { named, ofOneCaller } = this.places;
          reject(new TooManyRequests(RETRY_AFTER_SECONDS, { most: ofOneCaller, ...named, each: 'moment' }));
        },
      };
      const hasRoom = this.hasRoomFor(own);
      own.waiting.push(waiting);
      this.line += 1;
      const late = setTimeout(waiting.refuse, (deadline - Date.now()) * this.places.waitingPart);
      onGone?.(() => own.waiting.includes(waiting) && waiting.refuse());
      if (!hasRoom && own.waiting.includes(waiting)) waiting.refuse();
    });
  }

  /** Whoever has most in a full line loses the last of theirs, unless the newcomer would then have as many. */
  private hasRoomFor(own: Caller): boolean {
    if (own.waiting.length >= this.places.waitingOfOneCaller) return false;
    if (this.line < this.places.waiting) return true;
    const [most] = [...this.callers.values()].sort((a, b) => b.waiting.length - a.waiting.length);
    if (!most || most.waiting.length <= own.waiting.length + 1) return false;
    most.waiting.at(-1)!.refuse();
    return true;
  }

  private callNext(): void {
    for (const [name, own] of this.callers) {
      if (own.waiting.length === 0 || !this.mayBegin(own)) continue;
      // Behind all others, until it is their turn again.
      this.callers.delete(name);
      this.callers.set(name, own);
      own.waiting[0]!.begin();
      return;
    }
  }

  private forgetIdle(name: number | string, own: Caller): void {
    if (own.running === 0 && own.waiting.length === 0) this.callers.delete(name);
  }
}

/**
 * The places of a process. Shape: two in five of its connections are for dear requests, half of these for one caller, so
 * that other requests always find one of several; two pages may be heavy at once, and each is of another caller.
 */
export function placesOf(connections: number): { readonly dear: Places; readonly heavy: Places } {
  const count = Math.max(1, Math.floor(connections * 0.4));
  return {
    dear: {
      ...LINE,
      named: { name: 'searches_of_one_caller', setting: 'DATABASE_POOL_COUNT' },
      count,
      ofOneCaller: Math.max(1, Math.floor(count / 2)),
    },
    heavy: {
      ...LINE,
      named: { name: 'heavy_pages_of_one_caller', setting: null },
      count: Math.min(2, count),
      ofOneCaller: 1,
    },
  };
}

/** Whoever waits keeps a connection of the gateway, and is not to look as if the service were late. */
const LINE = { waiting: 48, waitingOfOneCaller: 16, waitingPart: 0.2 };

/** Whose share counts: the person behind it all, who made the bot if it is one, or the address of somebody without a token. */
export function callerOf({ impersonatorId, makerId, userId, address }: Omit<Asking, 'deadline'>): number | string {
  return impersonatorId ?? makerId ?? userId ?? address ?? 'nobody';
}
