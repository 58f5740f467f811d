import { UNAVAILABLE_REASONS } from '@rookery/kernel';
import type { UnavailableReason } from '@rookery/kernel';
import type { Logger } from './logger';
import type { Metrics } from './metrics';

/** How long a reason that was logged is only counted. Units: milliseconds. */
const QUIET_MS = 1000;
const REASONS = Object.keys(UNAVAILABLE_REASONS) as UnavailableReason[];

/**
 * Why answers of this process were 502, 503 or 504: each is counted by its reason, and logged, though at most one line a
 * second and reason, with how many were left out since the line before.
 */
export class Outages {
  private readonly counts = new Map<UnavailableReason, number>();
  private readonly leftOut = new Map<UnavailableReason, number>();

  constructor(
    metrics: Metrics,
    private readonly logger: Pick<Logger, 'info' | 'warn'>,
  ) {
    metrics.total('rookery_unavailable_total', 'Answers 502, 503 and 504, by reason.', ['reason'], () =>
      REASONS.map((reason) => ({ labels: { reason }, count: this.counts.get(reason) ?? 0 })),
    );
  }

  /** Shape: `facts` go into the log line: the request's id, the error behind it. */
  note(reason: UnavailableReason, facts: object = {}): void {
    this.counts.set(reason, (this.counts.get(reason) ?? 0) + 1);
    const waiting = this.leftOut.get(reason);
    if (waiting !== undefined) {
      this.leftOut.set(reason, waiting + 1);
      return;
    }
    this.tell({ ...facts, reason }, `answered that something is unavailable: ${reason}`);
    this.fallSilent(reason);
  }

  private fallSilent(reason: UnavailableReason): void {
    this.leftOut.set(reason, 0);
    setTimeout(() => {
      const leftOut = this.leftOut.get(reason) ?? 0;
      this.leftOut.delete(reason);
      if (leftOut === 0) return;
      this.tell({ reason, leftOut }, `answered that something is unavailable: ${reason}, ${leftOut} times more`);
      this.fallSilent(reason);
    }, QUIET_MS).unref();
  }

  private tell(facts: { readonly reason: UnavailableReason; readonly leftOut?: number }, text: string): void {
    // Whoever asks for the health was told; at start it is no fault.
    if (facts.reason === 'not ready') this.logger.info(facts, text);
    else this.logger.warn(facts, text);
  }
}
