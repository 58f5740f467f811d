import { Controller } from '@nestjs/common';
import type { Call, GroupScope } from '@rookery/api-v4';
import { administrator, checkUnmodifiedSince, Endpoint, group, noContent } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import {
  abilityToManageServiceAccounts,
  requireTopLevelGroupId,
} from '../../service-accounts/managed-group.permission';
import { ServiceAccountsQueries } from '../../service-accounts/service-accounts.queries';
import { RemoveServiceAccount, RemoveUser } from '../removal.dto';
import { UserRemovalService } from './user-removal.service';

@Controller()
export class UserRemovalController {
  constructor(
    private readonly removal: UserRemovalService,
    private readonly accounts: ServiceAccountsQueries,
  ) {}

  @Endpoint('DELETE', '/users/:id', {
    about: 'Removes a user; the ghost user becomes the author of their content.',
    source: 'reference identity-and-import 10.1',
    may: administrator(),
    params: RemoveUser,
    fails: [409, 412],
    answers: noContent(),
  })
  async remove(call: Call<RemoveUser, undefined, SignedInViewer>): Promise<void> {
    const { id, hard_delete: hardDelete } = call.params;
    const unchanged = (at: Date): void => checkUnmodifiedSince(call, at);
    await this.removal.remove(id, { hardDelete, actorId: call.viewer.userId, unchanged });
  }

  @Endpoint('DELETE', '/groups/:id/service_accounts/:user_id', {
    about: 'Deletes a service account; the ghost user becomes the author of its content.',
    source: 'requirements 2 §4 Service accounts; reference identity-and-import 5',
    within: group('id'),
    may: abilityToManageServiceAccounts<RemoveServiceAccount>(),
    params: RemoveServiceAccount,
    fails: [400, 409, 412],
    answers: noContent(),
  })
  async removeServiceAccount(call: Call<RemoveServiceAccount, GroupScope, SignedInViewer>): Promise<void> {
    const { user_id: id, hard_delete: hardDelete } = call.params;
    if (!(await this.accounts.findAccount(requireTopLevelGroupId(call.within), id))) throw new NotFound('User');
    const unchanged = (at: Date): void => checkUnmodifiedSince(call, at);
    await this.removal.remove(id, { hardDelete, actorId: call.viewer.userId, unchanged });
  }
}
