import { Unavailable } from '@rookery/kernel';
import { currentWaiter } from '@rookery/platform';
import type { Rights } from '@rookery/platform';
import { Pool } from 'pg';
import type { PoolClient, PoolConfig } from 'pg';
import type { Caller } from './caller-shares';
import { CallerConnectionShares } from './caller-shares';

/**
 * Groups of connections. `requests` serves clients, `internal` other processes, `background` work without a waiting
 * client. `apart` serves units of work that stay although their request fails. The request waits for them while it
 * holds a connection; from its own lane, all connections could be held by requests that wait like this.
 */
export const LANES = ['requests', 'internal', 'background', 'apart'] as const;
export type Lane = (typeof LANES)[number];

/**
 * Background statements have lists of ids as parameters. PostgreSQL assumes ten items for a list, finds that plan more
 * costly than one for the actual list, and so plans again at nearly every execution: planning the joins of an e-mail
 * takes ten times as long as running them. These statements must be good with one plan for all lists. Source: ADR 0025.
 */
const GENERIC_PLANS: PoolConfig = { options: '-c plan_cache_mode=force_generic_plan' };

/**
 * Connections that stay open without requests, so that the first request after an hour is served as fast as the last.
 */
const MIN_FOR_REQUESTS = 2;

/** Units: `waitMs` is the longest wait for a connection of callers without a deadline. */
export interface LaneLimits {
  readonly counts: Readonly<Record<Lane, number>>;
  readonly waitMs: number;
}

type ConnectCallback = (
  error: Error | undefined,
  client: PoolClient | undefined,
  release: (destroy?: unknown) => void,
) => void;

const LANE_OF = { client: 'requests', process: 'internal', holder: 'apart' } as const;

/** The share of the connections for requests that one caller may hold, so that two callers leave some to others. */
const SHARE_OF_ONE_CALLER = 0.4;

/**
 * The pool that TypeORM holds, with one pool for each lane behind it. Requests and background work cannot take the last
 * connection from each other, nor can one caller take all of a lane. `currentWaiter` determines the lane. A caller
 * waits for a connection until its deadline. After a long wait its permissions are rechecked before it gets the
 * connection, so no work begins without permission.
 * Errors: Unavailable when no connection was free in time; those of the recheck.
 * Source: ADR 0020, 0050.
 */
export class LanePools extends Pool {
  private readonly otherPools: Readonly<Record<Exclude<Lane, 'requests'>, Pool>>;
  private readonly waitMs: number;
  /** Called for each caller that had to wait for a connection. Units: ms. */
  onWaited: (lane: Lane, ms: number) => void = () => undefined;
  private readonly givenBackAt = new Map<Lane, number>();
  private readonly shares: CallerConnectionShares;
  private readonly holders = new Map<PoolClient, Caller>();

  constructor({ lanes, ...options }: PoolConfig & { readonly lanes: LaneLimits }) {
    super({ ...options, max: lanes.counts.requests, min: Math.min(MIN_FOR_REQUESTS, lanes.counts.requests) });
    this.waitMs = lanes.waitMs;
    const { requests } = lanes.counts;
    this.shares = new CallerConnectionShares(requests, Math.max(1, Math.floor(requests * SHARE_OF_ONE_CALLER)));
    this.on('release', (_, client) => this.releaseShare(client));
    const poolOf = (lane: Lane, extra: PoolConfig = {}): Pool => {
      const pool = new Pool({ ...options, ...extra, max: lanes.counts[lane] });
      return pool.on('error', (error, client) => void this.emit('error', error, client));
    };
    this.otherPools = {
      internal: poolOf('internal'),
      background: poolOf('background', GENERIC_PLANS),
      apart: poolOf('apart'),
    };
    for (const lane of LANES) {
      this.poolOf(lane).on('release', (error) => void (error ?? this.givenBackAt.set(lane, performance.now())));
    }
  }

  poolOf(lane: Lane): Pool {
    return lane === 'requests' ? this : this.otherPools[lane];
  }

  /** Callers that wait for a connection of a lane, because none is free or their share is used up. */
  countWaiting(lane: Lane): number {
    return this.poolOf(lane).waitingCount + (lane === 'requests' ? this.shares.waiting : 0);
  }

