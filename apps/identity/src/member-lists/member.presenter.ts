import { day, instant, int, nullable, text } from '@rookery/api-v4';
import { userSummary } from '../users/user.presenter';
import type { MemberRow } from './member-row';

/** Source: reference identity-and-import 2.8. */
export const member = userSummary.extend<MemberRow>('Member').fields({
  access_level: [int, (row) => row.access_level],
  created_at: [instant, (row) => row.member_since],
  created_by: [nullable(userSummary.asField()), (row) => row.created_by, { when: (row) => row.created_by !== null }],
  expires_at: [nullable(day), (row) => row.expires_on],
  membership_state: [text, () => 'active'],
});
