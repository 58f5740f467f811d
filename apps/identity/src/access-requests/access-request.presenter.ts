import { instant } from '@rookery/api-v4';
import type { UserFace } from '../users/user-row';
import { userSummary } from '../users/user.presenter';

/** Somebody who asks to be let in, as the statements of this room read him. */
export interface AccessRequestRow extends UserFace {
  readonly request_id: number;
  readonly requested_at: Date;
}

/** Source: reference identity-and-import 2.8. */
export const accessRequest = userSummary
  .extend<AccessRequestRow>('AccessRequest')
  .fields({ requested_at: [instant, (request) => request.requested_at] });
