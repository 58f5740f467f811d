import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { IS_SERVING, LOGGER } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { Applier } from './applier';
import { IdentityClient } from './identity-client';

/** Between turns that brought nothing, so that a hasty or busy other side is not asked in a tight loop. Units: ms. */
const PAUSE_MS = 20;
const FIRST_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 2000;

/** Lets the applier turn for as long as the process serves; a command reads what others keep. Source: ADR 0042. */
@Injectable()
export class ApplierLoop implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(
    @Inject(Applier) private readonly applier: Applier,
    @Inject(IdentityClient) private readonly identity: IdentityClient,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(IS_SERVING) private readonly isServing: boolean,
  ) {}

  onApplicationBootstrap(): void {
    if (this.isServing) this.running = this.run();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    await this.running;
    await this.identity.close();
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
