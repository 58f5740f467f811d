import { Module } from '@nestjs/common';
import { Attaches, Owns } from '@rookery/persistence';
import { ContextSigningKeys, platformSettings } from '@rookery/platform';
import { MentionsModule } from '../../talk/mentions/mentions.module';
import { NotesModule } from '../../talk/notes/notes.module';
import { NotificationSettingsModule } from '../notification-settings/notification-settings.module';
import { AccountMailQueue } from './account-mails/account-mail-queue';
import { AccountMail } from './account-mails/account-mail.entity';
import { AccountMailsConsumer } from './account-mails/account-mails.consumer';
import { AccountMailEnqueuer } from './account-mails/account-mail-enqueuer';
import { ParticipantRecorder } from './participant-recorder';
import { NoteableMailQueue } from './mail-queue';
import { Mail, MailAllowance, Participant } from './mail.entity';
import { MAIL_IDENTITY, createMailIdentity } from './mailer/mail-identity';
import { MAIL_SOURCES } from './mailer/mail-source';
import type { MailSource } from './mailer/mail-source';
import { Mailer } from './mailer/mailer';
import { mailerSettings } from './mailer/mailer.config';
import { DueIssueMailsJob } from './due-mails/due-mails.job';
import { NotificationsConsumer } from './notifications.consumer';
import { OldMailsJob } from './old-mails.job';
import { Participants } from './participants';
import { PipelineMailQueue } from './pipeline-mails/pipeline-mail-queue';
import { PipelineMail } from './pipeline-mails/pipeline-mail.entity';
import { PipelineMailsConsumer } from './pipeline-mails/pipeline-mails.consumer';
import { ProjectOrGroupMailQueue } from './place-mails/project-or-group-mail-queue';
import { ProjectOrGroupMail, ProjectMailFanOut } from './place-mails/place-mail.entity';
import { MembershipMailsConsumer } from './place-mails/place-mails.consumer';
import { ProjectMailsJob } from './place-mails/project-mails.job';
import { ProjectOrGroupMailEnqueuer } from './place-mails/project-or-group-mail-enqueuer';
import { NoteableMailEnqueuer } from './noteable-mail-enqueuer';
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
@Owns(AccountMail, Mail, MailAllowance, MailFanOut, Participant, PipelineMail, ProjectOrGroupMail, ProjectMailFanOut)
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
  controllers: [AccountMailsConsumer, NotificationsConsumer, PipelineMailsConsumer, MembershipMailsConsumer],
  providers: [
    AccountMailQueue,
    DueIssueMailsJob,
    ParticipantRecorder,
    NoteableMailQueue,
    {
      provide: MAIL_IDENTITY,
      inject: [mailerSettings.token, platformSettings.token, ContextSigningKeys],
      useFactory: createMailIdentity,
    },
    {
      provide: MAIL_SOURCES,
      inject: [NoteableMailQueue, AccountMailQueue, PipelineMailQueue, ProjectOrGroupMailQueue],
      useFactory: (...sources: MailSource[]) => sources,
    },
    Mailer,
    OldMailsJob,
    Participants,
    PipelineMailQueue,
    ProjectOrGroupMailQueue,
    ProjectMailsJob,
    AccountMailEnqueuer,
    NoteableMailEnqueuer,
    ProjectOrGroupMailEnqueuer,
    WatcherMailsJob,
  ],
  exports: [Mailer, AccountMailEnqueuer],
})
export class NotificationsModule {}
