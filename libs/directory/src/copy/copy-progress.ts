import { Inject, Injectable } from '@nestjs/common';
import { Unavailable } from '@rookery/kernel';
import { Database, hedged, prepared } from '@rookery/persistence';
import { awaitedByMany, Pace, platformSettings, Readiness } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { SharedQuestion } from './shared-question';

/** Where a directory stands: a version means something only within its epoch. */
export interface Position {
  readonly version: number;
  readonly epoch: string;
}

/** Where the copy stands, and what else decides whether it may still be gone by. */
export interface CopyHead extends Position {
  /** Known to have been current less than 60 s ago. */
  readonly recent: boolean;
  /** The day by which memberships and shares expire, 'YYYY-MM-DD' in UTC by the clock of the database. */
  readonly today: string;
}

/** Columns of CopyHead. Shape: a select list over `directory_state s`. */
export const HEAD_COLUMNS = `s.version, s.epoch, s.refreshed_at > statement_timestamp() - interval '60 seconds' as recent,
  (statement_timestamp() at time zone 'UTC')::date::text as today`;

const HEAD = prepared('directory_head', `select ${HEAD_COLUMNS} from directory_state s`);
/** How often the copy is looked at while somebody waits: another replica may be the one that moves it. Units: ms. */
const LOOK_MS = 20;
/** So many looks in vain, and identity is asked instead of waiting for what it tells. */
const LOOKS_IN_VAIN = 5;

interface Waiter {
  readonly target: Position;
  readonly settle: (reached: boolean) => void;
}

/** Has a copy that stands at `position` seen everything that `target` asks for? */
export function hasReached(position: Position, target: Position): boolean {
  return position.epoch === target.epoch && position.version >= target.version;
}

/**
 * Knows where the service's copy stands, and waits until it reaches a version. The applier of this process says so at
 * once; for copies that another replica moves, one shared look at the database every 20 ms serves all who wait.
 */
@Injectable()
export class CopyProgress {
  private readonly waiters = new Set<Waiter>();
  private looking: NodeJS.Timeout | undefined;
  private readonly where = new SharedQuestion(() => awaitedByMany(() => hedged(() => this.read())));
  private wasLoaded = false;
  private wake: (() => void) | undefined;
  private looksInVain = 0;
  private readonly pace = new Pace(0, 0);
  private hurry = new AbortController();
  private readonly hoping = new Set<() => void>();

  /** The process is not ready before its copy was loaded once. */
  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(Readiness) readiness: Readiness,
    @Inject(platformSettings.token) private readonly settings: SettingsOf<typeof platformSettings>,
  ) {
    readiness.require('directory', () => this.readiness());
  }

  /** Where the copy stands, by a statement that was sent after this call. */
  head(): Promise<CopyHead> {
    return this.where.ask();
  }

  /** How long a request waits for the copy. Units: ms. Source: reference reliability 4.2, 5. */
  get patienceMs(): number {
    return this.settings.directoryWaitMs;
  }

  /** Resolves to whether the target was reached in time, to false when nobody waits any more. Units: ms. */
  reach(target: Position, withinMs: number, signal?: AbortSignal): Promise<boolean> {
    if (withinMs <= 0) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = setTimeout(() => waiter.settle(false), withinMs);
      const waiter: Waiter = {
        target,
        settle: (reached) => {
          clearTimeout(timer);
          this.waiters.delete(waiter);
          resolve(reached);
        },
      };
      signal?.addEventListener('abort', () => waiter.settle(false), { once: true });
      this.waiters.add(waiter);
      this.pace.found();
      this.wake?.();
      this.look();
    });
  }

  /** Nobody needed the copy to be current for a while. */
  get isCalm(): boolean {
    return this.pace.isCalm;
  }

  /** Aborted when somebody cannot wait until identity answers a poll by itself. */
  get haste(): AbortSignal {
    return this.hurry.signal;
  }

  /** Identity is being asked at once. */
  hasten(): void {
    if (this.hurry.signal.aborted) this.hurry = new AbortController();
  }

  /** Somebody goes by a copy that is current, and may again soon. */
  used(): void {
    this.pace.found();
  }

  /** Resolves when the applier has asked identity and stored its answer, at the latest after so long. Units: ms. */
  renewal(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.hoping.delete(end);
        resolve();
      };
      const timer = setTimeout(end, withinMs);
      this.hoping.add(end);
      this.hurry.abort();
    });
  }

  /** The applier has just stored what identity says, or another replica is at it. */
  looked(): void {
    for (const end of [...this.hoping]) end();
  }

  /** Resolves as soon as somebody waits for the copy, at the latest after so long. Units: ms. */
  async calm(ms: number, signal: AbortSignal): Promise<void> {
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

  /** The copy stands here now. */
  moved(position: Position): void {
    for (const waiter of [...this.waiters]) if (hasReached(position, waiter.target)) waiter.settle(true);
  }

  /** Identity may go away later without taking its readers with it: they still serve what is public. */
  private async readiness(): Promise<string | null> {
    this.wasLoaded ||= (await this.head()).epoch !== '';
    return this.wasLoaded ? null : 'the copy of the directory was never loaded';
  }

  private async read(): Promise<CopyHead> {
    const [head] = await this.database.prepared<CopyHead>(HEAD, []);
    if (!head) throw new Unavailable('directory behind');
    return head;
  }

  private look(): void {
    if (this.waiters.size === 0) this.looksInVain = 0;
    if (this.looking !== undefined || this.waiters.size === 0) return;
    this.looksInVain += 1;
    if (this.looksInVain === LOOKS_IN_VAIN) this.hurry.abort();
    this.looking = setTimeout(() => {
      void this.head()
        .then((head) => this.moved(head))
        // The waiters' own time limit answers for a database that is away.
        .catch(() => undefined)
        .finally(() => {
          this.looking = undefined;
          this.look();
        });
    }, LOOK_MS);
  }
}
