import { IdOrPath, ListOf } from '@rookery/api-v4';
import { GroupListParams } from '../group-lists/group-lists.dto';

export class SharedGroupsParams extends GroupListParams {
  @IdOrPath({ in: 'path' }) id: number | string;
}

export class InvitedGroupsParams extends SharedGroupsParams {
  @ListOf({ oneOf: ['direct', 'inherited'] }, { optional: true, about: 'Invited to this group, or to one above it.' })
  relation?: ('direct' | 'inherited')[];
}
