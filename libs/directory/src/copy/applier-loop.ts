import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { Follower, IS_SERVING, LOGGER } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { DirectoryApplier } from './applier';
import { IdentityClient } from './identity-client';

/**
 * Runs the applier while the process serves. Commands only read the copy that serving processes keep. Source: ADR 0042.
 */
@Injectable()
export class DirectoryApplierLoop implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly follower: Follower;

  constructor(
    @Inject(DirectoryApplier) applier: DirectoryApplier,
    @Inject(IdentityClient) private readonly identity: IdentityClient,
    @Inject(LOGGER) logger: Logger,
    @Inject(IS_SERVING) private readonly isServing: boolean,
  ) {
    this.follower = new Follower('the copy of the directory', logger, (signal) => applier.pollOnce(signal));
  }

  onApplicationBootstrap(): void {
    if (this.isServing) this.follower.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.follower.stop();
    await this.identity.close();
  }
}
