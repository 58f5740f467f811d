/** Up to so many requests in flight none is refused for load. */
export const LEAST_IN_FLIGHT = 64;
/** An answer is late if it took more than this fraction of its time limit. */
const LATE_FRACTION = 0.25;
/** A second with fewer answers changes nothing; in one with more, this fraction of late ones lowers the limit. */
const OVERLOAD = { answers: 10, part: 0.1 };
const DECREASE = 0.9;
const INCREASE = 8;

/**
 * Limit of requests in flight, by additive increase and multiplicative decrease on measured latency (AIMD, as in
 * Netflix's concurrency-limits; no Node library offers it). A second with many late answers lowers it by a tenth; one
 * that used half of the limit with few late answers raises it by eight. Source: ADR 0050.
 */
export class ConcurrencyLimit {
  private limit: number;
  private answers = 0;
  private lates = 0;
  private peak = 0;

  constructor(
    private readonly least: number,
    private readonly most: number,
  ) {
    this.limit = most;
  }

  get current(): number {
    return this.limit;
  }

  /** Records that an answer began. Units: milliseconds that it took, and its limit. */
  recordAnswer(tookMs: number, mayTakeMs: number): void {
    this.answers += 1;
    if (tookMs > mayTakeMs * LATE_FRACTION) this.lates += 1;
  }

  /** Records a new request. `inFlight` includes it. */
  recordStart(inFlight: number): void {
    if (inFlight > this.peak) this.peak = inFlight;
  }

  /** Adapts the limit; called once a second. */
  adapt(): void {
    const isOverloaded = this.answers >= OVERLOAD.answers && this.lates > this.answers * OVERLOAD.part;
    if (isOverloaded) this.limit = Math.max(this.least, this.limit * DECREASE);
    else if (this.peak > this.limit / 2) this.limit = Math.min(this.most, this.limit + INCREASE);
    this.answers = this.lates = this.peak = 0;
  }
}
