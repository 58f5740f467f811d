import { Module } from '@nestjs/common';
import { Attaches, Owns } from '@rookery/persistence';
import { AwardEmojiModule } from '../../talk/award-emoji/award-emoji.module';
import { MentionsModule } from '../../talk/mentions/mentions.module';
import { NotesModule } from '../../talk/notes/notes.module';
import { ResourceEventsModule } from '../../base/resource-events/resource-events.module';
import { SubscriptionsModule } from '../../following/subscriptions/subscriptions.module';
import { TimeTrackingModule } from '../../planning/time-tracking/time-tracking.module';
import { TodosModule } from '../../following/todos/todos.module';
import { Assignees } from './assignees/assignees';
import { UnassignmentConsumer } from './assignees/unassignment.consumer';
import { IssueCopiesService } from './copying/issue-copies.service';
import { IssueCount } from './counting/issue-count.entity';
import {
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
} from './issue-talk.controller';
import { IssueCountsConsumer } from './counting/issue-counts.consumer';
import { IssueCountsService } from './counting/issue-counts.service';
import { UncountedIssuesJob } from './counting/uncounted-issues.job';
import { Issue, IssueAssignee } from './issue.entity';
import {
  GroupMilestoneIssuesController,
  ProjectMilestoneIssuesController,
} from './listing/milestone-issues.controller';
import { IssueText } from './listing/issue-text.entity';
import { IssuesEverywhereController } from './listing/issues-everywhere.controller';
import { IssuesEverywhereQueries } from './listing/issues-everywhere.queries';
import { MilestoneIssuesQueries } from './listing/milestone-issues.queries';
import { IssuesController } from './issues.controller';
import { IssuesQueries } from './issues.queries';
import { IssuesService } from './issues.service';
import { DuplicateAction } from './quick-actions/duplicate-action';
import { IssueActions } from './quick-actions/issue-actions';
import { IssueDuplicatesService } from './quick-actions/issue-duplicates.service';
import { OpeningService } from './quick-actions/opening.service';
import { IssueOrderService } from './reordering/issue-order.service';
import { EpicChoice } from './serving/epic-choice';
import { attachedIssueCounts, attachedIssueTexts } from './issue-removal';

/** Units of work of a project, who works on them, how many are open, and the routes of their notes. */
@Owns(Issue, IssueAssignee, IssueCount, IssueText)
@Attaches(attachedIssueTexts, attachedIssueCounts)
@Module({
  imports: [
    AwardEmojiModule,
    MentionsModule,
    NotesModule,
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
    UnassignmentConsumer,
  ],
  providers: [
    Assignees,
    DuplicateAction,
    EpicChoice,
    IssueActions,
    IssueCopiesService,
    IssueCountsService,
    IssueDuplicatesService,
    IssueOrderService,
    IssuesEverywhereQueries,
    IssuesQueries,
    IssuesService,
    MilestoneIssuesQueries,
    OpeningService,
    UncountedIssuesJob,
  ],
  exports: [EpicChoice, IssueCopiesService, IssuesQueries],
})
export class IssuesModule {}
