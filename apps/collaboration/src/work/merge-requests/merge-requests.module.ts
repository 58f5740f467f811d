import { Module } from '@nestjs/common';
import { Attaches, Owns } from '@rookery/persistence';
import { ImportedObjectsModule } from '../../base/imported-objects/imported-objects.module';
import { ResourceEventsModule } from '../../base/resource-events/resource-events.module';
import { ProtectedRefsModule } from '../../code/protected-refs/protected-refs.module';
import { RepositoriesModule } from '../../code/repositories/repositories.module';
import { SubscriptionsModule } from '../../following/subscriptions/subscriptions.module';
import { TodosModule } from '../../following/todos/todos.module';
import { MilestonesModule } from '../../planning/milestones/milestones.module';
import { AssignedPeopleModule } from '../../planning/people/people.module';
import { TimeTrackingModule } from '../../planning/time-tracking/time-tracking.module';
import { AwardEmojiModule } from '../../talk/award-emoji/award-emoji.module';
import { MentionsModule } from '../../talk/mentions/mentions.module';
import { NotesModule } from '../../talk/notes/notes.module';
import { MergeRequestAnswers } from './merge-request-answers';
import {
  GroupMilestoneMergeRequestsController,
  MergeRequestAwardEmojiController,
  MergeRequestDiscussionsController,
  MergeRequestLabelEventsController,
  MergeRequestMarkingController,
  MergeRequestMilestoneEventsController,
  MergeRequestNoteAwardEmojiController,
  MergeRequestNotesController,
  MergeRequestStateEventsController,
  MergeRequestSubscriptionsController,
  MergeRequestTimeTrackingController,
  ProjectMilestoneMergeRequestsController,
} from './merge-request-discussions.controller';
import { MergeRequestWrites } from './merge-request-writes';
import { MergeRequest, MergeRequestAssignee, MergeRequestReviewer, MergeRequestVersion } from './merge-request.entity';
import { CommitMergeRequestsController } from './listing/commit-merge-requests.controller';
import { CommitMergeRequestsQueries } from './listing/commit-merge-requests.queries';
import { MergeRequestsEverywhereController } from './listing/merge-requests-everywhere.controller';
import { MergeRequestsEverywhereQueries } from './listing/merge-requests-everywhere.queries';
import { MergeRequestsController } from './merge-requests.controller';
import { MergeRequestsJob } from './merge-requests.job';
import { MergeRequestsQueries } from './merge-requests.queries';
import { MergeRequestsService } from './merge-requests.service';
import {
  ApprovalRule,
  ApprovalRuleGroup,
  ApprovalRuleUser,
  ApprovalSettings,
  MergeRequestApproval,
} from './approvals/approval.entity';
import {
  attachedApprovalRuleGroups,
  attachedApprovalRules,
  attachedApprovalRuleUsers,
  attachedApprovalSettings,
  attachedMergeRequestApprovals,
} from './approvals/approval-removal';
import { MergeRequestApprovalRulesController } from './approvals/approval-rules.controller';
import { ApprovalRulesQueries } from './approvals/approval-rules.queries';
import { ApprovalRulesService } from './approvals/approval-rules.service';
import { ApprovalsController } from './approvals/approvals.controller';
import { ApprovalsQueries } from './approvals/approvals.queries';
import { ApprovalsService } from './approvals/approvals.service';
import { ApproverTodosConsumer } from './approvals/approver-todos.consumer';
import { ProjectApprovalsController } from './approvals/project-approvals.controller';
import { MergeRequestIssue } from './closing/merge-request-issue.entity';
import { MergeRequestRecorder } from './closing/merge-request-recorder';
import { RelatedIssuesController } from './closing/related-issues.controller';
import { RelatedIssuesQueries } from './closing/related-issues.queries';
import { RelatedMergeRequestsController } from './closing/related-merge-requests.controller';
import { RelatedMergeRequestsQueries } from './closing/related-merge-requests.queries';
import { AutoMerge } from './merging/auto-merge';
import { MergeChecksAfterPushEffect } from './merging/check-merge-requests';
import { MergeCheckResultStore } from './merging/check-results';
import { MergeRequestClosingService } from './merging/merge-request-closing.service';
import { EarlierMergeAttempts } from './merging/earlier-attempts';
import { MergeController } from './merging/merge.controller';
import { MergeChecks } from './merging/merge-checks';
import { MergePermissions } from './merging/merge-permissions';
import { MergeRecipes } from './merging/merge-recipes';
import { MergeService } from './merging/merge.service';
import { BranchMergeQueue } from './merging/branch-merge-queue';
import { RebaseService } from './merging/rebase.service';
import { Mergeability } from './merging/mergeability';
import { AutoMergeRuns } from './pipelines/auto-merge-runs';
import { AutoMergeRunsJob } from './pipelines/auto-merge-runs.job';
import { CiPipeline } from './pipelines/ci-pipeline.entity';
import { BackgroundViewerFinder } from './merging/background-viewer-finder';
import { ApprovalQuickActions } from './quick-actions/approval-quick-actions';
import { MergeQuickActions } from './quick-actions/merge-quick-actions';
import { MergeCommandsJob } from './quick-actions/merge-commands.job';
import { MergeRequestQuickActions } from './quick-actions/merge-request-quick-actions';
import { PushOptionMergeRequestWriter } from './push-options/push-option-merge-request-writer';
import { PushMergeRequestLinks } from './push-options/push-links';
import { PushOptionsEffect } from './push-options/push-options-effect';
import { PushOptionsJob } from './push-options/push-options.job';
import { MergeRequestPushOptionsService } from './push-options/merge-request-push-options.service';
import { CiPipelinesConsumer } from './pipelines/ci-pipelines.consumer';
import { MergeRequestHeadController } from './pipelines/merge-request-head.controller';
import { MergeRequestHeads } from './pipelines/merge-request-heads';
import { attachedCiPipelines } from './pipelines/pipeline-removal';
import { MergeRequestPipelinesController } from './pipelines/pipelines.controller';
import { PipelineTodos } from './pipelines/pipeline-todos';
import { MergeRequestPipelinesQueries } from './pipelines/pipelines.queries';
import { ReviewersController } from './people/reviewers.controller';
import { ReviewersQueries } from './people/reviewers.queries';
import { StackedMergeRequests } from './merging/stacked-merge-requests';
import { ClosingReferencesFinder } from './closing/closing-references';
import { DiffThreadFollower } from './reviews/followed-threads';
import { MergeRequestDiffThreads } from './reviews/diff-threads';
import { attachedDraftNotes, DraftNote } from './drafts/draft-note.entity';
import { DraftNotesController } from './drafts/draft-notes.controller';
import { DraftNotesQueries } from './drafts/draft-notes.queries';
import { DraftNotesService } from './drafts/draft-notes.service';
import { PublishDraftNotesService } from './drafts/publish-drafts.service';
import { AppliedSuggestionsEffect } from './suggestions/applied-suggestions';
import { ApplySuggestionsService } from './suggestions/apply-suggestions.service';
import { IssuesModule } from '../issues/issues.module';
import { MergeRequestThreadsFinder } from './follow-ups/merge-request-threads-finder';
import { SuggestionAuthors } from './suggestions/suggestion-authors';
import { SuggestionsController } from './suggestions/suggestions.controller';
import { MergeRequestVersionContentsQueries } from './versions/version-contents';
import { MergeRequestVersionsController } from './versions/versions.controller';
import { SourceBranchSharingPolicy } from './versions/branch-sharing';
import { MergeRequestBranches } from './versions/branches';
import { MergeRequestPushEffect } from './versions/merge-request-push-effect';
import { MergeRequestVersions } from './versions/merge-request-versions';
import { SourceBranches } from './versions/source-branches';
import { DiffNoteImports } from './importing/diff-note-imports';
import { ImportedMergeRequestBranches } from './importing/imported-branches';
import { MergeRequestImports } from './importing/merge-request-imports';
import { DeletedForkMergeRequestsConsumer } from './closing/deleted-forks.consumer';

