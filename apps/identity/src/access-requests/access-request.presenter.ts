import { instant } from '@rookery/api-v4';
import { userSummary } from '../users/user.presenter';
import type { AccessRequestRow } from './access-request-row';

/** Source: reference identity-and-import 2.8. */
export const accessRequest = userSummary
  .extend<AccessRequestRow>('AccessRequest')
  .fields({ requested_at: [instant, (request) => request.requested_at] });
