import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { HeadWatch } from '@rookery/persistence';
import type { Head } from '@rookery/persistence';
import { Follower, IS_SERVING, LOGGER } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { HistoriesService } from './histories.service';

/** How soon a database is noticed that was put in the place of the one in use. Units: ms. */
const LOOK_MS = 1000;

/** The head of the log as it is looked at. Shape: `is_other` when the database is not the one that the log was kept in. */
export interface WatchedHead extends Head {
  readonly is_other: boolean;
}

/**
 * Looks at the database before the process serves, and again and again while it does. The process waits for the first
 * look, however often it fails: of a database that was put back, the log tells a place that copies had passed, and whoever
 * heard of it would decide by what is lost. These looks are those of the head, too, while nothing else makes any.
 */
@Injectable()
export class HistoryWatch implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly follower: Follower;
  private hasBegun = false;
  private onKnown: () => void = () => undefined;

  constructor(
    @Inject(HistoriesService) private readonly histories: HistoriesService,
    @Inject(HeadWatch) private readonly watch: HeadWatch<WatchedHead>,
    @Inject(LOGGER) logger: Logger,
    @Inject(IS_SERVING) private readonly isServing: boolean,
  ) {
    this.follower = new Follower('the history of the database', logger, async (signal) => {
      await this.turn();
      this.onKnown();
      await pause(LOOK_MS, undefined, { signal }).catch(() => undefined);
      return true;
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    if (!this.isServing) return;
    // A schema that is not there yet is waited for; nothing is written before.
    const known = new Promise<void>((resolve) => (this.onKnown = resolve));
    this.follower.start();
    await known;
  }

  async onModuleDestroy(): Promise<void> {
    await this.follower.stop();
    this.onKnown();
  }

  private async turn(): Promise<void> {
    if (this.hasBegun && (await this.watch.look())?.is_other === false) return;
    await this.histories.look(!this.hasBegun);
    this.hasBegun = true;
  }
}
