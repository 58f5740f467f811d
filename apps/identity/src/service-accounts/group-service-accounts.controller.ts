import { Controller } from '@nestjs/common';
import type { Call, GroupScope } from '@rookery/api-v4';
import { checkUnmodifiedSince, created, Endpoint, group, none, one, page } from '@rookery/api-v4';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { Forbidden, NotFound } from '@rookery/kernel';
import { UserRemoval } from '../user-removal/user-removal.service';
import { managesServiceAccounts, topLevel } from './managed-group';
import { ServiceAccountChanges } from './service-account-changes.service';
import { newServiceAccount, serviceAccount } from './service-account.presenter';
import {
  DeleteServiceAccountParams,
  ListServiceAccountsParams,
  ServiceAccountParams,
  UpdateServiceAccountParams,
} from './service-accounts.dto';
import { ServiceAccountsQueries } from './service-accounts.queries';
import type { ServiceAccountRow } from './service-accounts.queries';
import { ServiceAccountsService } from './service-accounts.service';

const SOURCE = 'requirements 2 §4 Service accounts';
const MAY_NOT_CREATE = 'User does not have permission to create a service account in this namespace.';
type GroupCall<P> = Call<P, GroupScope, SignedInViewer>;

/** Service accounts of a top-level group. Source: reference identity-and-import 5. */
@Controller('groups/:id/service_accounts')
export class GroupServiceAccountsController {
  constructor(
    private readonly accounts: ServiceAccountsService,
    private readonly changes: ServiceAccountChanges,
    private readonly queries: ServiceAccountsQueries,
    private readonly removal: UserRemoval,
  ) {}

  @Endpoint('GET', '', {
    about: 'Service accounts of the group.',
    source: SOURCE,
    within: group('id'),
    may: managesServiceAccounts<ListServiceAccountsParams>(),
    params: ListServiceAccountsParams,
    fails: [400],
    answers: page(serviceAccount),
  })
  list({ within, params, page }: GroupCall<ListServiceAccountsParams>): Promise<Page<ServiceAccountRow>> {
    return this.queries.page(topLevel(within), params, page);
  }

  @Endpoint('POST', '', {
    about: 'Makes a service account; with an address of its own it can be used once that is confirmed.',
    source: SOURCE,
    within: group('id'),
    may: managesServiceAccounts<ServiceAccountParams>(),
    params: ServiceAccountParams,
    refusals: { forbiddenAs: () => new Forbidden(MAY_NOT_CREATE) },
    fails: [400, 429],
    answers: created(newServiceAccount),
  })
  async create({ within, params, viewer }: GroupCall<ServiceAccountParams>): Promise<ServiceAccountRow> {
    const of = topLevel(within);
    return (await this.queries.one(of, await this.accounts.create(of, params, viewer.userId)))!;
  }

  @Endpoint('PATCH', ':user_id', {
    about: 'Changes a service account; a new address takes its place once it is confirmed.',
    source: SOURCE,
    within: group('id'),
    may: managesServiceAccounts<UpdateServiceAccountParams>(),
    params: UpdateServiceAccountParams,
    fails: [400, 429],
    answers: one(serviceAccount),
  })
  async update({ within, params, viewer }: GroupCall<UpdateServiceAccountParams>): Promise<ServiceAccountRow> {
    const of = topLevel(within);
    await this.changes.update(of, params.user_id, params, viewer.userId);
    return (await this.queries.one(of, params.user_id))!;
  }

  @Endpoint('DELETE', ':user_id', {
    about: 'Deletes a service account; what it wrote goes to the ghost user.',
    source: 'requirements 2 §4 Service accounts; reference identity-and-import 5',
    within: group('id'),
    may: managesServiceAccounts<DeleteServiceAccountParams>(),
    params: DeleteServiceAccountParams,
    fails: [400, 409, 412],
    answers: none(),
  })
  async remove(call: GroupCall<DeleteServiceAccountParams>): Promise<void> {
    const { user_id: id, hard_delete: hardDelete } = call.params;
    if (!(await this.queries.one(topLevel(call.within), id))) throw new NotFound('User');
    const unchanged = (at: Date): void => checkUnmodifiedSince(call, at);
    await this.removal.remove(id, { hardDelete, actorId: call.viewer.userId, unchanged });
  }
}
