import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { HeadWatch } from '@rookery/persistence';
import type { LogHead } from '@rookery/persistence';
import { Follower, IS_SERVING, LOGGER } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { ChangeLogHistoriesService } from './histories.service';

/** Interval at which a replaced database is detected. Units: ms. */
const INTERVAL_MS = 1000;

/**
 * The head of the log as the watch reads it. `is_other` is true if the database is not the one in which the log was
 * kept.
 */
export interface WatchedHead extends LogHead {
  readonly is_other: boolean;
}

/**
 * Compares the database with the log before the process serves requests, and regularly afterwards. The process waits
 * for the first successful comparison: a restored database may have an older version than copies have reached, and a
 * request decided by it would use lost data. The regular reads also serve as reads of the head while no other replica
 * writes.
 */
@Injectable()
export class ChangeLogHistoryWatch implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly follower: Follower;
  private hasBegun = false;
  private resolveFirstCheck: () => void = () => undefined;

  constructor(
    @Inject(ChangeLogHistoriesService) private readonly histories: ChangeLogHistoriesService,
    @Inject(HeadWatch) private readonly watch: HeadWatch<WatchedHead>,
    @Inject(LOGGER) logger: Logger,
    @Inject(IS_SERVING) private readonly isServing: boolean,
  ) {
    this.follower = new Follower('the history of the database', logger, async (signal) => {
      await this.checkHistory();
      this.resolveFirstCheck();
      await pause(INTERVAL_MS, undefined, { signal }).catch(() => undefined);
      return true;
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    if (!this.isServing) return;
    // Waits for a missing schema. Nothing is written before.
    const known = new Promise<void>((resolve) => (this.resolveFirstCheck = resolve));
    this.follower.start();
    await known;
  }

  async onModuleDestroy(): Promise<void> {
    await this.follower.stop();
    this.resolveFirstCheck();
  }

  private async checkHistory(): Promise<void> {
    if (this.hasBegun && (await this.watch.readRow())?.is_other === false) return;
    await this.histories.compareHistory(!this.hasBegun);
    this.hasBegun = true;
  }
}
