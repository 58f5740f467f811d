import type { GroupScope } from '@rookery/api-v4';
import { awardEmojiController } from '../../talk/award-emoji/award-emoji.controller';
import { labelEvents } from '../../planning/labels/labelling/labels.shape';
import type { NoteableRoutes } from '../../base/noteables/noteable-routes.dto';
import { discussionsController } from '../../talk/notes/discussions/discussions.controller';
import { notesController } from '../../talk/notes/notes.controller';
import { resourceEventsController } from '../../base/resource-events/resource-events.controller';
import { stateEvents } from '../../base/resource-events/states-and-weights';
import { subscriptionsController } from '../../following/subscriptions/subscriptions.controller';
import { createTodoMarkingController } from '../../following/todos/marking.controller';
import { epicKind } from './epic.kind';
import { epicPolicy } from './epic.policy';

const epicRoutes = {
  kind: epicKind,
  a: 'an epic',
  notesSource: 'requirements 1 §4; reference work-tracking 2.1',
  offeredBy: (parent) => epicPolicy.mayRead(parent as GroupScope),
} as const satisfies Omit<NoteableRoutes, 'path' | 'by'>;

/** Paths of notes and resource events name an epic by its id. Source: reference work-tracking 2.1. */
const byId: NoteableRoutes = {
  ...epicRoutes,
  path: 'groups/:id/epics/:epic_id',
  aliases: ['groups/:id/-/epics/:epic_id'],
  by: 'id',
};
/** All other paths name an epic by its number in the group. */
const byNumber: NoteableRoutes = {
  ...epicRoutes,
  path: 'groups/:id/epics/:epic_iid',
  aliases: ['groups/:id/-/epics/:epic_iid'],
  by: 'iid',
};

export const EpicNotesController = notesController(byId);
export const EpicDiscussionsController = discussionsController(byId);
export const EpicLabelEventsController = resourceEventsController(byId, labelEvents);
export const EpicStateEventsController = resourceEventsController(byId, stateEvents);
export const EpicAwardEmojiController = awardEmojiController(byNumber, 'noteable');
export const EpicNoteAwardEmojiController = awardEmojiController(byNumber, 'note');
/** `todos` is an alias for one widely used client. */
export const EpicMarkingController = createTodoMarkingController(byNumber, ['groups/:id/epics/:epic_iid/todos']);
export const EpicSubscriptionsController = subscriptionsController(byNumber);
