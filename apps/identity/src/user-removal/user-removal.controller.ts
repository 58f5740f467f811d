import { Controller } from '@nestjs/common';
import type { Call } from '@rookery/api-v4';
import { administrator, checkUnmodifiedSince, Endpoint, none } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { RemoveUserParams } from './user-removal.dto';
import { UserRemoval } from './user-removal.service';

@Controller()
export class UserRemovalController {
  constructor(private readonly removal: UserRemoval) {}

  @Endpoint('DELETE', '/users/:id', {
    about: 'Removes a user; what he wrote goes to the ghost user.',
    source: 'reference identity-and-import 10.1',
    may: administrator(),
    params: RemoveUserParams,
    fails: [409, 412],
    answers: none(),
  })
  async remove(call: Call<RemoveUserParams, undefined, SignedInViewer>): Promise<void> {
    const { id, hard_delete: hardDelete } = call.params;
    const unchanged = (at: Date): void => checkUnmodifiedSince(call, at);
    await this.removal.remove(id, { hardDelete, actorId: call.viewer.userId, unchanged });
  }
}
