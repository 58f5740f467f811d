import { bool, instant, int, list, alwaysEmptyList, nullable, object, presenter, text } from '@rookery/api-v4';
import type { FeatureFlagView } from './feature-flags.service';
import type { StrategyRow } from './feature-flags.queries';

const scope = object<{ id: number; environment_scope: string }>({ id: int, environment_scope: text });
const userList = object<{ id: number; iid: number; name: string; user_xids: string }>({
  id: int,
  iid: int,
  name: text,
  user_xids: text,
});

/** All parameters of all strategies. Each strategy has only those that its rules name. */
const OF_STRATEGIES = { groupId: text, percentage: text, rollout: text, stickiness: text, userIds: text };
const strategy = presenter<StrategyRow>('FeatureFlagStrategy').fields({
  id: [int, (one) => one.id],
  name: [text, (one) => one.name],
  parameters: [object({}, OF_STRATEGIES), (one) => one.parameters],
  scopes: [list(scope), (one) => one.scopes],
  user_list: [nullable(userList), (one) => one.user_list],
});

/** Source: reference packages-and-admin 9.2. */
export const featureFlagPresenter = presenter<FeatureFlagView>('FeatureFlag').fields({
  name: [text, ({ flag }) => flag.name],
  description: [nullable(text), ({ flag }) => flag.description],
  active: [bool, ({ flag }) => flag.active],
  version: [text, () => 'new_version_flag'],
  created_at: [instant, ({ flag }) => flag.createdAt],
  updated_at: [instant, ({ flag }) => flag.updatedAt],
  scopes: [alwaysEmptyList, () => [], { about: 'Always empty: each strategy has its own environments.' }],
  strategies: [list(strategy.asField()), ({ strategies }) => strategies],
});
