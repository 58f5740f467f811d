import { Inject, Injectable } from '@nestjs/common';
import { NotFound, Refused } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import type { SettingsOf } from '@rookery/platform';
import { platformSettings } from '@rookery/platform';
import { EmailConfirmationsService } from '../emails/confirming/email-confirmations.service';
import { PrimaryEmails } from '../emails/primary-emails';
import { UsersService } from '../users/users.service';
import { ServiceAccount } from './service-account.entity';
import {
  chooseServiceAccountNames,
  refuseInvalidServiceAccountNames,
  translateAccountUniqueViolations,
} from './service-account-names';
import type { ChosenNames } from './service-account-names';
import { ServiceAccountsQueries } from './service-accounts.queries';
import type { ServiceAccountOwner, ServiceAccountRow } from './service-accounts.queries';

/** Creation of service accounts. Source: requirements 2 §4 Service accounts; reference identity-and-import 5. */
@Injectable()
export class ServiceAccountsService {
  private readonly host: string;

  constructor(
    private readonly work: Work,
    private readonly users: UsersService,
    private readonly emails: PrimaryEmails,
    private readonly confirmations: EmailConfirmationsService,
    private readonly queries: ServiceAccountsQueries,
    @Inject(platformSettings.token) platform: SettingsOf<typeof platformSettings>,
  ) {
    this.host = new URL(platform.externalUrl).hostname;
  }

  /** Errors: Refused for invalid or taken names; TooManyRequests. */
  create(of: ServiceAccountOwner, chosen: ChosenNames, actorId: number): Promise<ServiceAccountRow> {
    const names = chooseServiceAccountNames(of, chosen, this.host);
    refuseInvalidServiceAccountNames(names);
    const awaits = Boolean(chosen.email) && this.emails.needConfirmation;
    const make = async (tx: Tx): Promise<ServiceAccountRow> => {
      if (of !== 'instance') await lockTopLevelGroup(tx, of);
      const id = await this.users.insertUser(
        tx,
        { ...names, can_create_group: false },
        { digest: null, createdBy: actorId, kind: 'service_account', isConfirmed: !awaits },
      );
      await tx.manager.insert(ServiceAccount, { userId: id, groupId: of === 'instance' ? null : of });
      if (awaits) await this.emails.requestConfirmation(tx, id, actorId);
      // Read before the commit: afterwards the group may be deleted together with the account.
      return (await this.queries.findAccount(of, id, tx))!;
    };
    return translateAccountUniqueViolations(this.work, make, () => this.confirmations.countDisclosures(actorId, 1));
  }

  /** Detaches the account from its group. */
  async leaveGroup(tx: Tx, userId: number): Promise<void> {
    await tx.manager.update(ServiceAccount, userId, { groupId: null });
  }
}

/** Locks the group, so that it is neither removed nor moved while an account is created. */
async function lockTopLevelGroup(tx: Tx, id: number): Promise<void> {
  const [group] = await tx.query<{ parent_id: number | null }>(
    `select parent_id from namespaces where id = $1 for share`,
    [id],
  );
  if (!group) throw new NotFound('Group');
  if (group.parent_id !== null) throw new Refused('Group must be a top-level group');
}
