import { Inject, Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { Interruptible } from '@rookery/jobs';
import { Database } from '@rookery/persistence';
import { deleteExpiredRows } from '../../base/noteables/expired-rows';
import { oldMails } from './old-mails';
import { mailerSettings } from './mailer/mailer.config';
import type { MailerSettings } from './mailer/mailer.config';

/** Deletes e-mails older than the retention time. Source: ADR 0082. */
@Injectable()
export class OldMailsJob {
  constructor(
    private readonly database: Database,
    @Inject(mailerSettings.token) private readonly settings: MailerSettings,
  ) {}

  /** Returns the number of deleted rows. */
  @Job('drop-old-mails', { cron: '43 */6 * * *' })
  async run(run?: Interruptible): Promise<number> {
    return deleteExpiredRows(this.database, oldMails, this.settings.retentionDays, run?.signal);
  }
}
