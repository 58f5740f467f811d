import { Day, IdOrPath, Int, OneOf } from '@rookery/api-v4';
import { GRANTABLE_LEVELS } from '@rookery/kernel';
import type { ShareGrant } from './share-row';

/** Source: reference identity-and-import 2.6, 10.2. */
export class ShareParams implements ShareGrant {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Int() group_id: number;
  @OneOf(GRANTABLE_LEVELS, { about: 'Most that members of the invited group get.' }) group_access: number;
  @Day({ optional: true, nullable: true, about: 'First day without the share.' }) expires_at?: string | null;
}

export class UnshareParams {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Int({ in: 'path' }) group_id: number;
}
