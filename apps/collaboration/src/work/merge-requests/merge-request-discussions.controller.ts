import type { NoteableRoutes } from '../../base/noteables/noteable-routes.dto';
import { resourceEventsController } from '../../base/resource-events/resource-events.controller';
import { stateEvents } from '../../base/resource-events/states-and-weights';
import { subscriptionsController } from '../../following/subscriptions/subscriptions.controller';
import { createTodoMarkingController } from '../../following/todos/marking.controller';
import { labelEvents } from '../../planning/labels/labelling/labels.shape';
import { milestoneNoteablesController } from '../../planning/milestones/milestone-noteables.controller';
import { milestoneEvents } from '../../planning/milestones/milestone.shape';
import { timeTrackingController } from '../../planning/time-tracking/time-tracking.controller';
import { awardEmojiController } from '../../talk/award-emoji/award-emoji.controller';
import { discussionsController } from '../../talk/notes/discussions/discussions.controller';
import { notesController } from '../../talk/notes/notes.controller';
import { mergeRequestKind } from './merge-request.kind';

/** Base path and kind of merge requests for the routes of their notes, award emojis and events. */
const mergeRequests: NoteableRoutes = {
  kind: mergeRequestKind,
  path: 'projects/:id/merge_requests/:merge_request_iid',
  by: 'iid',
  a: 'a merge request',
  notesSource: 'requirements 1 §4',
};

export const MergeRequestAwardEmojiController = awardEmojiController(mergeRequests, 'noteable');
export const MergeRequestNoteAwardEmojiController = awardEmojiController(mergeRequests, 'note');
export const MergeRequestLabelEventsController = resourceEventsController(mergeRequests, labelEvents);
export const MergeRequestMilestoneEventsController = resourceEventsController(mergeRequests, milestoneEvents);
export const MergeRequestStateEventsController = resourceEventsController(mergeRequests, stateEvents);
export const MergeRequestMarkingController = createTodoMarkingController(mergeRequests);
export const MergeRequestSubscriptionsController = subscriptionsController(mergeRequests);
export const MergeRequestTimeTrackingController = timeTrackingController(mergeRequests);
export const MergeRequestNotesController = notesController(mergeRequests);
export const MergeRequestDiscussionsController = discussionsController(mergeRequests);
export const ProjectMilestoneMergeRequestsController = milestoneNoteablesController(mergeRequestKind, 'project');
export const GroupMilestoneMergeRequestsController = milestoneNoteablesController(mergeRequestKind, 'group');
