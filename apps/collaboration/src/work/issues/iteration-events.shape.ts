import { nullable, object } from '@rookery/api-v4';
import { json } from '../../base/noteables/json.shape';
import { createAddRemoveEventSummaries, resourceEventShape } from '../../base/resource-events/resource-events.shape';
import type { ResourceEvents, ResourceEventSql } from '../../base/resource-events/resource-events.shape';

/**
 * Iteration events. Rookery has no iterations, so that the list is always empty. Source: reference work-tracking 2.8.
 */
export const iterationEvents: ResourceEvents = {
  noun: 'iteration',
  about: createAddRemoveEventSummaries('iteration'),
  table: 'resource_iteration_events',
  rows: `(select e.id, e.noteable_type, e.noteable_id, e.user_id, e.created_at from resource_state_events e where false)`,
  joins: () => '',
  bytes: '0',
  shape: resourceEventShape.extend<ResourceEventSql>('ResourceIterationEvent').fields({
    iteration: [json.constant(nullable(object({}))), () => null],
    action: [json.choice('add', 'remove'), () => ({ is: 'add' as const })],
  }),
};
