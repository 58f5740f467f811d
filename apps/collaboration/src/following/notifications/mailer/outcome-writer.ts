import { backoffMs } from '@rookery/kernel';
import type { Logger } from '@rookery/platform';
import type { MailOutcome, MailSource } from './mail-source';

/** How long an outcome waits for others. Units: ms. */
const GATHER_MS = 20;
const MOST_TRIES = 100;
/** Units: ms. */
const RETRY = { first: 100, most: 5000 };

/**
 * Writes the outcomes of one batch, each at most 20 ms after it is known. Outcomes that arrive meanwhile or during the
 * previous write are written together: a commit costs more than the rest. Source: ADR 0082.
 */
export class OutcomeWriter {
  private readonly outcomes: MailOutcome[] = [];
  private writing: Promise<void> = Promise.resolve();
  private writeNow: (() => void) | null = null;
  private isComplete = false;

  /** `mayGiveUp` returns whether the process is about to end. */
  constructor(
    private readonly source: MailSource,
    private readonly logger: Logger,
    private readonly mayGiveUp: () => boolean,
  ) {}

  recordOutcome(outcome: MailOutcome): void {
    this.outcomes.push(outcome);
    if (this.outcomes.length === 1)
      this.writing = this.writing.then(() => this.waitForMoreOutcomes()).then(() => this.writeOutcomes());
  }

  /** Resolves when all outcomes are written; none may be recorded afterwards. */
  async end(): Promise<void> {
    this.isComplete = true;
    this.writeNow?.();
    await this.writing;
  }

  private async waitForMoreOutcomes(): Promise<void> {
    if (this.isComplete) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, GATHER_MS);
      this.writeNow = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.writeNow = null;
  }

  private async writeOutcomes(): Promise<void> {
    const batch = this.outcomes.splice(0);
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.source.settleMails(batch);
      } catch (error) {
        this.logger.error({ err: error, count: batch.length }, 'outcomes of e-mails could not be written');
        if (this.mayGiveUp() || attempt >= MOST_TRIES) return;
        await new Promise((resolve) => setTimeout(resolve, backoffMs(attempt + 1, RETRY)));
      }
    }
  }
}
