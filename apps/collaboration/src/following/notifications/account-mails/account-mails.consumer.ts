import { Controller } from '@nestjs/common';
import {
  accessTokenCreated,
  accessTokenExpiryApproached,
  accessTokenRotated,
  dependencyListExportFinished,
  emailAdded,
  emailConfirmationRequested,
} from '@rookery/contracts';
import type { AccountMailTemplate } from '@rookery/contracts';
import { Consume } from '@rookery/messaging';
import type { Delivered, EffectBatch } from '@rookery/messaging';
import { AccountMailEnqueuer } from './account-mail-enqueuer';
import type { AccountNotice } from './account-mail-enqueuer';

/**
 * Queues e-mails about events of addresses, access tokens and exports.
 * Source: reference identity-and-import 4.5, 5; reference packages-and-admin 6.2; reference work-tracking 8.6.
 */
@Controller()
export class AccountMailsConsumer {
  constructor(private readonly mails: AccountMailEnqueuer) {}

  @Consume(emailConfirmationRequested, { effect: 'queue-account-mails' })
  confirmationRequested({ tx, events }: EffectBatch<typeof emailConfirmationRequested>): Promise<void> {
    const notices = events.map(({ id: eventId, data }): AccountNotice => {
      return { eventId, template: 'email_confirmation', recipientId: data.user_id, subjectId: data.email_id };
    });
    return this.mails.queueMails(tx, notices);
  }

  @Consume(emailAdded, { effect: 'queue-account-mails' })
  added({ tx, events }: EffectBatch<typeof emailAdded>): Promise<void> {
    const notices = events.map(({ id: eventId, data }): AccountNotice => {
      return { eventId, template: 'email_added', recipientId: data.user_id, subjectId: data.email_id };
    });
    return this.mails.queueMails(tx, notices);
  }

  @Consume(accessTokenCreated, { effect: 'queue-account-mails' })
  tokenCreated({ tx, events }: EffectBatch<typeof accessTokenCreated>): Promise<void> {
    return this.mails.queueMails(
      tx,
      events.flatMap((event) => toNotices(event, 'token_created')),
    );
  }

  @Consume(accessTokenExpiryApproached, { effect: 'queue-account-mails' })
  expiryApproached({ tx, events }: EffectBatch<typeof accessTokenExpiryApproached>): Promise<void> {
    return this.mails.queueMails(
      tx,
      events.flatMap((event) => toNotices(event, 'token_expires')),
    );
  }

  @Consume(accessTokenRotated, { effect: 'queue-account-mails' })
  rotated({ tx, events }: EffectBatch<typeof accessTokenRotated>): Promise<void> {
    return this.mails.queueMails(
      tx,
      events.flatMap((event) => toNotices(event, 'token_rotated')),
    );
  }

  @Consume(dependencyListExportFinished, { effect: 'queue-account-mails' })
  exportFinished({ tx, events }: EffectBatch<typeof dependencyListExportFinished>): Promise<void> {
    const asked = events.filter(({ data }) => data.send_email);
    const notices = asked.map(({ id: eventId, data }): AccountNotice => {
      return {
        ...{ eventId, template: 'dependency_list_exported' },
        ...{ recipientId: data.author_id, subjectId: data.export_id },
      };
    });
    return this.mails.queueMails(tx, notices);
  }
}

function toNotices(
  {
    id: eventId,
    data,
  }: Delivered<typeof accessTokenCreated | typeof accessTokenExpiryApproached | typeof accessTokenRotated>,
  template: AccountMailTemplate,
): AccountNotice[] {
  return data.recipient_ids.map((recipientId) => ({ eventId, template, recipientId, subjectId: data.token_id }));
}
