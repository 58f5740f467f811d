import { Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import { housekeepingCron } from '../identity.config';
import { TokenExpiryNotices } from './notices/expiry-notices';

/** Periodic work on access tokens: expiry notices. Source: reference identity-and-import 4.5. */
@Injectable()
export class TokenExpiryNoticesJob {
  constructor(private readonly notices: TokenExpiryNotices) {}

  @Job('tell-of-ending-tokens', { cron: housekeepingCron })
  async run(): Promise<void> {
    await this.notices.sendNotices();
  }
}
