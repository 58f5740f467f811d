import { UNAVAILABLE_REASONS } from '@rookery/kernel';
import type { UnavailableReason } from '@rookery/kernel';
import type { Logger } from './logger';
import type { Metrics } from './metrics';

/** How long a reason is only counted after it was logged. Units: milliseconds. */
const QUIET_MS = 1000;
const REASONS = Object.keys(UNAVAILABLE_REASONS) as UnavailableReason[];

/**
 * Counts and logs the reasons for answers 502, 503 and 504 of this process. Each answer is counted by its reason; the
 * log has at most one line a second for each reason, with the number omitted since the previous line.
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

  /** Records an outage. `facts` are for the log line: the request's id, the error behind it. */
  recordOutage(reason: UnavailableReason, facts: object = {}): void {
    this.counts.set(reason, (this.counts.get(reason) ?? 0) + 1);
    const waiting = this.leftOut.get(reason);
    if (waiting !== undefined) {
      this.leftOut.set(reason, waiting + 1);
      return;
    }
    this.writeLog({ ...facts, reason }, `answered that something is unavailable: ${reason}`);
    this.countUntilQuiet(reason);
  }

  private countUntilQuiet(reason: UnavailableReason): void {
    this.leftOut.set(reason, 0);
    setTimeout(() => {
      const leftOut = this.leftOut.get(reason) ?? 0;
      this.leftOut.delete(reason);
      if (leftOut === 0) return;
      this.writeLog({ reason, leftOut }, `answered that something is unavailable: ${reason}, ${leftOut} times more`);
      this.countUntilQuiet(reason);
    }, QUIET_MS).unref();
  }

  private writeLog(facts: { readonly reason: UnavailableReason; readonly leftOut?: number }, text: string): void {
    // The health check got the reasons in its answer; while starting this is normal.
    if (facts.reason === 'not ready') this.logger.info(facts, text);
    else this.logger.warn(facts, text);
  }
}
