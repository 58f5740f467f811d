import { Controller } from '@nestjs/common';
import type { Call } from '@rookery/api-v4';
import { administrator, created, Endpoint, one, page } from '@rookery/api-v4';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { ServiceAccountChangesService } from './service-account-changes.service';
import { newServiceAccount, serviceAccount } from './service-account.presenter';
import { ListServiceAccounts, CreateServiceAccount, UpdateInstanceServiceAccount } from './service-accounts.dto';
import { ServiceAccountsQueries } from './service-accounts.queries';
import type { ServiceAccountRow } from './service-accounts.queries';
import { ServiceAccountsService } from './service-accounts.service';

const SOURCE = 'reference identity-and-import 5';
type AdministratorCall<P> = Call<P, undefined, SignedInViewer>;

/** Service accounts of the whole instance, for administrators. Those created here belong to no group. */
@Controller('service_accounts')
export class InstanceServiceAccountsController {
  constructor(
    private readonly accounts: ServiceAccountsService,
    private readonly changes: ServiceAccountChangesService,
    private readonly queries: ServiceAccountsQueries,
  ) {}

  @Endpoint('GET', '', {
    about: 'Lists all service accounts of the instance.',
    source: SOURCE,
    may: administrator(),
    params: ListServiceAccounts,
    answers: page(serviceAccount),
  })
  list({ params, page }: AdministratorCall<ListServiceAccounts>): Promise<Page<ServiceAccountRow>> {
    return this.queries.list('instance', params, page);
  }

  @Endpoint('POST', '', {
    about: 'Creates a service account that belongs to no group.',
    source: SOURCE,
    may: administrator(),
    params: CreateServiceAccount,
    fails: [400, 429],
    answers: created(newServiceAccount),
  })
  create({ params, viewer }: AdministratorCall<CreateServiceAccount>): Promise<ServiceAccountRow> {
    return this.accounts.create('instance', params, viewer.userId);
  }

  @Endpoint('PATCH', ':id', {
    about: 'Changes any service account.',
    source: SOURCE,
    may: administrator(),
    params: UpdateInstanceServiceAccount,
    fails: [400, 404, 429],
    answers: one(serviceAccount),
  })
  update({ params, viewer }: AdministratorCall<UpdateInstanceServiceAccount>): Promise<ServiceAccountRow> {
    return this.changes.update('instance', params.id, params, viewer.userId);
  }
}
