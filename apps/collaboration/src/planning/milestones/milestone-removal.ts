import { declareAttachedTable } from '@rookery/persistence';
import { milestones } from './milestones.service';

/** Removal of milestones and their events. */
export const attachedMilestoneEvents = declareAttachedTable({
  table: 'resource_milestone_events',
  effect: { noteable: 'drop-milestone-events', project: 'drop-milestones' },
  noteable: { type: 'noteable_type', id: 'noteable_id' },
  project: 'project_id',
  users: [{ column: 'user_id', onRemoval: 'ghost-or-delete' }],
  stays: { milestone_id: 'the event remains after its milestone is deleted, and is shown without it' },
});
export const attachedMilestones = declareAttachedTable({
  table: 'milestones',
  effect: 'drop-milestones',
  project: 'project_id',
  group: 'group_id',
  through: milestones,
});
