import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { ApiV4Module } from '@rookery/api-v4';
import { DirectoryModule } from '@rookery/directory';
import { InstanceModule } from '@rookery/instance';
import { JobsModule } from '@rookery/jobs';
import { MessagingModule } from '@rookery/messaging';
import { attachedIn, databaseSettingsFor, entitiesOf, PersistenceModule } from '@rookery/persistence';
import { PlatformModule, settingsIn } from '@rookery/platform';
import type { SettingsValues } from '@rookery/platform';
import { ActivityModule } from './following/activity/activity.module';
import { CrossReferencesModule } from './talk/cross-references/cross-references.module';
import { migrations } from './database';
import { epicKind } from './work/epics/epic.kind';
import { EpicsModule } from './work/epics/epics.module';
import { IssueLinksModule } from './work/issue-links/issue-links.module';
import { IssueMovesModule } from './work/issue-moves/issue-moves.module';
import { issueKind } from './work/issues/issue.kind';
import { IssuesModule } from './work/issues/issues.module';
import { LabelsModule } from './planning/labels/labels.module';
import { MilestonesModule } from './planning/milestones/milestones.module';
import type { NoteableKind } from './base/noteables/noteable-kinds';
import { NoteablesModule } from './base/noteables/noteables.module';
import { documentTargets } from './base/noteables/targets.shape';
import { NotificationsModule } from './following/notifications/notifications.module';
import { AttachedRemovalModule, RemovalModule } from './removal/removal.module';
import { RepositoriesModule } from './code/repositories/repositories.module';
import { snippetKind } from './work/snippets/snippet.kind';
import { SnippetsModule } from './work/snippets/snippets.module';
import { TodosModule } from './following/todos/todos.module';
import { UserCountsModule } from './following/user-counts/user-counts.module';

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
    const all = [...kinds, ...more];
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
        NoteablesModule.forRoot(all),
        AttachedRemovalModule.forRoot(all, attachedIn(CollaborationModule)),
      ],
    };
  }
}
