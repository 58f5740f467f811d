/** Units: ms. */
const CALM_AFTER_MS = 10_000;

/**
 * How long to rest between looks for work that nobody tells of: shortly while there was some in the last ten seconds, then
 * longer, so that what is idle costs next to nothing. Source: docs/performance.md 5.10.
 */
export class Pace {
  private foundAt = performance.now();

  /** Units: ms. Shape: a `calmMs` below `busyMs` is not gone by. */
  constructor(
    private readonly busyMs: number,
    private readonly calmMs: number,
  ) {}

  /** There was work. */
  found(): void {
    this.foundAt = performance.now();
  }

  /** Nothing was found for ten seconds. */
  get isCalm(): boolean {
    return performance.now() - this.foundAt >= CALM_AFTER_MS;
  }

  get restMs(): number {
    return this.isCalm ? Math.max(this.busyMs, this.calmMs) : this.busyMs;
  }
}
