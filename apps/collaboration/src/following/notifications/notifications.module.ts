import { Module } from '@nestjs/common';
import { Attaches, Owns } from '@rookery/persistence';
import { ContextKeys, platformSettings } from '@rookery/platform';
import { MentionsModule } from '../../talk/mentions/mentions.module';
import { NotesModule } from '../../talk/notes/notes.module';
import { AccountMailQueue } from './account-mails/account-mail-queue';
import { AccountMail } from './account-mails/account-mail.entity';
import { AccountMailsConsumer } from './account-mails/account-mails.consumer';
import { QueueAccountMails } from './account-mails/queue-account-mails';
import { InvolvedPeople } from './involved-people';
import { MailQueue } from './mail-queue';
import { Mail, MailAllowance, NotificationSetting, Participant } from './mail.entity';
import { MAIL_IDENTITY, mailIdentityOf } from './mailer/mail-identity';
import { MAIL_SOURCES } from './mailer/mail-source';
import type { MailSource } from './mailer/mail-source';
import { Mailer } from './mailer/mailer';
import { mailerSettings } from './mailer/mailer.config';
import { NotificationsConsumer } from './notifications.consumer';
import { OldMailsJob } from './old-mails.job';
import { Participants } from './participants';
import { QueueMails } from './queue-mails';
import {
  attachedAccountMails,
  attachedMailAllowances,
  attachedMails,
  attachedNotificationSettings,
  attachedParticipants,
} from './mail-removal';

/** E-mails: who is told what of things and of their account, and the queues that the mailer empties. */
@Owns(AccountMail, Mail, MailAllowance, NotificationSetting, Participant)
@Attaches(
  attachedParticipants,
  attachedMails,
  attachedAccountMails,
  attachedNotificationSettings,
  attachedMailAllowances,
)
@Module({
  imports: [MentionsModule, NotesModule],
  controllers: [AccountMailsConsumer, NotificationsConsumer],
  providers: [
    AccountMailQueue,
    InvolvedPeople,
    MailQueue,
    {
      provide: MAIL_IDENTITY,
      inject: [mailerSettings.token, platformSettings.token, ContextKeys],
      useFactory: mailIdentityOf,
    },
    { provide: MAIL_SOURCES, inject: [MailQueue, AccountMailQueue], useFactory: (...sources: MailSource[]) => sources },
    Mailer,
    OldMailsJob,
    Participants,
    QueueAccountMails,
    QueueMails,
  ],
  exports: [Mailer],
})
export class NotificationsModule {}
