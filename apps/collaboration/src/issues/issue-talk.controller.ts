import { awardEmojiController } from '../award-emoji/award-emoji.controller';
import { milestoneEvents } from '../milestones/milestone.shape';
import type { NoteableRoutes } from '../noteables/noteable-routes.dto';
import { originsController } from '../noteables/origins.controller';
import { labelEvents } from '../labels/labelling/labels.shape';
import { discussionsController } from '../notes/discussions/discussions.controller';
import { notesController } from '../notes/notes.controller';
import { resourceEventsController } from '../resource-events/resource-events.controller';
import { stateEvents, weightEvents } from '../resource-events/states-and-weights';
import { subscriptionsController } from '../subscriptions/subscriptions.controller';
import { timeTrackingController } from '../time-tracking/time-tracking.controller';
import { markingController } from '../todos/marking.controller';
import { issueKind } from './issue.kind';
import { iterationEvents } from './iteration-events.shape';

/** Where issues are found, for all that stands below them. */
const issues: NoteableRoutes = {
  kind: issueKind,
  path: 'projects/:id/issues/:issue_iid',
  by: 'iid',
  a: 'an issue',
  promisedIn: 'requirements 1 §4 Issue notes',
};

export const IssueAwardEmojiController = awardEmojiController(issues, 'thing');
export const IssueNoteAwardEmojiController = awardEmojiController(issues, 'note');
export const IssueIterationEventsController = resourceEventsController(issues, iterationEvents);
export const IssueLabelEventsController = resourceEventsController(issues, labelEvents);
export const IssueMilestoneEventsController = resourceEventsController(issues, milestoneEvents);
export const IssueStateEventsController = resourceEventsController(issues, stateEvents);
export const IssueWeightEventsController = resourceEventsController(issues, weightEvents);
export const IssueMarkingController = markingController(issues);
export const IssueOriginsController = originsController(issues, 'reference work-tracking 9.1');
export const IssueSubscriptionsController = subscriptionsController(issues);
export const IssueTimeTrackingController = timeTrackingController(issues);
export const IssueNotesController = notesController(issues);
export const IssueDiscussionsController = discussionsController(issues);
