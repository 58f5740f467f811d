/** Units: ms. */
const CALM_AFTER_MS = 10_000;

/**
 * An adaptive polling interval: short while there was work in the last ten seconds, then longer, so that an idle
 * process costs next to nothing. Source: docs/performance.md 5.10.
 */
export class Pace {
  private foundAt = performance.now();

  /** A `calmMs` below `busyMs` is ignored. Units: ms. */
  constructor(
    private readonly busyMs: number,
    private readonly calmMs: number,
  ) {}

  /** Records that there was work. */
  recordWork(): void {
    this.foundAt = performance.now();
  }

  /** Whether there was no work for ten seconds. */
  get isCalm(): boolean {
    return performance.now() - this.foundAt >= CALM_AFTER_MS;
  }

  get restMs(): number {
    return this.isCalm ? Math.max(this.busyMs, this.calmMs) : this.busyMs;
  }
}
