import { Controller } from '@nestjs/common';
import type { Call } from '@rookery/api-v4';
import { administrator, Endpoint, page } from '@rookery/api-v4';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { userMembership } from '../user.presenter';
import type { MembershipRow } from './user-memberships.queries';
import { ListMemberships } from '../users.dto';
import { UserMembershipsQueries } from './user-memberships.queries';

@Controller()
export class UserMembershipsController {
  constructor(private readonly memberships: UserMembershipsQueries) {}

  @Endpoint('GET', '/users/:id/memberships', {
    about: 'Lists groups and projects that a user is a direct member of.',
    source: 'reference identity-and-import 10.1',
    may: administrator(),
    tokenScopes: ['read_user'],
    params: ListMemberships,
    answers: page(userMembership),
  })
  list(call: Call<ListMemberships, undefined, SignedInViewer>): Promise<Page<MembershipRow>> {
    return this.memberships.list(call.params.id, call.params.type, call.page);
  }
}
