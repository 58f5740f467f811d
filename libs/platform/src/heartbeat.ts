/** Between two beats. Units: milliseconds. */
const BEAT_MS = 100;

/**
 * Knows since when at the latest what is read now can have been waiting to be read. A process that stands still (stopped,
 * frozen, out of CPU) is sent requests all the same: the kernel keeps them, and when it goes on they look new. Between two
 * beats the event loop has turned at least once, and in two turns it reads what had come: connections in the first, what
 * was sent over them in the second. So what is read now came after the beat before the last two.
 * Units: as performance.now(), which goes on while a process stands still; clocks of other machines are not asked.
 */
export class Heartbeat {
  private readonly beats: [number, number, number];
  private readonly timer: NodeJS.Timeout;

  constructor() {
    const now = performance.now();
    this.beats = [now, now, now];
    this.timer = setInterval(() => this.beat(), BEAT_MS).unref();
  }

  /** What is read now did not come before this. */
  get earliestArrival(): number {
    return this.beats[0];
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private beat(): void {
    const { beats } = this;
    beats[0] = beats[1];
    beats[1] = beats[2];
    beats[2] = performance.now();
  }
}
