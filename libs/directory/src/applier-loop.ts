import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { LOGGER, Readiness } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { Applier } from './applier';
import { CopyProgress } from './copy-progress';
import { IdentityClient } from './identity-client';

/** Between turns that brought nothing, so that a hasty or busy other side is not asked in a tight loop. Units: ms. */
const PAUSE_MS = 20;
const FIRST_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 2000;

/** Lets the applier turn for as long as the process lives. The process is not ready before its copy was loaded once. */
@Injectable()
export class ApplierLoop implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private wasLoaded = false;

  constructor(
    @Inject(Applier) private readonly applier: Applier,
    @Inject(CopyProgress) private readonly progress: CopyProgress,
    @Inject(IdentityClient) private readonly identity: IdentityClient,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(Readiness) readiness: Readiness,
  ) {
    readiness.require('directory', () => this.readiness());
  }

  onApplicationBootstrap(): void {
    this.running = this.run();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    await this.running;
    await this.identity.close();
  }

  /** Identity may go away later without taking its readers with it: they still serve what is public. */
  private async readiness(): Promise<string | null> {
    this.wasLoaded ||= (await this.progress.head()).epoch !== '';
    return this.wasLoaded ? null : 'the copy of the directory was never loaded';
  }

  private async run(): Promise<void> {
    let failures = 0;
    while (!this.stopping.signal.aborted) {
      try {
        const hasMoved = await this.applier.turn(this.stopping.signal);
        if (failures > 0) this.logger.info({ failures }, 'the directory copy follows identity again');
        failures = 0;
        if (!hasMoved) await this.pause(PAUSE_MS);
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        if (failures === 0) this.logger.warn({ err: error }, 'the directory copy cannot follow identity');
        failures += 1;
        await this.pause(backoff(failures));
      }
    }
  }

  private async pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }
}

function backoff(failures: number): number {
  return Math.min(FIRST_BACKOFF_MS * 2 ** Math.min(failures - 1, 10), MAX_BACKOFF_MS) * (0.5 + Math.random() / 2);
}
