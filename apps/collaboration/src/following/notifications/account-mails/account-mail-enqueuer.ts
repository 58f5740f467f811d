import { Inject, Injectable } from '@nestjs/common';
import type { AccountMailTemplate } from '@rookery/contracts';
import { activeTraceparent, prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { Mailer } from '../mailer/mailer';
import type { LeftOutSnippet } from './account-mail.entity';
import { mailerSettings } from '../mailer/mailer.config';
import type { MailerSettings } from '../mailer/mailer.config';

/** An e-mail to queue about an account. `subjectId` is the e-mail address, token, export or import in question. */
export interface AccountNotice {
  readonly eventId: string;
  readonly template: AccountMailTemplate;
  readonly recipientId: number;
  readonly subjectId: number;
  /** Gists that were not imported, of the e-mail about them. */
  readonly leftOut?: readonly LeftOutSnippet[];
}

const insertAccountMails = prepareStatement(
  'account_mails_queue',
  `insert into account_mails (source_event_id, recipient_id, template, subject_id, left_out, traceparent)
   select *, $6::text from unnest($1::uuid[], $2::bigint[], $3::text[], $4::bigint[], $5::jsonb[])
   on conflict do nothing returning 1`,
);

/** Queues e-mails about accounts, once for an event that is delivered twice. Source: reference work-tracking 8.6; ADR 0082. */
@Injectable()
export class AccountMailEnqueuer {
  constructor(
    private readonly mailer: Mailer,
    @Inject(mailerSettings.token) private readonly settings: MailerSettings,
  ) {}

  /** Wakes the mailer of this process once the rows are committed. */
  async queueMails(tx: Tx, notices: readonly AccountNotice[]): Promise<void> {
    if (notices.length === 0 || !this.settings.isEnabled) return;
    const queued = await tx.prepared(insertAccountMails, [
      notices.map((one) => one.eventId),
      notices.map((one) => one.recipientId),
      notices.map((one) => one.template),
      notices.map((one) => one.subjectId),
      notices.map(({ leftOut }) => (leftOut === undefined ? null : JSON.stringify(leftOut))),
      activeTraceparent(),
    ]);
    if (queued.length > 0) tx.afterCommit(() => this.mailer.nudge());
  }
}
