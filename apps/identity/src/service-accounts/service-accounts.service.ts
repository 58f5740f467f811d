import { Inject, Injectable } from '@nestjs/common';
import { NotFound, Refused } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import type { SettingsOf } from '@rookery/platform';
import { platformSettings } from '@rookery/platform';
import { PrimaryEmails } from '../emails/primary-emails';
import { UsersService } from '../users/users.service';
import { namesOf, refuseBadNames, runNaming } from './service-account-names';
import type { ChosenNames } from './service-account-names';
import type { AccountsOf } from './service-accounts.queries';

/** Making service accounts. Source: requirements 2 §4 Service accounts; reference identity-and-import 5; ADR 0130. */
@Injectable()
export class ServiceAccountsService {
  private readonly host: string;

  constructor(
    private readonly work: Work,
    private readonly users: UsersService,
    private readonly emails: PrimaryEmails,
    @Inject(platformSettings.token) platform: SettingsOf<typeof platformSettings>,
  ) {
    this.host = new URL(platform.externalUrl).hostname;
  }

  /** The id of the new account. Errors: Refused for names that are bad or taken; TooManyRequests. */
  create(of: AccountsOf, chosen: ChosenNames, actorId: number): Promise<number> {
    const names = namesOf(of, chosen, this.host);
    refuseBadNames(names);
    const awaits = Boolean(chosen.email) && this.emails.areConfirmed;
    return runNaming(this.work, async (tx) => {
      if (of !== 'instance') await holdGroup(tx, of);
      const id = await this.users.insert(
        tx,
        { ...names, can_create_group: false },
        { digest: null, createdBy: actorId, kind: 'service_account', isConfirmed: !awaits },
      );
      await tx.query(`insert into service_accounts (user_id, group_id) values ($1, $2)`, [
        id,
        of === 'instance' ? null : of,
      ]);
      if (awaits) await this.emails.requestConfirmation(tx, id, actorId);
      return id;
    });
  }
}

/** Neither is removed nor moved below another while it gets an account. */
async function holdGroup(tx: Tx, id: number): Promise<void> {
  const [group] = await tx.query<{ parent_id: number | null }>(
    `select parent_id from namespaces where id = $1 for share`,
    [id],
  );
  if (!group) throw new NotFound('Group');
  if (group.parent_id !== null) throw new Refused('Group must be a top-level group');
}
