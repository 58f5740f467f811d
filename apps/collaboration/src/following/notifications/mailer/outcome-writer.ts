import type { Logger } from '@rookery/platform';
import type { MailOutcome, MailSource } from './mail-source';

/** How long a known outcome waits for others. Units: ms. */
const GATHER_MS = 20;
const MOST_TRIES = 100;

/**
 * Writes what became of the e-mails of one batch, each 20 ms after it is known at the latest, together with those that
 * came meanwhile or while the last were being written: a commit costs more than the rest. Source: ADR 0082.
 */
export class OutcomeWriter {
  private readonly outcomes: MailOutcome[] = [];
  private writing: Promise<void> = Promise.resolve();
  private writeNow: (() => void) | null = null;
  private isComplete = false;

  /** Shape: `mayGiveUp` tells whether the process is about to end. */
  constructor(
    private readonly source: MailSource,
    private readonly logger: Logger,
    private readonly mayGiveUp: () => boolean,
  ) {}

  record(outcome: MailOutcome): void {
    this.outcomes.push(outcome);
    if (this.outcomes.length === 1) this.writing = this.writing.then(() => this.gather()).then(() => this.write());
  }

  /** Resolves when all is written; nothing comes any more. */
  async end(): Promise<void> {
    this.isComplete = true;
    this.writeNow?.();
    await this.writing;
  }

  private async gather(): Promise<void> {
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

  private async write(): Promise<void> {
    const batch = this.outcomes.splice(0);
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.source.settle(batch);
      } catch (error) {
        this.logger.error({ err: error, count: batch.length }, 'outcomes of e-mails could not be written');
        if (this.mayGiveUp() || attempt >= MOST_TRIES) return;
        await new Promise((resolve) => setTimeout(resolve, Math.min(5000, 100 * 2 ** attempt)));
      }
    }
  }
}
