import { Module } from '@nestjs/common';
import { Attaches, Owns } from '@rookery/persistence';
import { ImportedObjectsModule } from '../../base/imported-objects/imported-objects.module';
import { ResourceEventsModule } from '../../base/resource-events/resource-events.module';
import { ProtectedRefsModule } from '../../code/protected-refs/protected-refs.module';
import { RepositoriesModule } from '../../code/repositories/repositories.module';
import { SubscriptionsModule } from '../../following/subscriptions/subscriptions.module';
import { TodosModule } from '../../following/todos/todos.module';
import { MilestonesModule } from '../../planning/milestones/milestones.module';
import { PeopleModule } from '../../planning/people/people.module';
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
import { MergeRequestRecords } from './closing/merge-request-records';
import { RelatedIssuesController } from './closing/related-issues.controller';
import { RelatedIssuesQueries } from './closing/related-issues.queries';
import { RelatedMergeRequestsController } from './closing/related-merge-requests.controller';
import { RelatedMergeRequestsQueries } from './closing/related-merge-requests.queries';
import { AutoMerge } from './merging/auto-merge';
import { ChecksAfterPushes } from './merging/check-merge-requests';
import { CheckResults } from './merging/check-results';
import { ClosedByPush } from './merging/closed-by-push';
import { EarlierAttempts } from './merging/earlier-attempts';
import { MergeController } from './merging/merge.controller';
import { MergeChecks } from './merging/merge-checks';
import { MergePermissions } from './merging/merge-permissions';
import { MergeRecipes } from './merging/merge-recipes';
import { MergeService } from './merging/merge.service';
import { MergeTurns } from './merging/merge-turns';
import { RebaseService } from './merging/rebase.service';
import { Mergeability } from './merging/mergeability';
import { AutoMergeRuns } from './pipelines/auto-merge-runs';
import { AutoMergeRunsJob } from './pipelines/auto-merge-runs.job';
import { CiPipeline } from './pipelines/ci-pipeline.entity';
import { ActingViewers } from './merging/acting-viewers';
import { ApprovalQuickActions } from './quick-actions/approval-quick-actions';
import { MergeCommands } from './quick-actions/merge-commands';
import { MergeCommandsJob } from './quick-actions/merge-commands.job';
import { MergeRequestQuickActions } from './quick-actions/merge-request-quick-actions';
import { OptionedRequests } from './push-options/optioned-requests';
import { PushLinks } from './push-options/push-links';
import { PushOptionsEffect } from './push-options/push-options-effect';
import { PushOptionsJob } from './push-options/push-options.job';
import { PushedRequests } from './push-options/pushed-requests';
import { CiPipelinesConsumer } from './pipelines/ci-pipelines.consumer';
import { MergeRequestHeadController } from './pipelines/merge-request-head.controller';
import { MergeRequestHeads } from './pipelines/merge-request-heads';
import { attachedCiPipelines } from './pipelines/pipeline-removal';
import { MergeRequestPipelinesController } from './pipelines/pipelines.controller';
import { PipelineTodos } from './pipelines/pipeline-todos';
import { MergeRequestPipelinesQueries } from './pipelines/pipelines.queries';
import { ReviewersController } from './people/reviewers.controller';
import { ReviewersQueries } from './people/reviewers.queries';
import { DiffThreadFollower } from './reviews/followed-threads';
import { DiffThreads } from './reviews/diff-threads';
import { attachedDraftNotes, DraftNote } from './drafts/draft-note.entity';
import { DraftNotesController } from './drafts/draft-notes.controller';
import { DraftNotesQueries } from './drafts/draft-notes.queries';
import { DraftNotesService } from './drafts/draft-notes.service';
import { PublishDraftsService } from './drafts/publish-drafts.service';
import { AppliedSuggestions } from './suggestions/applied-suggestions';
import { ApplySuggestionsService } from './suggestions/apply-suggestions.service';
import { IssuesModule } from '../issues/issues.module';
import { ThreadFollowUps } from './follow-ups/thread-follow-ups';
import { SuggestionAuthors } from './suggestions/suggestion-authors';
import { SuggestionsController } from './suggestions/suggestions.controller';
import { VersionContentsQueries } from './versions/version-contents';
import { MergeRequestVersionsController } from './versions/versions.controller';
import { BranchSharing } from './versions/branch-sharing';
import { MergeRequestBranches } from './versions/branches';
import { MergeRequestPushes } from './versions/merge-request-pushes';
import { MergeRequestVersions } from './versions/merge-request-versions';
import { SourceBranches } from './versions/source-branches';
import { DiffNoteImports } from './importing/diff-note-imports';
import { ImportedBranches } from './importing/imported-branches';
import { MergeRequestImports } from './importing/merge-request-imports';
import { DeletedForksConsumer } from './closing/deleted-forks.consumer';

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
    PeopleModule,
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
    DeletedForksConsumer,
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
    AppliedSuggestions,
    ApplySuggestionsService,
    AutoMergeRuns,
    AutoMergeRunsJob,
    EarlierAttempts,
    MergeRequestHeads,
    MergeRequestPipelinesQueries,
    PipelineTodos,
    ApprovalRulesQueries,
    ApprovalRulesService,
    ApprovalsQueries,
    ApprovalQuickActions,
    ApprovalsService,
    ActingViewers,
    AutoMerge,
    ChecksAfterPushes,
    CheckResults,
    ClosedByPush,
    CommitMergeRequestsQueries,
    DiffNoteImports,
    DiffThreadFollower,
    DiffThreads,
    DraftNotesQueries,
    DraftNotesService,
    ImportedBranches,
    MergeRequestImports,
    PublishDraftsService,
    Mergeability,
    MergeChecks,
    MergeCommands,
    MergeCommandsJob,
    MergeRequestQuickActions,
    MergePermissions,
    BranchSharing,
    MergeRecipes,
    MergeRequestAnswers,
    MergeRequestBranches,
    MergeRequestPushes,
    MergeRequestRecords,
    MergeRequestsEverywhereQueries,
    MergeRequestsJob,
    MergeRequestsQueries,
    MergeRequestsService,
    MergeRequestVersions,
    MergeRequestWrites,
    MergeService,
    MergeTurns,
    OptionedRequests,
    PushedRequests,
    PushLinks,
    PushOptionsEffect,
    PushOptionsJob,
    RebaseService,
    RelatedIssuesQueries,
    RelatedMergeRequestsQueries,
    ReviewersQueries,
    SourceBranches,
    SuggestionAuthors,
    ThreadFollowUps,
    VersionContentsQueries,
  ],
})
export class MergeRequestsModule {}
