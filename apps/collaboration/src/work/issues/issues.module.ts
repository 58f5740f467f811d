import { Module } from '@nestjs/common';
import { Attaches, Owns } from '@rookery/persistence';
import { AwardEmojiModule } from '../../talk/award-emoji/award-emoji.module';
import { CrossReferencesModule } from '../../talk/cross-references/cross-references.module';
import { MentionsModule } from '../../talk/mentions/mentions.module';
import { MilestonesModule } from '../../planning/milestones/milestones.module';
import { NotesModule } from '../../talk/notes/notes.module';
import { RepositoriesModule } from '../../code/repositories/repositories.module';
import { ResourceEventsModule } from '../../base/resource-events/resource-events.module';
import { SubscriptionsModule } from '../../following/subscriptions/subscriptions.module';
import { TimeTrackingModule } from '../../planning/time-tracking/time-tracking.module';
import { TodosModule } from '../../following/todos/todos.module';
import { AssignedPeopleModule } from '../../planning/people/people.module';
import { IssueUnassignmentConsumer } from './assignees/unassignment.consumer';
import { CommitMessageReferencesEffect } from './closing/commit-references';
import { IssueCopiesService } from './copying/issue-copies.service';
import { IssueCount } from './counting/issue-count.entity';
import {
  GroupMilestoneIssuesController,
  IssueAwardEmojiController,
  IssueDiscussionsController,
  IssueIterationEventsController,
  IssueLabelEventsController,
  IssueMarkingController,
  IssueMilestoneEventsController,
  IssueNoteAwardEmojiController,
  IssueNotesController,
  IssueOriginsController,
  IssueStateEventsController,
  IssueSubscriptionsController,
  IssueTimeTrackingController,
  IssueWeightEventsController,
  ProjectMilestoneIssuesController,
} from './issue-discussions.controller';
import { IssueCountsConsumer } from './counting/issue-counts.consumer';
import { IssueCountsService } from './counting/issue-counts.service';
import { UncountedIssuesJob } from './counting/uncounted-issues.job';
import { Issue, IssueAssignee } from './issue.entity';
import { IssueSearchText } from './listing/issue-text.entity';
import { IssuesEverywhereController } from './listing/issues-everywhere.controller';
import { IssuesEverywhereQueries } from './listing/issues-everywhere.queries';
import { IssuesController } from './issues.controller';
import { IssuesQueries } from './issues.queries';
import { IssuesService } from './issues.service';
import { DuplicateIssueQuickAction } from './quick-actions/duplicate-action';
import { IssueQuickActions } from './quick-actions/issue-quick-actions';
import { IssueDuplicatesService } from './quick-actions/issue-duplicates.service';
import { IssueQuickActionsService } from './quick-actions/issue-quick-actions.service';
import { IssueOrderService } from './reordering/issue-order.service';
import { EpicAssignments } from './epic/epic-assignment';
import { ThreadsToResolveLookup } from './follow-ups/threads-to-resolve';
import { attachedIssueCounts, attachedIssueTexts } from './issue-removal';

/** Issues with assignees, counts and search texts, and the routes of their notes, awards and events. */
@Owns(Issue, IssueAssignee, IssueCount, IssueSearchText)
@Attaches(attachedIssueTexts, attachedIssueCounts)
@Module({
  imports: [
    AwardEmojiModule,
    CrossReferencesModule,
    MentionsModule,
    MilestonesModule,
    NotesModule,
    AssignedPeopleModule,
    RepositoriesModule,
    ResourceEventsModule,
    SubscriptionsModule,
    TimeTrackingModule,
    TodosModule,
  ],
  controllers: [
    IssueCountsConsumer,
    IssuesController,
    IssuesEverywhereController,
    IssueAwardEmojiController,
    IssueNoteAwardEmojiController,
    IssueIterationEventsController,
    IssueLabelEventsController,
    IssueMilestoneEventsController,
    IssueStateEventsController,
    IssueWeightEventsController,
    IssueNotesController,
    IssueOriginsController,
    IssueDiscussionsController,
    IssueMarkingController,
    IssueSubscriptionsController,
    IssueTimeTrackingController,
    GroupMilestoneIssuesController,
    ProjectMilestoneIssuesController,
    IssueUnassignmentConsumer,
  ],
  providers: [
    CommitMessageReferencesEffect,
    DuplicateIssueQuickAction,
    EpicAssignments,
    ThreadsToResolveLookup,
    IssueQuickActions,
    IssueCopiesService,
    IssueCountsService,
    IssueDuplicatesService,
    IssueOrderService,
    IssuesEverywhereQueries,
    IssuesQueries,
    IssuesService,
    IssueQuickActionsService,
    UncountedIssuesJob,
  ],
  exports: [EpicAssignments, ThreadsToResolveLookup, IssueCopiesService, IssueCountsService, IssuesQueries],
})
export class IssuesModule {}
