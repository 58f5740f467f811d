import { isDatabaseAway } from '@rookery/persistence';
import type { Logger } from '@rookery/platform';
import type { DeadLetters } from './dead-letters';
import type { Effect, Effects } from './effects';
import { Wake } from './wake';

/** Tries dead letters again when an operator asked for it. Commands only mark rows: handlers live in workers. */
export class Replayer {
  private readonly wake = new Wake();
  private isStopping = false;
  private running: Promise<void> | null = null;

  constructor(
    private readonly effects: Effects,
    private readonly letters: DeadLetters,
    private readonly pollMs: number,
    private readonly logger: Logger,
  ) {}

  start(handled: readonly Effect[]): void {
    if (handled.length > 0) this.running ??= this.loop(handled);
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    this.wake.nudge();
    await this.running;
  }

  private async loop(handled: readonly Effect[]): Promise<void> {
    while (!this.isStopping) {
      try {
        await this.round(handled);
      } catch (error) {
        this.logger.warn({ err: error }, 'dead letters could not be replayed');
      }
      await this.wake.sleep(this.pollMs);
    }
  }

  private async round(handled: readonly Effect[]): Promise<void> {
    let after = 0;
    while (!this.isStopping) {
      const tried = await this.effects.replayNext(handled, after);
      if (!tried) return;
      after = tried.id;
      if (!('failed' in tried)) {
        this.logger.info({ deadLetterId: tried.id }, 'a dead letter was replayed');
      } else {
        // Then it was not the letter's fault, and it stays marked.
        if (isDatabaseAway(tried.failed)) throw tried.failed;
        this.logger.warn({ deadLetterId: tried.id, err: tried.failed }, 'a replay failed');
        await this.letters.reopen(tried.id, tried.failed);
      }
    }
  }
}
