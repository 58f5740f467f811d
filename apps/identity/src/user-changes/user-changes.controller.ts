import { Controller } from '@nestjs/common';
import type { Call } from '@rookery/api-v4';
import { administrator, Endpoint, one } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import { userDetail } from '../users/user.presenter';
import type { UserRow } from '../users/user-row';
import { UsersQueries } from '../users/users.queries';
import { UpdateUserParams } from './user-changes.dto';
import { UserChanges } from './user-changes.service';

@Controller()
export class UserChangesController {
  constructor(
    private readonly changes: UserChanges,
    private readonly queries: UsersQueries,
  ) {}

  @Endpoint('PUT', '/users/:id', {
    about: 'Changes a user; a new username moves his personal namespace with all that lies there.',
    source: 'reference identity-and-import 10.1',
    may: administrator(),
    params: UpdateUserParams,
    fails: [409],
    answers: one(userDetail),
  })
  async update(call: Call<UpdateUserParams, undefined, SignedInViewer>): Promise<UserRow> {
    await this.changes.update(call.params.id, call.params);
    const user = await this.queries.one(call.params.id);
    if (!user) throw new NotFound('User');
    return user;
  }
}
