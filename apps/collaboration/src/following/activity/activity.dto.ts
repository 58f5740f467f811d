import { Day, IdOrPath, OneOf, Text } from '@rookery/api-v4';
import { ACTIVITY_ACTIONS, ACTIVITY_TARGETS } from './activity-types';
import type { ActivityAction, ActivityTarget } from './activity-types';
import type { ActivityFilter } from './feeds';

export class ListActivity {
  @OneOf(ACTIVITY_ACTIONS, { optional: true }) action?: ActivityAction;
  @OneOf(ACTIVITY_TARGETS, { optional: true }) target_type?: ActivityTarget;
  @Day({ optional: true, about: 'Only entries before this day (UTC).' }) before?: string;
  @Day({ optional: true, about: 'Only entries after this day (UTC).' }) after?: string;
  @OneOf(['asc', 'desc'], { default: 'desc' }) sort: ActivityFilter['sort'];
}

export class ListOwnActivity extends ListActivity {
  @Text({ optional: true, about: '`all`: entries of all users in the projects of which the caller is a member.' })
  scope?: string;
}

export class ListActivityOfUser extends ListOwnActivity {
  @IdOrPath({ about: 'Id or username.' }) id: number | string;
}

export function toActivityFilter(params: ListActivity): ActivityFilter {
  const { action, target_type: target, before, after, sort } = params;
  return { action, target, before, after, sort };
}
