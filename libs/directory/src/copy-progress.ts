import { Inject, Injectable } from '@nestjs/common';
import { Unavailable } from '@rookery/kernel';
import { Database, prepared } from '@rookery/persistence';

/** Where a directory stands: a version means something only within its epoch. */
export interface Position {
  readonly version: number;
  readonly epoch: string;
}

const POSITION = prepared('directory_position', 'select version, epoch from directory_state');
/** How often the copy is looked at while somebody waits: another replica may be the one that moves it. Units: ms. */
const LOOK_MS = 20;

interface Waiter {
  readonly target: Position;
  readonly settle: (reached: boolean) => void;
}

/** Has a copy that stands at `position` seen everything that `target` asks for? */
export function hasReached(position: Position, target: Position): boolean {
  return position.epoch === target.epoch && position.version >= target.version;
}

/**
 * Waits until the service's copy reaches a version. The applier of this process says so at once; for copies that
 * another replica moves, one shared look at the database every 20 ms serves everybody who waits.
 */
@Injectable()
export class CopyProgress {
  private readonly waiters = new Set<Waiter>();
  private looking: NodeJS.Timeout | undefined;

  constructor(@Inject(Database) private readonly database: Database) {}

  /** Where the copy stands; its epoch is empty while it was not loaded. */
  async position(): Promise<Position> {
    const [position] = await this.database.prepared<Position>(POSITION, []);
    if (!position) throw new Unavailable('directory');
    return position;
  }

  /** Resolves to whether the target was reached in time. Units: ms. */
  reach(target: Position, withinMs: number): Promise<boolean> {
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
      this.waiters.add(waiter);
      this.look();
    });
  }

  /** The copy stands here now. */
  moved(position: Position): void {
    for (const waiter of [...this.waiters]) if (hasReached(position, waiter.target)) waiter.settle(true);
  }

  private look(): void {
    if (this.looking !== undefined || this.waiters.size === 0) return;
    this.looking = setTimeout(() => {
      void this.position()
        .then((position) => this.moved(position))
        // The waiters' own time limit answers for a database that is away.
        .catch(() => undefined)
        .finally(() => {
          this.looking = undefined;
          this.look();
        });
    }, LOOK_MS);
  }
}
