import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { Logger, SettingsOf } from '@rookery/platform';
import { LOGGER } from '@rookery/platform';
import { identitySettings } from '../identity.config';
import { UserRemoval } from './user-removal.service';

/** Takes up removals that a process left behind when it ended. Source: ADR 0136. */
@Injectable()
export class UserRemovalJob implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly removal: UserRemoval,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(identitySettings.token) private readonly settings: SettingsOf<typeof identitySettings>,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => {
      this.removal.proceed().catch((error: unknown) => this.logger.warn({ err: error }, 'removals wait'));
    }, this.settings.userRemovalMs);
    this.timer.unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }
}
