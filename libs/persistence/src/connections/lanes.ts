import { Unavailable } from '@rookery/kernel';
import { currentWaiter } from '@rookery/platform';
import type { Rights } from '@rookery/platform';
import { Pool } from 'pg';
import type { PoolClient, PoolConfig } from 'pg';
import type { Caller } from './caller-shares';
import { CallerShares } from './caller-shares';

/**
 * What connections are kept apart for: requests of clients, questions of other processes, work in the background; and what
 * stays although a request fails, for which that request waits while it holds a connection: of its own lane all might be held so.
 */
export const LANES = ['requests', 'internal', 'background', 'apart'] as const;
export type Lane = (typeof LANES)[number];

/**
 * Work in the background hands over lists of ids. PostgreSQL guesses ten items for a list, finds that plan dearer than
 * one for the list at hand, and so plans anew at nearly every execution: planning the joins of an e-mail takes ten times
 * as long as running them. Its statements must be good with one plan for all lists. Source: ADR 0025.
 */
const KEEPS_PLANS: PoolConfig = { options: '-c plan_cache_mode=force_generic_plan' };

/** Stay open while nobody asks for anything: the first who does after an hour is served as fast as the last. */
const KEPT_FOR_REQUESTS = 2;

/** Units: `waitMs` how long those wait for a connection who have no deadline. */
export interface LaneLimits {
  readonly counts: Readonly<Record<Lane, number>>;
  readonly waitMs: number;
}

type Taken = (error: Error | undefined, client: PoolClient | undefined, release: (destroy?: unknown) => void) => void;

const LANE_OF = { client: 'requests', process: 'internal', holder: 'apart' } as const;

/** What part of the connections for requests one caller has at once, whatever they ask for: two leave some to others. */
const PART_OF_ONE_CALLER = 0.4;

/**
 * The pool that TypeORM holds: one pool a lane behind it, so that neither requests nor background work take the last
 * connection from each other, nor one caller that of all others. Whoever waits for one does so until their deadline.
 * Who had to wait for long is handed their connection once their rights were looked at again: nothing is begun by rights
 * that are gone, however many wait.
 * Shape: the lane follows from who waits (`currentWaiter`). Errors: Unavailable when no connection was free in time;
 * what a look at rights says.
 * Source: ADR 0020, 0050.
 */
export class LanePools extends Pool {
  private readonly besides: Readonly<Record<Exclude<Lane, 'requests'>, Pool>>;
  private readonly waitMs: number;
  /** Hears of everybody who had to wait for a connection. Units: ms. */
  onWaited: (lane: Lane, ms: number) => void = () => undefined;
  private readonly givenBackAt = new Map<Lane, number>();
  private readonly shares: CallerShares;
  private readonly holders = new Map<PoolClient, Caller>();

  constructor({ lanes, ...options }: PoolConfig & { readonly lanes: LaneLimits }) {
    super({ ...options, max: lanes.counts.requests, min: Math.min(KEPT_FOR_REQUESTS, lanes.counts.requests) });
    this.waitMs = lanes.waitMs;
    const { requests } = lanes.counts;
    this.shares = new CallerShares(requests, Math.max(1, Math.floor(requests * PART_OF_ONE_CALLER)));
    this.on('release', (_, client) => this.giveBack(client));
    const beside = (lane: Lane, and: PoolConfig = {}): Pool => {
      const pool = new Pool({ ...options, ...and, max: lanes.counts[lane] });
      return pool.on('error', (error, client) => void this.emit('error', error, client));
    };
    this.besides = {
      internal: beside('internal'),
      background: beside('background', KEEPS_PLANS),
      apart: beside('apart'),
    };
    for (const lane of LANES) {
      this.of(lane).on('release', (error) => void (error ?? this.givenBackAt.set(lane, performance.now())));
    }
  }

  of(lane: Lane): Pool {
    return lane === 'requests' ? this : this.besides[lane];
  }

  /** How many wait for a connection of a lane, be it that none is free or that their caller has their share. */
  waiting(lane: Lane): number {
    return this.of(lane).waitingCount + (lane === 'requests' ? this.shares.waiting : 0);
  }

