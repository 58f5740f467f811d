import { Injectable } from '@nestjs/common';
import { NotFound } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { PrimaryEmails } from '../emails/primary-emails';
import { PersonalNamespace } from '../user-changes/personal-namespace';
import { HolderLog } from '../user-states/holder-log';
import { refuseBadNames, runNaming } from './service-account-names';
import type { ChosenNames } from './service-account-names';
import type { AccountsOf } from './service-accounts.queries';

/** Changing service accounts. Source: reference identity-and-import 5; ADR 0130. */
@Injectable()
export class ServiceAccountChanges {
  constructor(
    private readonly work: Work,
    private readonly emails: PrimaryEmails,
    private readonly namespaces: PersonalNamespace,
    private readonly holders: HolderLog,
  ) {}

  /** Errors: NotFound for what is no service account there; Refused for names bad or taken; TooManyRequests. */
  update(of: AccountsOf, userId: number, changes: ChosenNames, actorId: number): Promise<void> {
    refuseBadNames(changes);
    return runNaming(this.work, async (tx) => {
      const [account] = await tx.query<{ name: string; username: string }>(
        `select u.name, u.username from users u join service_accounts s on s.user_id = u.id
         where u.id = $1 and ($2::bigint is null or s.group_id = $2)
           and not exists (select 1 from user_removals r where r.user_id = u.id) for no key update of u`,
        [userId, of === 'instance' ? null : of],
      );
      if (!account) throw new NotFound('User');
      const { name = account.name, username = account.username, email } = changes;
      if (name !== account.name || username !== account.username) await this.rename(tx, userId, name, username);
      if (email !== undefined) await this.emails.change(tx, userId, email, actorId);
    });
  }

  private async rename(tx: Tx, userId: number, name: string, username: string): Promise<void> {
    await this.namespaces.rename(tx, userId, { name, path: username });
    await tx.query(`update users set name = $2, username = $3, updated_at = now() where id = $1`, [
      userId,
      name,
      username,
    ]);
    // The gateway tells services the holder's username, so what it remembers of his tokens goes, too.
    await this.holders.record(tx, userId);
  }
}
