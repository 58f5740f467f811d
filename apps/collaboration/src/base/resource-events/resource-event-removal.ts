import { attachedTo } from '@rookery/persistence';

const columns = {
  effect: 'drop-resource-events',
  noteable: { type: 'noteable_type', id: 'noteable_id' },
  project: 'project_id',
  users: [{ column: 'user_id', onRemoval: 'ghost-or-delete' }],
} as const;

/** Removal rules of state and weight events. */
export const attachedStateEvents = attachedTo({ table: 'resource_state_events', ...columns });
export const attachedWeightEvents = attachedTo({ table: 'resource_weight_events', ...columns });
