import { day, instant, int, nullable, text, presenter, bool, choice } from '@rookery/api-v4';
import { USER_STATES } from '@rookery/kernel';
import { userSummary } from '../users/user.presenter';
import type { MemberRow } from './listing/members.queries';
import { absoluteUrl } from '@rookery/directory';
import type { AccessRequestRow } from './access-requests/access-requests.service';

/** Source: reference identity-and-import 2.8. */
export const member = userSummary.extend<MemberRow>('Member').fields({
  access_level: [int, (row) => row.access_level],
  created_at: [instant, (row) => row.member_since],
  created_by: [nullable(userSummary.asField()), (row) => row.created_by, { when: (row) => row.created_by !== null }],
  expires_at: [nullable(day), (row) => row.expires_on],
  membership_state: [choice<string>('active'), () => 'active'],
});

/** Answer to adding members: the member, or the confirmation for several. Source: reference identity-and-import 2.8. */
export interface Added {
  readonly member?: MemberRow;
}

const single = { when: (added: Added): boolean => added.member !== undefined };
const of =
  <T>(pick: (row: MemberRow) => T) =>
  (added: Added): T =>
    pick(added.member!);

export const addedMember = presenter<Added>('AddedMember').fields({
  id: [int, of((row) => row.id), single],
  username: [text, of((row) => row.username), single],
  public_email: [nullable(text), of((row) => row.public_email), single],
  name: [text, of((row) => row.name), single],
  state: [choice(...USER_STATES), of((row) => row.state), single],
  locked: [bool, () => false, single],
  avatar_url: [nullable(text), (added, _, { links }) => absoluteUrl(added.member!.avatar_url, links), single],
  web_url: [text, (added, _, { links }) => links.webUrl(added.member!.username), single],
  access_level: [int, of((row) => row.access_level), single],
  created_at: [instant, of((row) => row.member_since), single],
  created_by: [
    nullable(userSummary.asField()),
    of((row) => row.created_by),
    { when: (added) => added.member !== undefined && added.member.created_by !== null },
  ],
  expires_at: [nullable(day), of((row) => row.expires_on), single],
  membership_state: [choice<string>('active'), () => 'active', single],
  status: [choice<string>('success'), () => 'success', { when: (added) => added.member === undefined }],
});

/** Source: reference identity-and-import 2.8. */
export const accessRequest = userSummary
  .extend<AccessRequestRow>('AccessRequest')
  .fields({ requested_at: [instant, (request) => request.requested_at] });
