import { Controller } from '@nestjs/common';
import type { Call, GroupScope } from '@rookery/api-v4';
import { created, Endpoint, group, one, page } from '@rookery/api-v4';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { Forbidden } from '@rookery/kernel';
import { abilityToManageServiceAccounts, requireTopLevelGroupId } from './managed-group.permission';
import { ServiceAccountChangesService } from './service-account-changes.service';
import { newServiceAccount, serviceAccount } from './service-account.presenter';
import { ListServiceAccounts, CreateServiceAccount, UpdateServiceAccount } from './service-accounts.dto';
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
    private readonly changes: ServiceAccountChangesService,
    private readonly queries: ServiceAccountsQueries,
  ) {}

  @Endpoint('GET', '', {
    about: 'Lists the service accounts of a group.',
    source: SOURCE,
    within: group('id'),
    may: abilityToManageServiceAccounts<ListServiceAccounts>(),
    params: ListServiceAccounts,
    fails: [400],
    answers: page(serviceAccount),
  })
  list({ within, params, page }: GroupCall<ListServiceAccounts>): Promise<Page<ServiceAccountRow>> {
    return this.queries.list(requireTopLevelGroupId(within), params, page);
  }

  @Endpoint('POST', '', {
    about: 'Creates a service account. If it has a chosen address, it can be used once that is confirmed.',
    source: SOURCE,
    within: group('id'),
    may: abilityToManageServiceAccounts<CreateServiceAccount>(),
    params: CreateServiceAccount,
    refusals: { forbiddenAs: () => new Forbidden(MAY_NOT_CREATE) },
    fails: [400, 429],
    answers: created(newServiceAccount),
  })
  create({ within, params, viewer }: GroupCall<CreateServiceAccount>): Promise<ServiceAccountRow> {
    return this.accounts.create(requireTopLevelGroupId(within), params, viewer.userId);
  }

  @Endpoint('PATCH', ':user_id', {
    about: 'Changes a service account. A new address replaces the present one once it is confirmed.',
    source: SOURCE,
    within: group('id'),
    may: abilityToManageServiceAccounts<UpdateServiceAccount>(),
    params: UpdateServiceAccount,
    fails: [400, 429],
    answers: one(serviceAccount),
  })
  update({ within, params, viewer }: GroupCall<UpdateServiceAccount>): Promise<ServiceAccountRow> {
    return this.changes.update(requireTopLevelGroupId(within), params.user_id, params, viewer.userId);
  }
}
