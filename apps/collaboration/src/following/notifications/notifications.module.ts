import { Module } from '@nestjs/common';
import { Attaches, Owns } from '@rookery/persistence';
import { ContextSigningKeys, platformSettings } from '@rookery/platform';
import { MentionsModule } from '../../talk/mentions/mentions.module';
import { NotesModule } from '../../talk/notes/notes.module';
import { NotificationSettingsModule } from '../notification-settings/notification-settings.module';
import { AccountMailQueue } from './account-mails/account-mail-queue';
import { AccountMail } from './account-mails/account-mail.entity';
import { AccountMailsConsumer } from './account-mails/account-mails.consumer';
import { QueueAccountMails } from './account-mails/queue-account-mails';
import { ParticipantRecorder } from './participant-recorder';
import { MailQueue } from './mail-queue';
import { Mail, MailAllowance, Participant } from './mail.entity';
import { MAIL_IDENTITY, createMailIdentity } from './mailer/mail-identity';
import { MAIL_SOURCES } from './mailer/mail-source';
import type { MailSource } from './mailer/mail-source';
import { Mailer } from './mailer/mailer';
import { mailerSettings } from './mailer/mailer.config';
import { DueMailsJob } from './due-mails/due-mails.job';
import { NotificationsConsumer } from './notifications.consumer';
import { OldMailsJob } from './old-mails.job';
import { Participants } from './participants';
import { PipelineMailQueue } from './pipeline-mails/pipeline-mail-queue';
import { PipelineMail } from './pipeline-mails/pipeline-mail.entity';
import { PipelineMailsConsumer } from './pipeline-mails/pipeline-mails.consumer';
import { PlaceMailQueue } from './place-mails/place-mail-queue';
import { PlaceMail, PlaceMailFanOut } from './place-mails/place-mail.entity';
import { PlaceMailsConsumer } from './place-mails/place-mails.consumer';
import { ProjectMailsJob } from './place-mails/project-mails.job';
import { QueuePlaceMails } from './place-mails/queue-place-mails';
import { QueueMails } from './queue-mails';
import { MailFanOut } from './watching/mail-fan-out.entity';
import { WatcherMailsJob } from './watching/watcher-mails.job';
import {
  attachedAccountMails,
  attachedMailAllowances,
  attachedMailFanOuts,
  attachedMails,
  attachedParticipants,
  attachedPipelineMails,
  attachedPlaceMails,
  attachedPlaceMailFanOuts,
} from './mail-removal';

/** E-mails about noteables, pipelines, places and accounts: recipients, texts, queues and the mailer. */
@Owns(AccountMail, Mail, MailAllowance, MailFanOut, Participant, PipelineMail, PlaceMail, PlaceMailFanOut)
@Attaches(
  attachedParticipants,
  attachedMails,
  attachedAccountMails,
  attachedPipelineMails,
  attachedPlaceMails,
  attachedPlaceMailFanOuts,
  attachedMailAllowances,
  attachedMailFanOuts,
)
@Module({
  imports: [MentionsModule, NotesModule, NotificationSettingsModule],
  controllers: [AccountMailsConsumer, NotificationsConsumer, PipelineMailsConsumer, PlaceMailsConsumer],
  providers: [
    AccountMailQueue,
    DueMailsJob,
    ParticipantRecorder,
    MailQueue,
    {
      provide: MAIL_IDENTITY,
      inject: [mailerSettings.token, platformSettings.token, ContextSigningKeys],
      useFactory: createMailIdentity,
    },
    {
      provide: MAIL_SOURCES,
      inject: [MailQueue, AccountMailQueue, PipelineMailQueue, PlaceMailQueue],
      useFactory: (...sources: MailSource[]) => sources,
    },
    Mailer,
    OldMailsJob,
    Participants,
    PipelineMailQueue,
    PlaceMailQueue,
    ProjectMailsJob,
    QueueAccountMails,
    QueueMails,
    QueuePlaceMails,
    WatcherMailsJob,
  ],
  exports: [Mailer, QueueAccountMails],
})
export class NotificationsModule {}