  /**
   * Whether the database answers statements of a lane. It runs one; if all connections of the lane are in use, it
   * checks when one was last given back. Errors: those of the statement. Units: `withinMs` how long ago that may have
   * been.
   */
  async answers(lane: Lane, withinMs: number): Promise<boolean> {
    const pool = this.poolOf(lane);
    if (pool.idleCount === 0 && pool.totalCount >= (pool.options.max ?? 0)) {
      return performance.now() - (this.givenBackAt.get(lane) ?? 0) < withinMs;
    }
    const client = await new Promise<PoolClient>((resolve, reject) => {
      this.connectInLane(lane, (error, taken) => (taken ? resolve(taken) : reject(error as Error)));
    });
    try {
      await client.query('select 1');
    } finally {
      client.release();
    }
    return true;
  }

  override connect(): Promise<PoolClient>;
  override connect(taken: ConnectCallback): void;
  override connect(taken?: ConnectCallback): Promise<PoolClient> | void {
    if (taken) return this.connectCurrentCaller(taken);
    return new Promise((resolve, reject) => {
      this.connectCurrentCaller((error, client) => (client ? resolve(client) : reject(error as Error)));
    });
  }

  override end(): Promise<void>;
  override end(ended: () => void): void;
  override end(ended?: () => void): Promise<void> | void {
    const all = Promise.all([super.end(), ...Object.values(this.otherPools).map((pool) => pool.end())]);
    if (!ended) return all.then(() => undefined);
    void all.then(() => ended());
  }

  private connectCurrentCaller(callback: ConnectCallback): void {
    const waiter = currentWaiter();
    const lane = waiter === null ? 'background' : LANE_OF[waiter.kind];
    const withinMs = waiter && waiter.deadline < Infinity ? waiter.deadline - Date.now() : this.waitMs;
    if (withinMs <= 0) return callback(new Unavailable('deadline'), undefined, releaseNothing);
    const isGone = waiter?.isGone;
    if (isGone?.()) return callback(new Unavailable('gone'), undefined, releaseNothing);
    const handOver = waiter?.rights ? recheckRightsBeforeConnection(waiter.rights, callback) : callback;
    const caller = lane === 'requests' ? waiter?.caller : undefined;
    const mayTake = caller === undefined || this.shares.takeShare(caller);
    const { idleCount, waitingCount } = this.poolOf(lane);
    if (mayTake && idleCount > 0 && waitingCount === 0) return this.connectWithShare(caller, lane, handOver);
    const from = performance.now();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      callback(new Unavailable('database busy'), undefined, releaseNothing);
    }, withinMs);
    const begin = (): void =>
      this.connectWithShare(caller, lane, (error, client, release) => {
        clearTimeout(timer);
        this.onWaited(lane, performance.now() - from);
        // This caller's deadline has passed: the connection goes to the next.
        if (isLate) return release();
        if (!isGone?.()) return handOver(error, client, release);
        release();
        callback(new Unavailable('gone'), undefined, releaseNothing);
      });
    // The connection that was given back is free in the pool a moment later.
    if (mayTake) begin();
    else this.shares.waitForShare(caller, () => process.nextTick(begin));
  }

  /** Connects a caller whose share was already charged by `takeShare` or `waitForShare`. */
  private connectWithShare(caller: Caller | undefined, lane: Lane, callback: ConnectCallback): void {
    if (caller === undefined) return this.connectInLane(lane, callback);
    this.connectInLane(lane, (error, client, release) => {
      if (client) this.holders.set(client, caller);
      else this.shares.giveBack(caller);
      callback(error, client, release);
    });
  }

  private releaseShare(client: PoolClient): void {
    const caller = this.holders.get(client);
    if (caller === undefined) return;
    this.holders.delete(client);
    this.shares.giveBack(caller);
  }

  private connectInLane(lane: Lane, callback: ConnectCallback): void {
    if (lane === 'requests') super.connect(callback);
    else this.otherPools[lane].connect(callback);
  }
}

/**
 * Rechecks the caller's permissions before it gets the connection. The connection is kept meanwhile, since another wait
 * for one would outlast the recheck again.
 */
function recheckRightsBeforeConnection(rights: Rights, callback: ConnectCallback): ConnectCallback {
  return (error, client, release) => {
    const look = error ? null : rights.recheckBeforeRead();
    if (look === null) return callback(error, client, release);
    look.then(
      () => callback(undefined, client, release),
      (refusal: Error) => {
        release();
        callback(refusal, undefined, releaseNothing);
      },
    );
  };
}

function releaseNothing(): void {
  // There is no connection to give back.
}
