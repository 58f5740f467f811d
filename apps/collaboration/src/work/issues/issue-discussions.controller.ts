import { awardEmojiController } from '../../talk/award-emoji/award-emoji.controller';
import { milestoneNoteablesController } from '../../planning/milestones/milestone-noteables.controller';
import { milestoneEvents } from '../../planning/milestones/milestone.shape';
import type { NoteableRoutes } from '../../base/noteables/noteable-routes.dto';
import { userAgentDetailsController } from '../../base/noteables/user-agent-details.controller';
import { labelEvents } from '../../planning/labels/labelling/labels.shape';
import { discussionsController } from '../../talk/notes/discussions/discussions.controller';
import { notesController } from '../../talk/notes/notes.controller';
import { resourceEventsController } from '../../base/resource-events/resource-events.controller';
import { stateEvents, weightEvents } from '../../base/resource-events/states-and-weights';
import { subscriptionsController } from '../../following/subscriptions/subscriptions.controller';
import { timeTrackingController } from '../../planning/time-tracking/time-tracking.controller';
import { createTodoMarkingController } from '../../following/todos/marking.controller';
import { issueKind } from './issue.kind';
import { iterationEvents } from './iteration-events.shape';

/** Base path and kind of issues for the routes of their notes, award emojis and events. */
const issues: NoteableRoutes = {
  kind: issueKind,
  path: 'projects/:id/issues/:issue_iid',
  by: 'iid',
  a: 'an issue',
  notesSource: 'requirements 1 §4 Issue notes',
};

export const IssueAwardEmojiController = awardEmojiController(issues, 'noteable');
export const IssueNoteAwardEmojiController = awardEmojiController(issues, 'note');
export const IssueIterationEventsController = resourceEventsController(issues, iterationEvents);
export const IssueLabelEventsController = resourceEventsController(issues, labelEvents);
export const IssueMilestoneEventsController = resourceEventsController(issues, milestoneEvents);
export const IssueStateEventsController = resourceEventsController(issues, stateEvents);
export const IssueWeightEventsController = resourceEventsController(issues, weightEvents);
export const IssueMarkingController = createTodoMarkingController(issues);
export const IssueOriginsController = userAgentDetailsController(issues, 'reference work-tracking 9.1');
export const IssueSubscriptionsController = subscriptionsController(issues);
export const IssueTimeTrackingController = timeTrackingController(issues);
export const IssueNotesController = notesController(issues);
export const IssueDiscussionsController = discussionsController(issues);
export const ProjectMilestoneIssuesController = milestoneNoteablesController(issueKind, 'project');
export const GroupMilestoneIssuesController = milestoneNoteablesController(issueKind, 'group');
