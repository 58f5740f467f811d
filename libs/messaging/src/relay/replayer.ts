import type { DeadLetters } from '@rookery/persistence';
import type { Logger } from '@rookery/platform';
import type { Effect, Effects } from '../consuming/effects';
import { Wake } from '../bus/wake';

/** Replays dead letters that an operator selected. Commands only mark rows: handlers run in workers. */
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
    if (handled.length > 0) this.running ??= this.replayUntilStopped(handled);
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    this.wake.nudge();
    await this.running;
  }

  private async replayUntilStopped(handled: readonly Effect[]): Promise<void> {
    while (!this.isStopping) {
      try {
        await this.replayOnce(handled);
      } catch (error) {
        this.logger.warn({ err: error }, 'dead letters could not be replayed');
      }
      await this.wake.sleep(this.pollMs);
    }
  }

  private async replayOnce(handled: readonly Effect[]): Promise<void> {
    await this.letters.replayLetters({
      kind: 'event',
      use: (tx, letter) => this.effects.replayLetter(handled, letter, tx),
      isStopping: () => this.isStopping,
      onOutcome: ({ id, ...outcome }) => {
        if ('failed' in outcome) this.logger.warn({ deadLetterId: id, err: outcome.failed }, 'a replay failed');
        else this.logger.info({ deadLetterId: id }, 'a dead letter was replayed');
      },
    });
  }
}
