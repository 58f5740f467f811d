import type { Server, Socket } from 'node:net';
import { Pace } from './pace';

/**
 * Between two beats; longer when hardly anybody asked for ten seconds. Three of the longer ones are less than a decision
 * about rights is gone by, so the first request after a pause is not asked about twice. Units: milliseconds.
 */
const BEAT_MS = { busy: 100, calm: 300 };
/** Services that copy something keep a question open and ask it anew, all of them twice a second: that is no traffic. */
const BUSY_REQUESTS = 10;
const BUSY_WITHIN_MS = 3000;

/**
 * Knows since when at the latest what is read now can have been waiting to be read. A process that stands still (stopped,
 * frozen, out of CPU) is sent requests all the same: the kernel keeps them, and when it goes on they look new.
 *
 * Two things wait there. What was sent over a connection that is open is read in the next turn of the event loop, and
 * between two beats the loop has turned at least once: it came after the beat before the last two. Connections that are
 * to be opened are taken one a turn, however many wait: whatever is taken came after the last turn that found none.
 *
 * Units: as performance.now(), which goes on while a process stands still; clocks of other machines are not asked.
 */
export class Heartbeat {
  private readonly beats: [number, number, number];
  private readonly pace = new Pace(BEAT_MS.busy, BEAT_MS.calm);
  private timer: NodeJS.Timeout;
  /** When no connection was waiting any more. */
  private noneWaited: number;
  private wasTaken = false;
  private counting = false;
  private asked = 0;
  private askedSince = 0;
  /** Since when the first request of a connection can have been waiting. */
  private readonly newcomers = new WeakMap<Socket, number>();

  constructor() {
    const now = performance.now();
    this.beats = [now, now, now];
    this.noneWaited = now;
    this.timer = this.next();
  }

  /** Counts the connections of a server too; without it, only what comes over open ones is known. */
  watch(server: Server): this {
    server.on('connection', (socket) => this.taken(socket));
    return this;
  }

  /** What is read from this connection now did not come before this. For each request once, as its head is read. */
  earliestArrival(socket?: Socket): number {
    this.asked += 1;
    if (this.asked >= BUSY_REQUESTS) this.pace.found();
    const came = socket && this.newcomers.get(socket);
    if (came === undefined) return this.beats[0];
    this.newcomers.delete(socket!);
    return Math.min(came, this.beats[0]);
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private next(): NodeJS.Timeout {
    return setTimeout(() => this.beat(), this.pace.restMs).unref();
  }

  private beat(): void {
    this.timer = this.next();
    const { beats } = this;
    // The loop has turned since the last beat, and found no connection.
    if (!this.counting) this.noneWaited = beats[2];
    beats[0] = beats[1];
    beats[1] = beats[2];
    beats[2] = performance.now();
    if (beats[2] - this.askedSince < BUSY_WITHIN_MS) return;
    this.asked = 0;
    this.askedSince = beats[2];
  }

  private taken(socket: Socket): void {
    this.newcomers.set(socket, this.noneWaited);
    this.wasTaken = true;
    if (this.counting) return;
    this.counting = true;
    setImmediate(() => this.count());
  }

  /** At the end of each turn, until one has taken no connection. */
  private count(): void {
    const turnsFrom = performance.now();
    this.wasTaken = false;
    setImmediate(() => {
      if (this.wasTaken) return this.count();
      this.counting = false;
      this.noneWaited = turnsFrom;
    });
  }
}
