import { prepared } from '@rookery/persistence';
import { chunkOf } from '../../base/noteables/traces';
import type { Traces } from '../../base/noteables/traces';

/** What subscriptions hold of people. */
export const subscriptionTraces: Traces = {
  own: [
    prepared(
      'traces_drop_subscriptions',
      `delete from subscriptions where ${chunkOf('subscriptions', 'ctid', 'user_id = $1::bigint')} returning 1`,
    ),
  ],
};
