import { awaitedByMany, Pace } from '@rookery/platform';
import type { ShutdownOrder } from '@rookery/platform';
import type { Database } from './database';
import { hedged } from '../connections/hedged';
import type { Prepared } from '../sql/prepared';

/** Where something that others copy stands: a version means something only within its epoch. */
export interface Head {
  readonly version: number;
  readonly epoch: string;
}

interface Waiter {
  readonly after: Head;
  readonly settle: (moved: boolean) => void;
}

/**
 * Wakes those who wait for a version to move: at once after a commit of this process; after one of another replica
 * within `busyMs`, or `calmMs` when nothing moved for ten seconds. One look at the database serves everybody who waits.
 * Shape: `head` selects one row, a Head and what else its owner wants to see of it. Units: ms.
 */
export class HeadWatch<Row extends Head = Head> {
  private readonly waiters = new Set<Waiter>();
  private nextLook: NodeJS.Timeout | undefined;
  private latestHead: Head | null = null;
  private lastSeen: { readonly version: number; readonly at: number } | null = null;
  private readonly pace: Pace;

  constructor(
    private readonly database: Database,
    private readonly shutdown: ShutdownOrder,
    private readonly head: Prepared,
    { busyMs, calmMs }: { readonly busyMs: number; readonly calmMs: number },
  ) {
    this.pace = new Pace(busyMs, calmMs);
    // Polls would hold up the end of the process; what they are told is true, only early.
    shutdown.on('stop-accepting', `polls of ${head.name}`, () => {
      for (const waiter of [...this.waiters]) waiter.settle(false);
      return Promise.resolve();
    });
  }

  /** The newest version of the newest epoch that this process committed or saw; null when it knows of none yet. */
  get latest(): number | null {
    return this.latestHead?.version ?? null;
  }

  /** Whether polls are answered at once, since the process ends. */
  get isEnding(): boolean {
    return this.shutdown.hasBegun;
  }

  /** Whether a look that began since then found this very version. Units: ms of `performance.now()`. */
  hasSeen(version: number, since: number): boolean {
    return this.lastSeen !== null && this.lastSeen.version === version && this.lastSeen.at >= since;
  }

  /** Called once a commit is confirmed. */
  moved(head: Head): void {
    if (head.epoch !== this.latestHead?.epoch || head.version > this.latestHead.version) {
      this.latestHead = head;
      this.pace.found();
    }
    for (const waiter of [...this.waiters]) {
      const { version, epoch } = waiter.after;
      if (head.version > version || head.epoch !== epoch) waiter.settle(true);
      // The database was put back by a dump: those who wait ask anew, and so tell of a version that it does not know.
      else if (head.version < version) waiter.settle(false);
    }
  }

  /**
   * Resolves to true when it has moved on from `after`, to false when it has not in time, stands before it, or nobody waits.
   * Units: ms.
   */
  beyond(after: Head, withinMs: number, signal?: AbortSignal): Promise<boolean> {
    if (this.shutdown.hasBegun) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = setTimeout(() => waiter.settle(false), withinMs);
      const waiter: Waiter = {
        after,
        settle: (moved) => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', leave);
          this.waiters.delete(waiter);
          resolve(moved);
        },
      };
      const leave = (): void => waiter.settle(false);
      signal?.addEventListener('abort', leave, { once: true });
      this.waiters.add(waiter);
      this.lookLater();
    });
  }

  /** Looks now, tells those who wait, and puts the next look off. */
  async look(): Promise<Row | undefined> {
    clearTimeout(this.nextLook);
    this.nextLook = undefined;
    const at = performance.now();
    try {
      const [row] = await awaitedByMany(() => hedged(() => this.database.prepared<Row>(this.head, [])));
      if (row) {
        this.lastSeen = { version: row.version, at };
        this.moved(row);
      }
      return row;
    } finally {
      this.lookLater();
    }
  }

  private lookLater(): void {
    if (this.nextLook !== undefined || this.waiters.size === 0) return;
    // Each that waits has a time limit of its own, so a look that fails is made again and nothing else.
    this.nextLook = setTimeout(() => void this.look().catch(() => undefined), this.pace.restMs);
  }
}
