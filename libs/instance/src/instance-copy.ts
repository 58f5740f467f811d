import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { Follower, IS_SERVING, LOGGER, Readiness } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { AdminClient } from './admin-client';
import { Instance } from './instance';

/** How long admin may hold a question while nothing changes. Units: ms. */
const WAIT_MS = 3000;
/** After this long without admin a process serves by the defaults. Units: ms. */
const PATIENCE_MS = 10_000;

/**
 * Keeps `Instance` as admin has it: one question is always under way, which admin answers once something changes. The
 * bus takes no part, so changes are as fast while it is down. Source: ADR 0180.
 */
@Injectable()
export class InstanceCopy implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly follower: Follower;
  private readonly startedAt = performance.now();

  constructor(
    @Inject(Instance) private readonly instance: Instance,
    @Inject(AdminClient) private readonly admin: AdminClient,
    @Inject(Readiness) private readonly readiness: Readiness,
    @Inject(LOGGER) logger: Logger,
    @Inject(IS_SERVING) private readonly isServing: boolean,
  ) {
    this.follower = new Follower('the copy of features and settings', logger, (signal) => this.turn(signal));
  }

  onApplicationBootstrap(): void {
    if (!this.isServing) return;
    this.readiness.require('instance', () => this.reasonToWait());
    this.follower.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.follower.stop();
    await this.admin.close();
  }

  /** Admin being away must not keep others from starting, so the wait for it is bounded. */
  private reasonToWait(): string | null {
    const isKnown = this.instance.version >= 0 || performance.now() - this.startedAt > PATIENCE_MS;
    return isKnown ? null : 'admin was not asked for features and settings yet';
  }

  /** Takes every answer, older ones too: after a restore of admin's database they are what counts. */
  private async turn(signal: AbortSignal): Promise<boolean> {
    const before = this.instance.version;
    this.instance.take(await this.admin.instance(before, WAIT_MS, signal));
    return this.instance.version !== before;
  }
}