  /**
   * Whether statements of a lane are answered: by asking, or where all its connections are in use, by when one was given
   * back. Errors: those of the statement. Units: `withinMs` how long ago that may have been.
   */
  async answers(lane: Lane, withinMs: number): Promise<boolean> {
    const pool = this.of(lane);
    if (pool.idleCount === 0 && pool.totalCount >= (pool.options.max ?? 0)) {
      return performance.now() - (this.givenBackAt.get(lane) ?? 0) < withinMs;
    }
    const client = await new Promise<PoolClient>((resolve, reject) => {
      this.connectIn(lane, (error, taken) => (taken ? resolve(taken) : reject(error as Error)));
    });
    try {
      await client.query('select 1');
    } finally {
      client.release();
    }
    return true;
  }

  override connect(): Promise<PoolClient>;
  override connect(taken: Taken): void;
  override connect(taken?: Taken): Promise<PoolClient> | void {
    if (taken) return this.take(taken);
    return new Promise((resolve, reject) => {
      this.take((error, client) => (client ? resolve(client) : reject(error as Error)));
    });
  }

  override end(): Promise<void>;
  override end(ended: () => void): void;
  override end(ended?: () => void): Promise<void> | void {
    const all = Promise.all([super.end(), ...Object.values(this.besides).map((pool) => pool.end())]);
    if (!ended) return all.then(() => undefined);
    void all.then(() => ended());
  }

  private take(taken: Taken): void {
    const waiter = currentWaiter();
    const lane = waiter === null ? 'background' : LANE_OF[waiter.kind];
    const withinMs = waiter && waiter.deadline < Infinity ? waiter.deadline - Date.now() : this.waitMs;
    if (withinMs <= 0) return taken(new Unavailable('deadline'), undefined, nothing);
    const isGone = waiter?.isGone;
    if (isGone?.()) return taken(new Unavailable('gone'), undefined, nothing);
    const handOver = waiter?.rights ? lookedAt(waiter.rights, taken) : taken;
    const caller = lane === 'requests' ? waiter?.caller : undefined;
    const mayTake = caller === undefined || this.shares.take(caller);
    const { idleCount, waitingCount } = this.of(lane);
    if (mayTake && idleCount > 0 && waitingCount === 0) return this.connectFor(caller, lane, handOver);
    const from = performance.now();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      taken(new Unavailable('database busy'), undefined, nothing);
    }, withinMs);
    const begin = (): void =>
      this.connectFor(caller, lane, (error, client, release) => {
        clearTimeout(timer);
        this.onWaited(lane, performance.now() - from);
        // Whose turn comes too late hands it on at once.
        if (isLate) return release();
        if (!isGone?.()) return handOver(error, client, release);
        release();
        taken(new Unavailable('gone'), undefined, nothing);
      });
    // The connection of whoever gave theirs back is free a moment later.
    if (mayTake) begin();
    else this.shares.wait(caller, () => process.nextTick(begin));
  }

  /** Shape: of the caller's share one was taken. */
  private connectFor(caller: Caller | undefined, lane: Lane, taken: Taken): void {
    if (caller === undefined) return this.connectIn(lane, taken);
    this.connectIn(lane, (error, client, release) => {
      if (client) this.holders.set(client, caller);
      else this.shares.giveBack(caller);
      taken(error, client, release);
    });
  }

  private giveBack(client: PoolClient): void {
    const caller = this.holders.get(client);
    if (caller === undefined) return;
    this.holders.delete(client);
    this.shares.giveBack(caller);
  }

  private connectIn(lane: Lane, taken: Taken): void {
    if (lane === 'requests') super.connect(taken);
    else this.besides[lane].connect(taken);
  }
}

/** Shape: the connection is kept meanwhile, for who went back into the line would grow old in it again. */
function lookedAt(rights: Rights, taken: Taken): Taken {
  return (error, client, release) => {
    const look = error ? null : rights.look();
    if (look === null) return taken(error, client, release);
    look.then(
      () => taken(undefined, client, release),
      (refusal: Error) => {
        release();
        taken(refusal, undefined, nothing);
      },
    );
  };
}

function nothing(): void {
  // There is no connection to give back.
}
