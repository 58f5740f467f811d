import { Inject, Injectable } from '@nestjs/common';
import { Unavailable } from '@rookery/kernel';
import { Database, runHedged, prepareStatement } from '@rookery/persistence';
import { runWithoutDeadline, Pace, platformSettings, Readiness } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { CoalescedCall } from './coalesced-call';

/** Position of a directory or a copy. Versions are comparable only within one epoch. */
export interface Position {
  readonly version: number;
  readonly epoch: string;
}

/** Position of the copy, and further facts that decide whether it may be used. */
export interface CopyHead extends Position {
  /** Whether the copy was known to be current less than 60 s ago. */
  readonly recent: boolean;
  /** Current day for the expiry of memberships and shares, 'YYYY-MM-DD' in UTC by the clock of the database. */
  readonly today: string;
}

/** Columns of CopyHead: a select list over `directory_state s`. */
export const HEAD_COLUMNS = `s.version, s.epoch, s.refreshed_at > statement_timestamp() - interval '60 seconds' as recent,
  (statement_timestamp() at time zone 'UTC')::date::text as today`;

const HEAD = prepareStatement('directory_head', `select ${HEAD_COLUMNS} from directory_state s`);
/**
 * Interval at which the copy's position is read while requests wait, because another replica may move it. Units: ms.
 */
const POLL_MS = 20;
/** Number of fruitless reads after which identity is asked at once. */
const MAX_FRUITLESS_POLLS = 5;

interface PositionWaiter {
  readonly target: Position;
  readonly settle: (reached: boolean) => void;
}

/** Whether a copy at `position` has seen everything up to `target`. */
export function hasReached(position: Position, target: Position): boolean {
  return position.epoch === target.epoch && position.version >= target.version;
}

/**
 * Reads the position of the service's copy and waits until it reaches a version. The applier of this process reports
 * new positions at once. For moves by other replicas, one shared read every 20 ms serves all waiting requests.
 */
@Injectable()
export class DirectoryCopyProgress {
  private readonly waiters = new Set<PositionWaiter>();
  private pollTimer: NodeJS.Timeout | undefined;
  private readonly headQuestion = new CoalescedCall(() => runWithoutDeadline(() => runHedged(() => this.queryHead())));
  private wasLoaded = false;
  private wake: (() => void) | undefined;
  private fruitlessPolls = 0;
  private readonly pace = new Pace(0, 0);
  private urgencyController = new AbortController();
  private readonly renewalWaiters = new Set<() => void>();

  /** Makes the process unready until its copy was loaded once. */
  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(Readiness) readiness: Readiness,
    @Inject(platformSettings.token) private readonly settings: SettingsOf<typeof platformSettings>,
  ) {
    readiness.addCheck('directory', () => this.reasonNotReady());
  }

  /** Returns the position of the copy, read by a statement that is sent after this call. */
  readHead(): Promise<CopyHead> {
    return this.headQuestion.askOnce();
  }

  /**
   * Time for which a request waits for the copy before identity is asked. Units: ms. Source: reference reliability 4.2,
   * 5.
   */
  get waitMs(): number {
    return this.settings.directoryWaitMs;
  }

  /** Waits until the copy reaches the target. Resolves to false after `withinMs` or when `signal` aborts. Units: ms. */
  waitForPosition(target: Position, withinMs: number, signal?: AbortSignal): Promise<boolean> {
    if (withinMs <= 0) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = setTimeout(() => waiter.settle(false), withinMs);
      const waiter: PositionWaiter = {
        target,
        settle: (reached) => {
          clearTimeout(timer);
          this.waiters.delete(waiter);
          resolve(reached);
        },
      };
      signal?.addEventListener('abort', () => waiter.settle(false), { once: true });
      this.waiters.add(waiter);
      this.pace.recordWork();
      this.wake?.();
      this.scheduleHeadPoll();
    });
  }

  /** Whether no effect has needed a current copy for a while. */
  get isCalm(): boolean {
    return this.pace.isCalm;
  }

  /** Aborts when a request cannot wait until identity answers a held poll. */
  get urgency(): AbortSignal {
    return this.urgencyController.signal;
  }

  /** Resets `urgency` when identity is asked at once. */
  resetUrgency(): void {
    if (this.urgencyController.signal.aborted) this.urgencyController = new AbortController();
  }

  /** Records that an effect used a current copy and may need it again soon. */
  recordUse(): void {
    this.pace.recordWork();
  }

  /**
   * Has the applier poll identity at once. Resolves when it has stored the answer, at the latest after `withinMs`.
   * Units: ms.
   */
  renewHead(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.renewalWaiters.delete(end);
        resolve();
      };
      const timer = setTimeout(end, withinMs);
      this.renewalWaiters.add(end);
      this.urgencyController.abort();
    });
  }

  /** Resolves all `renewHead` calls. Called after the applier stored an answer, or when another replica is storing one. */
  settleRenewals(): void {
    for (const end of [...this.renewalWaiters]) end();
  }

  /** Resolves as soon as a request waits for the copy, at the latest after `ms`. */
  async waitForDemand(ms: number, signal: AbortSignal): Promise<void> {
    if (this.waiters.size > 0 || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        this.wake = undefined;
        resolve();
      };
      const timer = setTimeout(end, ms);
      signal.addEventListener('abort', end);
      this.wake = end;
    });
  }

  /** Resolves the waiting requests whose target is reached at `position`. */
  reportPosition(position: Position): void {
    for (const waiter of [...this.waiters]) if (hasReached(position, waiter.target)) waiter.settle(true);
  }

  /**
   * Reason why the process is not ready. A later outage of identity does not matter, because public resources are still
   * served.
   */
  private async reasonNotReady(): Promise<string | null> {
    this.wasLoaded ||= (await this.readHead()).epoch !== '';
    return this.wasLoaded ? null : 'the copy of the directory was never loaded';
  }

  private async queryHead(): Promise<CopyHead> {
    const [head] = await this.database.prepared<CopyHead>(HEAD, []);
    if (!head) throw new Unavailable('directory behind');
    return head;
  }

  private scheduleHeadPoll(): void {
    if (this.waiters.size === 0) this.fruitlessPolls = 0;
    if (this.pollTimer !== undefined || this.waiters.size === 0) return;
    this.fruitlessPolls += 1;
    if (this.fruitlessPolls === MAX_FRUITLESS_POLLS) this.urgencyController.abort();
    this.pollTimer = setTimeout(() => {
      void this.readHead()
        .then((head) => this.reportPosition(head))
        // The time limit of the waiters covers an unavailable database.
        .catch(() => undefined)
        .finally(() => {
          this.pollTimer = undefined;
          this.scheduleHeadPoll();
        });
    }, POLL_MS);
  }
}
