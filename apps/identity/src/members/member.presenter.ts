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

const onlyForSingleMember = { when: (added: Added): boolean => added.member !== undefined };
const createAddedMemberReader =
  <T>(pick: (row: MemberRow) => T) =>
  (added: Added): T =>
    pick(added.member!);

export const addedMember = presenter<Added>('AddedMember').fields({
  id: [int, createAddedMemberReader((row) => row.id), onlyForSingleMember],
  username: [text, createAddedMemberReader((row) => row.username), onlyForSingleMember],
  public_email: [nullable(text), createAddedMemberReader((row) => row.public_email), onlyForSingleMember],
  name: [text, createAddedMemberReader((row) => row.name), onlyForSingleMember],
  state: [choice(...USER_STATES), createAddedMemberReader((row) => row.state), onlyForSingleMember],
  locked: [bool, () => false, onlyForSingleMember],
  avatar_url: [
    nullable(text),
    (added, _, { links }) => absoluteUrl(added.member!.avatar_url, links),
    onlyForSingleMember,
  ],
  web_url: [text, (added, _, { links }) => links.webUrl(added.member!.username), onlyForSingleMember],
  access_level: [int, createAddedMemberReader((row) => row.access_level), onlyForSingleMember],
  created_at: [instant, createAddedMemberReader((row) => row.member_since), onlyForSingleMember],
  created_by: [
    nullable(userSummary.asField()),
    createAddedMemberReader((row) => row.created_by),
    { when: (added) => added.member !== undefined && added.member.created_by !== null },
  ],
  expires_at: [nullable(day), createAddedMemberReader((row) => row.expires_on), onlyForSingleMember],
  membership_state: [choice<string>('active'), () => 'active', onlyForSingleMember],
  status: [choice<string>('success'), () => 'success', { when: (added) => added.member === undefined }],
});

/** Source: reference identity-and-import 2.8. */
export const accessRequest = userSummary
  .extend<AccessRequestRow>('AccessRequest')
  .fields({ requested_at: [instant, (request) => request.requested_at] });
