import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { Database, HISTORY } from '@rookery/persistence';
import { Follower, IS_SERVING, LOGGER } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { HistoriesService } from './histories.service';

/** How soon a database is noticed that was put in the place of the one in use. Units: ms. */
const LOOK_MS = 1000;
const IS_OTHER = `select 1 from directory_head where history <> ${HISTORY}`;

/** Looks at the database before the process serves, and again and again while it does. */
@Injectable()
export class HistoryWatch implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly follower: Follower;
  private hasBegun = false;

  constructor(
    @Inject(HistoriesService) private readonly histories: HistoriesService,
    @Inject(Database) private readonly database: Database,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(IS_SERVING) private readonly isServing: boolean,
  ) {
    this.follower = new Follower('the history of the database', logger, async (signal) => {
      await this.turn();
      await pause(LOOK_MS, undefined, { signal }).catch(() => undefined);
      return true;
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    if (!this.isServing) return;
    // A schema that is not there yet is waited for; nothing is written before.
    await this.turn().catch((err: unknown) =>
      this.logger.warn({ err }, 'the history of the database is not known yet'),
    );
    this.follower.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.follower.stop();
  }

  private async turn(): Promise<void> {
    if (this.hasBegun && (await this.database.query(IS_OTHER)).length === 0) return;
    await this.histories.look(!this.hasBegun);
    this.hasBegun = true;
  }
}
