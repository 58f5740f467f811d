import { declareAttachedTable } from '@rookery/persistence';

const columns = {
  effect: 'drop-resource-events',
  noteable: { type: 'noteable_type', id: 'noteable_id' },
  project: 'project_id',
  users: [{ column: 'user_id', onRemoval: 'ghost-or-delete' }],
} as const;

/** Removal rules of state and weight events. */
export const attachedStateEvents = declareAttachedTable({ table: 'resource_state_events', ...columns });
export const attachedWeightEvents = declareAttachedTable({ table: 'resource_weight_events', ...columns });
