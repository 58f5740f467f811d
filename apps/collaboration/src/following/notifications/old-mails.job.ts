import { Inject, Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { Ending } from '@rookery/jobs';
import { Database } from '@rookery/persistence';
import { dropOldest } from '../../base/noteables/oldest-rows';
import { oldMails } from './old-mails';
import { mailerSettings } from './mailer/mailer.config';
import type { MailerSettings } from './mailer/mailer.config';

/** Drops e-mails that are kept for a time only. Source: ADR 0082. */
@Injectable()
export class OldMailsJob {
  constructor(
    private readonly database: Database,
    @Inject(mailerSettings.token) private readonly settings: MailerSettings,
  ) {}

  /** Answers how many went. */
  @Job('drop-old-mails', { cron: '43 */6 * * *' })
  async run(run?: Ending): Promise<number> {
    return dropOldest(this.database, oldMails, this.settings.retentionDays, run?.signal);
  }
}
