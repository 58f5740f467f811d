import { instant, presenter } from '@rookery/api-v4';
import { userSummary } from '../users/user.presenter';
import type { StarrerRow } from './starrer-row';

export const starrer = presenter<StarrerRow>('ProjectStarrer').fields({
  starred_since: [instant, (row) => row.starred_since],
  user: [userSummary.asField(), (row) => row.user],
});
