import { Inject, Injectable } from '@nestjs/common';
import type { Tx } from '@rookery/persistence';
import type { SettingsOf } from '@rookery/platform';
import { identitySettings } from '../identity.config';
import { EmailConfirmations } from './email-confirmations.service';

interface Present {
  readonly id: number;
  readonly email: string;
  readonly confirmed_at: Date | null;
}

/**
 * The address that stands for an account. A new one takes its place when it is confirmed, and not before.
 * Source: reference identity-and-import 5; ADR 0131.
 */
@Injectable()
export class PrimaryEmails {
  constructor(
    private readonly confirmations: EmailConfirmations,
    @Inject(identitySettings.token) private readonly settings: SettingsOf<typeof identitySettings>,
  ) {}

  /** Whether chosen addresses have to be confirmed at all. */
  get areConfirmed(): boolean {
    return this.settings.confirmEmails;
  }

  /** Has a link sent to the primary address. */
  async requestConfirmation(tx: Tx, userId: number, actorId: number): Promise<void> {
    const present = await this.present(tx, userId);
    await this.confirmations.request(tx, { id: present.id, userId }, actorId);
  }

  /**
   * The present address again ends the waiting for another one; an unconfirmed one is sent its link anew.
   * Shape: an address that has been judged. Errors: the violation of `uq_emails_email` for one that is taken.
   */
  async change(tx: Tx, userId: number, address: string, actorId: number): Promise<void> {
    await tx.query(`select id from users where id = $1 for update`, [userId]);
    await tx.query(`delete from emails where user_id = $1 and becomes_primary`, [userId]);
    const present = await this.present(tx, userId);
    if (present.email.toLowerCase() === address.toLowerCase()) {
      if (present.confirmed_at === null) await this.confirmations.request(tx, { id: present.id, userId }, actorId);
      return;
    }
    const [row] = await tx.query<{ id: number }>(
      `insert into emails (user_id, email, becomes_primary) values ($1, $2, true) returning id`,
      [userId, address],
    );
    const id = row!.id;
    if (this.settings.confirmEmails) await this.confirmations.request(tx, { id, userId }, actorId);
    else {
      await this.confirmations.markConfirmed(tx, { id, user_id: userId, is_primary: false, becomes_primary: true });
    }
  }

  private async present(tx: Tx, userId: number): Promise<Present> {
    const [row] = await tx.query<Present>(
      `select id, email, confirmed_at from emails where user_id = $1 and is_primary`,
      [userId],
    );
    return row!;
  }
}
