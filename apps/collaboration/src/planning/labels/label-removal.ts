import { declareAttachedTable } from '@rookery/persistence';

const effect = 'drop-labels';
const noteable = { type: 'noteable_type', id: 'noteable_id' } as const;

/** Removal of labels and their uses. Labels are removed last, because their links refer to them. */
export const attachedLabelLinks = declareAttachedTable({
  table: 'label_links',
  key: 'ctid',
  effect,
  noteable,
  project: 'project_id',
});
export const attachedLabelPriorities = declareAttachedTable({
  table: 'label_priorities',
  key: 'ctid',
  effect,
  project: 'project_id',
});
export const attachedLabelEvents = declareAttachedTable({
  table: 'resource_label_events',
  effect,
  noteable,
  project: 'project_id',
  users: [{ column: 'user_id', onRemoval: 'ghost-or-delete' }],
  stays: { label_id: 'the event remains after its label is deleted, and is shown without it' },
});
export const attachedLabelSubscriptions = declareAttachedTable({
  table: 'label_subscriptions',
  key: 'ctid',
  users: [{ column: 'user_id', onRemoval: 'delete' }],
});
export const attachedLabels = declareAttachedTable({
  table: 'labels',
  effect,
  project: 'project_id',
  group: 'group_id',
});
