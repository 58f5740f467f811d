import { Controller } from '@nestjs/common';
import type { Call, ProjectScope } from '@rookery/api-v4';
import { anyone, Endpoint, IdOrPath, ListOf, page, project, Search } from '@rookery/api-v4';
import type { Page } from '@rookery/kernel';
import { memberSource } from '../../members/listing/member-source';
import { MembersQueries } from '../../members/listing/members.queries';
import type { UserSummary } from '../../users/user.entity';
import { userSummary } from '../../users/user.presenter';

export class ListProjectUsers {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Search({ about: 'Part of the name or username, or a whole public e-mail address.' }) search?: string;
  @ListOf('int', { optional: true }) skip_users?: number[];
}

@Controller()
export class ProjectUsersController {
  constructor(private readonly members: MembersQueries) {}

  @Endpoint('GET', '/projects/:id/users', {
    about: 'Lists all users with a level in a project.',
    source: 'reference identity-and-import 10.3',
    within: project('id'),
    may: anyone(),
    params: ListProjectUsers,
    answers: page(userSummary),
  })
  list({ viewer, within, params, page }: Call<ListProjectUsers, ProjectScope>): Promise<Page<UserSummary>> {
    const { search, skip_users } = params;
    const filters = { ...(search ? { query: search } : {}), ...(skip_users ? { skip_users } : {}) };
    return this.members.listAll(viewer, memberSource(within), filters, page);
  }
}
