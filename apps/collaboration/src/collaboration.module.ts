import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { ApiV4Module } from '@rookery/api-v4';
import { DirectoryModule } from '@rookery/directory';
import { InstanceModule } from '@rookery/instance';
import { JobsModule } from '@rookery/jobs';
import { MessagingModule } from '@rookery/messaging';
import { attachedTablesIn, databaseSettingsFor, entitiesOf, PersistenceModule } from '@rookery/persistence';
import { PlatformModule, pickSettings } from '@rookery/platform';
import type { SettingsValues } from '@rookery/platform';
import { ActivityModule } from './following/activity/activity.module';
import { CommitsModule } from './code/commits/commits.module';
import { commitKind } from './work/commit-comments/commit.kind';
import { CommitCommentsModule } from './work/commit-comments/commit-comments.module';
import { CrossReferencesModule } from './talk/cross-references/cross-references.module';
import { migrations } from './database';
import { epicKind } from './work/epics/epic.kind';
import { EpicsModule } from './work/epics/epics.module';
import { FilesModule } from './code/files/files.module';
import { IssueLinksModule } from './work/issue-links/issue-links.module';
import { IssueMovesModule } from './work/issue-moves/issue-moves.module';
import { issueKind } from './work/issues/issue.kind';
import { IssuesModule } from './work/issues/issues.module';
import { LabelsModule } from './planning/labels/labels.module';
import { mergeRequestKind } from './work/merge-requests/merge-request.kind';
import { MergeRequestsModule } from './work/merge-requests/merge-requests.module';
import { MilestonesModule } from './planning/milestones/milestones.module';
import type { NoteableKind } from './base/noteables/noteable-kinds';
import { NoteablesModule } from './base/noteables/noteables.module';
import { documentTodoTargets } from './base/noteables/targets.shape';
import { NotificationSettingsModule } from './following/notification-settings/notification-settings.module';
import { NotificationsModule } from './following/notifications/notifications.module';
import { AttachedRemovalModule, RemovalModule } from './removal/removal.module';
import { ProjectImportsModule } from './work/project-imports/project-imports.module';
import { ProtectedRefsModule } from './code/protected-refs/protected-refs.module';
import { PushPipelinesModule } from './code/push-pipelines/push-pipelines.module';
import { RefsModule } from './code/refs/refs.module';
import { ReleasesModule } from './work/releases/releases.module';
import { RepositoriesModule } from './code/repositories/repositories.module';
import { snippetKind } from './work/snippets/snippet.kind';
import { SnippetsModule } from './work/snippets/snippets.module';
import { placeTargetShapes } from './following/todos/todo.shape';
import { TodosModule } from './following/todos/todos.module';
import { UserCountsModule } from './following/user-counts/user-counts.module';

const service = 'collaboration';

/** All noteable kinds of this service. */
const kinds: readonly NoteableKind[] = [issueKind, epicKind, mergeRequestKind, snippetKind, commitKind];
documentTodoTargets(
  kinds,
  Object.values(placeTargetShapes).map(({ presenter }) => presenter),
);

/** The wings of this service. */
@Module({
  imports: [
    ActivityModule,
    CommitCommentsModule,
    CommitsModule,
    CrossReferencesModule,
    EpicsModule,
    FilesModule,
    IssueLinksModule,
    IssueMovesModule,
    IssuesModule,
    LabelsModule,
    MergeRequestsModule,
    MilestonesModule,
    NotificationSettingsModule,
    NotificationsModule,
    ProjectImportsModule,
    ProtectedRefsModule,
    PushPipelinesModule,
    RefsModule,
    ReleasesModule,
    RemovalModule,
    RepositoriesModule,
    SnippetsModule,
    TodosModule,
    UserCountsModule,
  ],
})
export class CollaborationModule {
  /** `more` are further kinds, declared by tests. */
  static forRoot(values: SettingsValues, more: readonly NoteableKind[] = []): DynamicModule {
    const settings = pickSettings(values, databaseSettingsFor(service));
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
        AttachedRemovalModule.forRoot(all, attachedTablesIn(CollaborationModule)),
      ],
    };
  }
}
