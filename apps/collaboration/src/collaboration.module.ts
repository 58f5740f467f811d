import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { ApiV4Module } from '@rookery/api-v4';
import { DirectoryModule } from '@rookery/directory';
import { InstanceModule } from '@rookery/instance';
import { JobsModule } from '@rookery/jobs';
import { MessagingModule } from '@rookery/messaging';
import { databaseSettingsFor, entitiesOf, PersistenceModule } from '@rookery/persistence';
import { PlatformModule, settingsIn } from '@rookery/platform';
import type { SettingsValues } from '@rookery/platform';
import { ActivityModule } from './activity/activity.module';
import { CrossReferencesModule } from './cross-references/cross-references.module';
import { migrations } from './database';
import { epicKind } from './epics/epic.kind';
import { EpicsModule } from './epics/epics.module';
import { IssueLinksModule } from './issue-links/issue-links.module';
import { IssueMovesModule } from './issue-moves/issue-moves.module';
import { issueKind } from './issues/issue.kind';
import { IssuesModule } from './issues/issues.module';
import { LabelsModule } from './labels/labels.module';
import { MilestonesModule } from './milestones/milestones.module';
import type { NoteableKind } from './noteables/noteable-kinds';
import { NoteablesModule } from './noteables/noteables.module';
import { documentTargets } from './noteables/targets.shape';
import { NotificationsModule } from './notifications/notifications.module';
import { RemovalModule } from './removal/removal.module';
import { RepositoriesModule } from './repositories/repositories.module';
import { snippetKind } from './snippets/snippet.kind';
import { SnippetsModule } from './snippets/snippets.module';
import { TodosModule } from './todos/todos.module';
import { UserCountsModule } from './user-counts/user-counts.module';

const service = 'collaboration';

/** All kinds of things that can be talked about here. */
const kinds: readonly NoteableKind[] = [issueKind, epicKind, snippetKind];
documentTargets(kinds);

/** The wings of this service. */
@Module({
  imports: [
    ActivityModule,
    CrossReferencesModule,
    EpicsModule,
    IssueLinksModule,
    IssueMovesModule,
    IssuesModule,
    LabelsModule,
    MilestonesModule,
    NotificationsModule,
    RemovalModule,
    RepositoriesModule,
    SnippetsModule,
    TodosModule,
    UserCountsModule,
  ],
})
export class CollaborationModule {
  /** Shape: `more` are kinds that only a test knows. */
  static forRoot(values: SettingsValues, more: readonly NoteableKind[] = []): DynamicModule {
    const settings = settingsIn(values, databaseSettingsFor(service));
    return {
      module: CollaborationModule,
      imports: [
        PlatformModule.forRoot({ service, values }),
        PersistenceModule.forRoot({ service, entities: entitiesOf(CollaborationModule), settings, migrations }),
        MessagingModule.forRoot({ service }),
        JobsModule.forRoot({ service }),
        InstanceModule.forRoot({ service }),
        ApiV4Module.forRoot({ service, connections: settings.poolCount }),
        DirectoryModule.forRoot({ service }),
        NoteablesModule.forRoot([...kinds, ...more]),
      ],
    };
  }
}
