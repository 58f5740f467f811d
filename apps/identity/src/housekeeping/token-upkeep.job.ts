import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { Logger, SettingsOf } from '@rookery/platform';
import { LOGGER } from '@rookery/platform';
import { identitySettings } from '../identity.config';
import { EndedBots } from '../resource-tokens/ended-bots';
import { ExpiryNotices } from '../token-notices/expiry-notices';

/**
 * What time brings about for access tokens: notices of their end, and the end of bots without a token. Every process
 * may do it at any time; rows say what is done. Source: reference identity-and-import 4.5, 4.9.
 */
@Injectable()
export class TokenUpkeepJob implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly notices: ExpiryNotices,
    private readonly bots: EndedBots,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(identitySettings.token) private readonly settings: SettingsOf<typeof identitySettings>,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => {
      this.run().catch((error: unknown) => this.logger.error({ err: error }, 'the upkeep of tokens failed'));
    }, this.settings.housekeepingMs);
    this.timer.unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  async run(): Promise<void> {
    await this.notices.tell();
    await this.bots.remove();
  }
}
