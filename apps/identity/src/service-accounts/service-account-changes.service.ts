import { Injectable } from '@nestjs/common';
import { NotFound } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { EmailConfirmationsService } from '../emails/confirming/email-confirmations.service';
import { PrimaryEmails } from '../emails/primary-emails';
import { UserRows } from '../users/user-rows';
import { refuseInvalidServiceAccountNames, translateAccountUniqueViolations } from './service-account-names';
import type { ChosenNames } from './service-account-names';
import { ServiceAccountsQueries } from './service-accounts.queries';
import type { ServiceAccountOwner, ServiceAccountRow } from './service-accounts.queries';

/** Updates service accounts. Source: reference identity-and-import 5. */
@Injectable()
export class ServiceAccountChangesService {
  constructor(
    private readonly work: Work,
    private readonly emails: PrimaryEmails,
    private readonly confirmations: EmailConfirmationsService,
    private readonly rows: UserRows,
    private readonly queries: ServiceAccountsQueries,
  ) {}

  /**
   * Errors: NotFound for a user who is not a service account of the group; Refused for invalid or taken names;
   * TooManyRequests.
   */
  update(of: ServiceAccountOwner, userId: number, changes: ChosenNames, actorId: number): Promise<ServiceAccountRow> {
    refuseInvalidServiceAccountNames(changes);
    const change = async (tx: Tx): Promise<ServiceAccountRow> => {
      const [account] = await tx.query<{ name: string; username: string }>(
        `select u.name, u.username from users u join service_accounts s on s.user_id = u.id
         where u.id = $1 and ($2::bigint is null or s.group_id = $2)
           and not exists (select 1 from user_removals r where r.user_id = u.id) for no key update of u`,
        [userId, of === 'instance' ? null : of],
      );
      if (!account) throw new NotFound('User');
      const { name = account.name, username = account.username, email } = changes;
      if (name !== account.name || username !== account.username)
        await this.rows.renameUser(tx, userId, { name, username });
      if (email !== undefined) await this.emails.changePrimary(tx, userId, email, actorId);
      return (await this.queries.findAccount(of, userId, tx))!;
    };
    return translateAccountUniqueViolations(this.work, change, () => this.confirmations.countDisclosures(actorId, 1));
  }
}
