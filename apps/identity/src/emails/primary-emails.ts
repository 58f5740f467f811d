import { Inject, Injectable } from '@nestjs/common';
import type { RowOf, Tx } from '@rookery/persistence';
import type { SettingsOf } from '@rookery/platform';
import { identitySettings } from '../identity.config';
import { AddressesService } from '../users/addresses/addresses.service';
import type { Email } from '../users/addresses/email.entity';
import { EmailConfirmationsService } from './confirming/email-confirmations.service';

type PrimaryEmailRow = RowOf<Email, 'id' | 'email' | 'confirmedAt'>;

/**
 * The primary address of an account. A new one replaces it only when it is confirmed. Source: reference
 * identity-and-import 5, 10.5.
 */
@Injectable()
export class PrimaryEmails {
  constructor(
    private readonly addresses: AddressesService,
    private readonly confirmations: EmailConfirmationsService,
    @Inject(identitySettings.token) private readonly settings: SettingsOf<typeof identitySettings>,
  ) {}

  /** Whether chosen addresses require confirmation. */
  get needConfirmation(): boolean {
    return this.settings.confirmEmails;
  }

  /** Requests that a link is sent to the primary address. */
  async requestConfirmation(tx: Tx, userId: number, actorId: number): Promise<void> {
    const present = await this.findPrimaryEmail(tx, userId);
    await this.confirmations.requestConfirmation(tx, { id: present.id, userId }, actorId);
  }

  /**
   * Requests a new primary address. The present address cancels a pending change; if it is unconfirmed, its link is
   * sent again. `address` must be validated. Errors: the violation of `uq_emails_email` for a taken one.
   */
  async changePrimary(tx: Tx, userId: number, address: string, actorId: number): Promise<void> {
    await tx.query(`select id from users where id = $1 for update`, [userId]);
    await this.addresses.dropSuccessor(tx, userId);
    const present = await this.findPrimaryEmail(tx, userId);
    if (present.email.toLowerCase() === address.toLowerCase()) {
      if (present.confirmed_at === null)
        await this.confirmations.requestConfirmation(tx, { id: present.id, userId }, actorId);
      return;
    }
    const successor = await this.addresses.addSuccessor(tx, userId, address);
    if (!this.settings.confirmEmails) return this.addresses.markConfirmed(tx, successor);
    await this.confirmations.requestConfirmation(tx, { id: successor.id, userId }, actorId);
  }

  private async findPrimaryEmail(tx: Tx, userId: number): Promise<PrimaryEmailRow> {
    const [row] = await tx.query<PrimaryEmailRow>(
      `select id, email, confirmed_at from emails where user_id = $1 and is_primary`,
      [userId],
    );
    return row!;
  }
}
