import { runWithoutDeadline, Pace } from '@rookery/platform';
import type { ShutdownOrder } from '@rookery/platform';
import type { Database } from './database';
import { runHedged } from '../connections/run-hedged';
import type { PreparedStatement } from '../sql/prepared';

/** A position in a log that other processes copy; a version has meaning only within its epoch. */
export interface LogHead {
  readonly version: number;
  readonly epoch: string;
}

interface HeadWaiter {
  readonly after: LogHead;
  readonly settle: (notify: boolean) => void;
}

/**
 * Wakes callers that wait for the version to increase: at once after a commit of this process; after one of another
 * replica within `busyMs`, or `calmMs` if the version did not change for ten seconds. One query serves all waiting
 * callers. `head` selects one row: a Head with further columns for its owner. Units: ms.
 */
export class HeadWatch<Row extends LogHead = LogHead> {
  private readonly waiters = new Set<HeadWaiter>();
  private nextQuery: NodeJS.Timeout | undefined;
  private latestHead: LogHead | null = null;
  private lastSeen: { readonly version: number; readonly at: number } | null = null;
  private readonly pace: Pace;

  constructor(
    private readonly database: Database,
    private readonly shutdown: ShutdownOrder,
    private readonly head: PreparedStatement,
    { busyMs, calmMs }: { readonly busyMs: number; readonly calmMs: number },
  ) {
    this.pace = new Pace(busyMs, calmMs);
    // Waiting polls would delay the shutdown; "not moved" is a correct answer, only early.
    shutdown.addStep('stop-accepting', `polls of ${head.name}`, () => {
      for (const waiter of [...this.waiters]) waiter.settle(false);
      return Promise.resolve();
    });
  }

  /** The newest version of the newest epoch that this process committed or read; null before the first. */
  get newestHead(): number | null {
    return this.latestHead?.version ?? null;
  }

  /** Whether polls are answered at once because the process is stopping. */
  get isEnding(): boolean {
    return this.shutdown.hasBegun;
  }

  /** Whether a query that began since then found exactly this version. Units: ms of `performance.now()`. */
  hasSeen(version: number, since: number): boolean {
    return this.lastSeen !== null && this.lastSeen.version === version && this.lastSeen.at >= since;
  }

  /** Records that a confirmed transaction of this process has moved the head of the log, and wakes the callers that wait for it. */
  recordMove(head: LogHead): void {
    if (head.epoch !== this.latestHead?.epoch || head.version > this.latestHead.version) {
      this.latestHead = head;
      this.pace.recordWork();
    }
    for (const waiter of [...this.waiters]) {
      const { version, epoch } = waiter.after;
      if (head.version > version || head.epoch !== epoch) waiter.settle(true);
      // The database was restored from a dump: callers ask again and report a version that it does not know.
      else if (head.version < version) waiter.settle(false);
    }
  }

  /**
   * Waits until the version exceeds `after`: true when it does; false on timeout or abort, at shutdown, or when the
   * version is lower than `after`.
   * Units: ms.
   */
  waitPast(after: LogHead, withinMs: number, signal?: AbortSignal): Promise<boolean> {
    if (this.shutdown.hasBegun) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = setTimeout(() => waiter.settle(false), withinMs);
      const waiter: HeadWaiter = {
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
      this.scheduleQuery();
    });
  }

  /** Queries the head now, wakes callers, and postpones the next query. */
  async readRow(): Promise<Row | undefined> {
    clearTimeout(this.nextQuery);
    this.nextQuery = undefined;
    const at = performance.now();
    try {
      const [row] = await runWithoutDeadline(() => runHedged(() => this.database.prepared<Row>(this.head, [])));
      if (row) {
        this.lastSeen = { version: row.version, at };
        this.recordMove(row);
      }
      return row;
    } finally {
      this.scheduleQuery();
    }
  }

  private scheduleQuery(): void {
    if (this.nextQuery !== undefined || this.waiters.size === 0) return;
    // Each caller has its own timeout, so a failed query is only repeated.
    this.nextQuery = setTimeout(() => void this.readRow().catch(() => undefined), this.pace.restMs);
  }
}