/** Merge requests with versions, assignees and reviewers, and the routes of their notes, awards and events. */
@Owns(
  DraftNote,
  MergeRequest,
  MergeRequestAssignee,
  MergeRequestIssue,
  MergeRequestReviewer,
  MergeRequestVersion,
  ApprovalRule,
  ApprovalRuleGroup,
  ApprovalRuleUser,
  ApprovalSettings,
  MergeRequestApproval,
  CiPipeline,
)
@Attaches(
  attachedApprovalSettings,
  attachedApprovalRules,
  attachedApprovalRuleUsers,
  attachedApprovalRuleGroups,
  attachedMergeRequestApprovals,
  attachedDraftNotes,
  attachedCiPipelines,
)
@Module({
  imports: [
    ImportedObjectsModule,
    IssuesModule,
    AwardEmojiModule,
    MentionsModule,
    MilestonesModule,
    NotesModule,
    AssignedPeopleModule,
    ProtectedRefsModule,
    RepositoriesModule,
    ResourceEventsModule,
    SubscriptionsModule,
    TimeTrackingModule,
    TodosModule,
  ],
  controllers: [
    CiPipelinesConsumer,
    MergeRequestHeadController,
    DeletedForkMergeRequestsConsumer,
    MergeRequestPipelinesController,
    ApprovalsController,
    MergeRequestApprovalRulesController,
    ProjectApprovalsController,
    ApproverTodosConsumer,
    DraftNotesController,
    CommitMergeRequestsController,
    MergeController,
    MergeRequestsController,
    MergeRequestAwardEmojiController,
    MergeRequestDiscussionsController,
    MergeRequestLabelEventsController,
    MergeRequestMarkingController,
    MergeRequestMilestoneEventsController,
    MergeRequestNoteAwardEmojiController,
    MergeRequestNotesController,
    MergeRequestStateEventsController,
    MergeRequestSubscriptionsController,
    MergeRequestTimeTrackingController,
    MergeRequestsEverywhereController,
    MergeRequestVersionsController,
    RelatedIssuesController,
    RelatedMergeRequestsController,
    ReviewersController,
    SuggestionsController,
    GroupMilestoneMergeRequestsController,
    ProjectMilestoneMergeRequestsController,
  ],
  providers: [
    AppliedSuggestionsEffect,
    ApplySuggestionsService,
    AutoMergeRuns,
    AutoMergeRunsJob,
    EarlierMergeAttempts,
    MergeRequestHeads,
    MergeRequestPipelinesQueries,
    PipelineTodos,
    ApprovalRulesQueries,
    ApprovalRulesService,
    ApprovalsQueries,
    ApprovalQuickActions,
    ApprovalsService,
    BackgroundViewerFinder,
    AutoMerge,
    MergeChecksAfterPushEffect,
    MergeCheckResultStore,
    MergeRequestClosingService,
    CommitMergeRequestsQueries,
    DiffNoteImports,
    DiffThreadFollower,
    MergeRequestDiffThreads,
    DraftNotesQueries,
    DraftNotesService,
    ImportedMergeRequestBranches,
    MergeRequestImports,
    PublishDraftNotesService,
    Mergeability,
    MergeChecks,
    MergeQuickActions,
    MergeCommandsJob,
    MergeRequestQuickActions,
    MergePermissions,
    SourceBranchSharingPolicy,
    MergeRecipes,
    ClosingReferencesFinder,
    MergeRequestAnswers,
    MergeRequestBranches,
    MergeRequestPushEffect,
    MergeRequestRecorder,
    MergeRequestsEverywhereQueries,
    MergeRequestsJob,
    MergeRequestsQueries,
    MergeRequestsService,
    MergeRequestVersions,
    MergeRequestWrites,
    MergeService,
    StackedMergeRequests,
    BranchMergeQueue,
    PushOptionMergeRequestWriter,
    MergeRequestPushOptionsService,
    PushMergeRequestLinks,
    PushOptionsEffect,
    PushOptionsJob,
    RebaseService,
    RelatedIssuesQueries,
    RelatedMergeRequestsQueries,
    ReviewersQueries,
    SourceBranches,
    SuggestionAuthors,
    MergeRequestThreadsFinder,
    MergeRequestVersionContentsQueries,
  ],
})
export class MergeRequestsModule {}
