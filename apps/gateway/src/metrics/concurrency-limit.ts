/** Below so many requests in flight nothing is refused for load. */
export const LEAST_IN_FLIGHT = 64;
/** An answer is late when it took more than this part of the time that it may take. */
const LATE_PART = 0.25;
/** In a second with so few answers nothing is learnt; in one with more, so great a part of late ones is too much. */
const TOO_MUCH = { answers: 10, part: 0.1 };
const DECREASE = 0.9;
const INCREASE = 8;

/**
 * How many requests may be in flight, by additive increase and multiplicative decrease on measured latency (AIMD, as in
 * Netflix's concurrency-limits; no library of Node's has it): a second in which many answers were late takes a tenth away,
 * one in which half of the limit was made use of and few were late adds eight. Source: ADR 0050.
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

  /** An answer began. Units: milliseconds that it took, and that it might have taken. */
  answered(tookMs: number, mayTakeMs: number): void {
    this.answers += 1;
    if (tookMs > mayTakeMs * LATE_PART) this.lates += 1;
  }

  /** A request came, and there are so many now. */
  came(inFlight: number): void {
    if (inFlight > this.peak) this.peak = inFlight;
  }

  /** Called once a second. */
  adapt(): void {
    const isTooMuch = this.answers >= TOO_MUCH.answers && this.lates > this.answers * TOO_MUCH.part;
    if (isTooMuch) this.limit = Math.max(this.least, this.limit * DECREASE);
    else if (this.peak > this.limit / 2) this.limit = Math.min(this.most, this.limit + INCREASE);
    this.answers = this.lates = this.peak = 0;
  }
}
