import type { Server, Socket } from 'node:net';
import { Pace } from './pace';

/**
 * Time between two beats; longer after ten seconds with hardly any request. Three of the longer ones are less than the
 * validity of a permission check, so the first request after a pause needs no recheck. Units: milliseconds.
 */
const BEAT_MS = { busy: 100, calm: 300 };
/**
 * Requests within `BUSY_WITHIN_MS` that count as traffic. Services that follow a log send about two a second, all
 * together, which is less.
 */
const BUSY_REQUESTS = 10;
const BUSY_WITHIN_MS = 3000;

/**
 * Computes the earliest time at which a request that is read now can have arrived. A process that stands still
 * (stopped, frozen, out of CPU) still gets requests: the kernel queues them, and when the process continues they look
 * new.
 *
 * The kernel queues data and connections. Data on an open connection is read in the next turn of the event loop, and
 * between two beats the loop has turned at least once: so the data arrived after the third-last beat. Pending
 * connections are accepted one a turn, however many there are: an accepted one arrived after the last turn that found
 * none.
 *
 * Units: as performance.now(), which continues while a process stands still; clocks of other machines are not used.
 */
export class RequestArrivalClock {
  private readonly beats: [number, number, number];
  private readonly pace = new Pace(BEAT_MS.busy, BEAT_MS.calm);
  private timer: NodeJS.Timeout;
  /** The last time at which no connection was pending. */
  private nonePendingAt: number;
  private wasAccepted = false;
  private isCounting = false;
  private asked = 0;
  private askedSince = 0;
  /** The earliest possible arrival of the first request, by new connection. */
  private readonly newcomers = new WeakMap<Socket, number>();

  constructor() {
    const now = performance.now();
    this.beats = [now, now, now];
    this.nonePendingAt = now;
    this.timer = this.scheduleBeat();
  }

  /** Tracks the connections of a server too. Without it, only data on open connections counts. */
  watchServer(server: Server): this {
    server.on('connection', (socket) => this.recordConnection(socket));
    return this;
  }

  /**
   * Returns the earliest time at which a request from this connection can have arrived. Call it once for each request,
   * as its head is read.
   */
  earliestArrival(socket?: Socket): number {
    this.asked += 1;
    if (this.asked >= BUSY_REQUESTS) this.pace.recordWork();
    const arrivedAfter = socket && this.newcomers.get(socket);
    if (arrivedAfter === undefined) return this.beats[0];
    this.newcomers.delete(socket!);
    return Math.min(arrivedAfter, this.beats[0]);
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private scheduleBeat(): NodeJS.Timeout {
    return setTimeout(() => this.writeBeat(), this.pace.restMs).unref();
  }

  private writeBeat(): void {
    this.timer = this.scheduleBeat();
    const { beats } = this;
    // The loop has turned since the last beat and found no connection.
    if (!this.isCounting) this.nonePendingAt = beats[2];
    beats[0] = beats[1];
    beats[1] = beats[2];
    beats[2] = performance.now();
    if (beats[2] - this.askedSince < BUSY_WITHIN_MS) return;
    this.asked = 0;
    this.askedSince = beats[2];
  }

  private recordConnection(socket: Socket): void {
    this.newcomers.set(socket, this.nonePendingAt);
    this.wasAccepted = true;
    if (this.isCounting) return;
    this.isCounting = true;
    setImmediate(() => this.detectQuietTurn());
  }

  /** Runs at the end of each turn until one has accepted no connection. */
  private detectQuietTurn(): void {
    const turnsFrom = performance.now();
    this.wasAccepted = false;
    setImmediate(() => {
      if (this.wasAccepted) return this.detectQuietTurn();
      this.isCounting = false;
      this.nonePendingAt = turnsFrom;
    });
  }
}
