import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { ApiV4Module } from '@rookery/api-v4';
import { DirectoryModule } from '@rookery/directory';
import { MessagingModule } from '@rookery/messaging';
import { databaseSettingsFor, PersistenceModule } from '@rookery/persistence';
import { PlatformModule, settingsIn } from '@rookery/platform';
import type { SettingsValues } from '@rookery/platform';
import { AccountMailQueue } from './account-mails/account-mail-queue';
import { AccountMailsConsumer } from './account-mails/account-mails.consumer';
import { QueueAccountMails } from './account-mails/queue-account-mails';
import { ActivityConsumer } from './activity/activity.consumer';
import { ActivityController } from './activity/activity.controller';
import { ActivityQueries } from './activity/activity.queries';
import { RecordActivity } from './activity/record-activity';
import { NamedPeople } from './audience/named-people';
import { entities, migrations } from './database';
import { Assignees } from './assignees/assignees';
import { UnassignmentConsumer } from './assignees/unassignment.consumer';
import { DepartureSteps } from './departures/departure-steps';
import { Departures } from './departures/departures';
import { DeparturesConsumer } from './departures/departures.consumer';
import { DropWritings } from './departures/drop-writings';
import { IssuesController } from './issues/issues.controller';
import { IssuesQueries } from './issues/issues.queries';
import { IssuesService } from './issues/issues.service';
import { MAIL_SOURCES } from './mailer/mail-source';
import type { MailSource } from './mailer/mail-source';
import { Mailer } from './mailer/mailer';
import { ProjectDeletionConsumer } from './noteables/project-deletion.consumer';
import { IssueNotesController } from './notes/notes.controller';
import { NotesQueries } from './notes/notes.queries';
import { NotesService } from './notes/notes.service';
import { MailQueue } from './notifications/mail-queue';
import { NotificationsConsumer } from './notifications/notifications.consumer';
import { Participants } from './notifications/participants';
import { QueueMails } from './notifications/queue-mails';
import { Pruning } from './pruning/pruning';
import { RepositoryFactsController } from './repositories/repository-facts.controller';
import { RaiseTodos } from './todos/raise-todos';
import { TodosConsumer } from './todos/todos.consumer';
import { TodosController } from './todos/todos.controller';
import { TodosService } from './todos/todos.service';
import { UserCountsController } from './user-counts/user-counts.controller';
import { UserCountsQueries } from './user-counts/user-counts.queries';

const service = 'collaboration';

/** The rooms of this service. */
@Module({
  controllers: [
    AccountMailsConsumer,
    ActivityConsumer,
    ActivityController,
    DeparturesConsumer,
    IssuesController,
    IssueNotesController,
    NotificationsConsumer,
    ProjectDeletionConsumer,
    RepositoryFactsController,
    UnassignmentConsumer,
    TodosController,
    TodosConsumer,
    UserCountsController,
  ],
  providers: [
    AccountMailQueue,
    ActivityQueries,
    RecordActivity,
    Assignees,
    DepartureSteps,
    Departures,
    DropWritings,
    IssuesQueries,
    IssuesService,
    MailQueue,
    { provide: MAIL_SOURCES, inject: [MailQueue, AccountMailQueue], useFactory: (...sources: MailSource[]) => sources },
    Mailer,
    NamedPeople,
    NotesQueries,
    NotesService,
    Participants,
    Pruning,
    QueueAccountMails,
    QueueMails,
    RaiseTodos,
    TodosService,
    UserCountsQueries,
  ],
})
export class CollaborationModule {
  static forRoot(values: SettingsValues): DynamicModule {
    const settings = settingsIn(values, databaseSettingsFor(service));
    return {
      module: CollaborationModule,
      imports: [
        PlatformModule.forRoot({ service, values }),
        PersistenceModule.forRoot({ service, entities, settings, migrations }),
        MessagingModule.forRoot({ service }),
        ApiV4Module.forRoot({ service }),
        DirectoryModule.forRoot({ service }),
      ],
    };
  }
}
