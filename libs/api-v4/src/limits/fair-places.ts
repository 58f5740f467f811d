import type { Viewer } from '@rookery/kernel';
import { TooManyRequests } from '@rookery/kernel';
import type { RateLimit } from '@rookery/kernel';

/** Limits of concurrent and of queued requests of one kind. */
export interface SemaphoreLimits {
  /** Limit that refusals report. Its number is `ofOneCaller` unless `most` is set. */
  readonly named: Pick<RateLimit, 'name' | 'setting'> & Partial<Pick<RateLimit, 'most'>>;
  /** Concurrent requests of all callers. */
  readonly count: number;
  readonly ofOneCaller: number;
  /** Queued requests of all callers. */
  readonly waiting: number;
  readonly waitingOfOneCaller: number;
  /** Part of a request's remaining time that it may spend in the queue. The rest is for the work. */
  readonly waitingPart: number;
}

const RETRY_AFTER_SECONDS = 1;

/**
 * The caller of a limited request. Units: `deadline` in epoch milliseconds. `onGone` registers a callback for the
 * moment when the caller no longer waits for an answer.
 */
export type LimitedCaller = Pick<Viewer, 'impersonatorId' | 'creatorId' | 'userId' | 'address' | 'deadline'> & {
  readonly onGone?: (leave: () => void) => void;
};

interface WaitingWork {
  readonly begin: () => void;
  readonly refuse: () => void;
}

interface CallerQueue {
  running: number;
  readonly waiting: WaitingWork[];
}

/**
 * Limits the concurrent requests of a costly kind, in total and for each caller. Further requests wait in a queue that
 * serves callers in turn, so that no caller waits behind the many requests of another. When the queue is full, the
 * caller with the most queued requests loses the last of them to a caller with fewer.
 * Source: reference reliability 6.3.
 */
export class FairSemaphore {
  /** Callers with running or queued requests, in the order in which they are served. */
  private readonly callers = new Map<number | string, CallerQueue>();
  private taken = 0;
  private queued = 0;

  constructor(private readonly places: SemaphoreLimits) {}

  /** Number of queued requests. */
  get waiting(): number {
    return this.queued;
  }

  /**
   * Executes the work within the limits. Other callers may use its slot once the work is done; the caller's own next
   * request also waits for `settled`, unless the work failed.
   * Errors: TooManyRequests when the request waited too long, the queue is full, or the caller has left.
   */
  async run<T>(asking: LimitedCaller, work: () => T | Promise<T>, settled?: () => Promise<void>): Promise<T> {
    const name = identifyCaller(asking);
    const own = this.callers.get(name) ?? { running: 0, waiting: [] };
    this.callers.set(name, own);
    if (this.canBegin(own)) this.beginWork(own);
    else await this.waitForTurn(name, own, asking);
    let isDone = false;
    try {
      const result = await work();
      isDone = true;
      return result;
    } finally {
      this.taken -= 1;
      if (isDone && settled) {
        this.startNextWork();
        await settled();
      }
      own.running -= 1;
      this.forgetIdleCaller(name, own);
      this.startNextWork();
    }
  }

  private canBegin({ running }: CallerQueue): boolean {
    return this.taken < this.places.count && running < this.places.ofOneCaller;
  }

  private beginWork(queue: CallerQueue): void {
    queue.running += 1;
    this.taken += 1;
  }

  /** Resolves when this request may run; it counts as running then. */
  private waitForTurn(name: number | string, queue: CallerQueue, { deadline, onGone }: LimitedCaller): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(late);
        queue.waiting.splice(queue.waiting.indexOf(waiting), 1);
        this.queued -= 1;
      };
      const waiting: WaitingWork = {
        begin: () => {
          leave();
          this.beginWork(queue);
          resolve();
        },
        refuse: () => {
          leave();
          this.forgetIdleCaller(name, queue);
          const { named, ofOneCaller } = this.places;
          reject(new TooManyRequests(RETRY_AFTER_SECONDS, { most: ofOneCaller, ...named, each: 'moment' }));
        },
      };
      const hasRoom = this.hasRoomFor(queue);
      queue.waiting.push(waiting);
      this.queued += 1;
      const late = setTimeout(waiting.refuse, (deadline - Date.now()) * this.places.waitingPart);
      onGone?.(() => queue.waiting.includes(waiting) && waiting.refuse());
      if (!hasRoom && queue.waiting.includes(waiting)) waiting.refuse();
    });
  }

  /**
   * Returns whether the request may be queued. In a full queue, the caller with the most requests loses the last of
   * them, unless this caller would then have as many.
   */
  private hasRoomFor(queue: CallerQueue): boolean {
    if (queue.waiting.length >= this.places.waitingOfOneCaller) return false;
    if (this.queued < this.places.waiting) return true;
    const [most] = [...this.callers.values()].sort((a, b) => b.waiting.length - a.waiting.length);
    if (!most || most.waiting.length <= queue.waiting.length + 1) return false;
    most.waiting.at(-1)!.refuse();
    return true;
  }

  private startNextWork(): void {
    for (const [name, own] of this.callers) {
      if (own.waiting.length === 0 || !this.canBegin(own)) continue;
      // Moves the caller to the end of the order.
      this.callers.delete(name);
      this.callers.set(name, own);
      own.waiting[0]!.begin();
      return;
    }
  }

  private forgetIdleCaller(name: number | string, queue: CallerQueue): void {
    if (queue.running === 0 && queue.waiting.length === 0) this.callers.delete(name);
  }
}

/**
 * Returns the limits of a process. Costly requests may use two in five of its database connections, and one caller half
 * of these, so that connections are left for other requests. Two heavy pages may be built at once, for different
 * callers.
 */
export function concurrencyLimitsOf(connections: number): {
  readonly costly: SemaphoreLimits;
  readonly heavy: SemaphoreLimits;
} {
  const count = Math.max(1, Math.floor(connections * 0.4));
  return {
    costly: {
      ...QUEUE,
      named: { name: 'searches_of_one_caller', setting: 'DATABASE_POOL_COUNT' },
      count,
      ofOneCaller: Math.max(1, Math.floor(count / 2)),
    },
    heavy: {
      ...QUEUE,
      named: { name: 'heavy_pages_of_one_caller', setting: null },
      count: Math.min(2, count),
      ofOneCaller: 1,
    },
  };
}

/** Queued requests hold connections of the gateway, and must not appear as a slow service. */
const QUEUE = { waiting: 48, waitingOfOneCaller: 16, waitingPart: 0.2 };

/**
 * Returns the identity that the limits count: the administrator behind `sudo`, the creator of a bot, the user, or the
 * address of an anonymous caller.
 */
export function identifyCaller({
  impersonatorId,
  creatorId,
  userId,
  address,
}: Omit<LimitedCaller, 'deadline'>): number | string {
  return impersonatorId ?? creatorId ?? userId ?? address ?? 'nobody';
}
