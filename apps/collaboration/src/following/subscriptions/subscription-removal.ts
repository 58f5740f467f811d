import { declareAttachedTable } from '@rookery/persistence';

/** Removal of subscriptions. Source: reference work-tracking 9.7. */
export const attachedSubscriptions = declareAttachedTable({
  table: 'subscriptions',
  key: 'ctid',
  noteable: { type: 'noteable_type', id: 'noteable_id' },
  project: 'project_id',
  users: [{ column: 'user_id', onRemoval: 'delete' }],
});
