import { IdOrPath, Int, OneOf } from '@rookery/api-v4';
import { GRANTABLE_LEVELS } from '@rookery/kernel';

/** Source: reference identity-and-import 2.8. */
export class AccessRequestsParams {
  @IdOrPath({ in: 'path' }) id: number | string;
}

export class AccessRequestParams extends AccessRequestsParams {
  @Int({ in: 'path' }) user_id: number;
}

export class ApproveAccessRequestParams extends AccessRequestParams {
  @OneOf(GRANTABLE_LEVELS, { default: 30 }) access_level: number;
}
