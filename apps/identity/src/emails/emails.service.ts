import { Inject, Injectable } from '@nestjs/common';
import { emailAdded } from '@rookery/contracts';
import { Invalid, NotFound } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { violatesConstraint, Work } from '@rookery/persistence';
import type { SettingsOf } from '@rookery/platform';
import { identitySettings } from '../identity.config';
import { AddressesService } from '../users/addresses/addresses.service';
import { problemsOfUser } from '../users/user-rules';
import { EmailConfirmationsService } from './confirming/email-confirmations.service';
import { EmailsQueries } from './emails.queries';
import type { EmailRow } from './emails.queries';

/** Maximum number of addresses of a user, including the primary one. */
const MOST = 100;

/** Adding and removing secondary addresses. Source: reference identity-and-import 10.5. */
@Injectable()
export class EmailsService {
  constructor(
    private readonly work: Work,
    private readonly addresses: AddressesService,
    private readonly confirmations: EmailConfirmationsService,
    private readonly queries: EmailsQueries,
    @Inject(identitySettings.token) private readonly settings: SettingsOf<typeof identitySettings>,
  ) {}

  /** Errors: NotFound for the user; Invalid for an invalid or taken address, or one too many; TooManyRequests. */
  async create(
    userId: number,
    address: string,
    how: { readonly isConfirmed: boolean; readonly actorId: number },
  ): Promise<EmailRow> {
    const problems = problemsOfUser({ email: address });
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
    const isConfirmed = how.isConfirmed || !this.settings.confirmEmails;
    try {
      return await this.work.run(async (tx) => {
        await this.checkEmailLimit(tx, userId);
        if (how.isConfirmed) await this.addresses.releaseUnconfirmed(tx, address, userId);
        const id = await this.addresses.addAddress(tx, userId, address, isConfirmed);
        if (!isConfirmed) await this.confirmations.requestConfirmation(tx, { id, userId }, how.actorId);
        const row = (await this.queries.findEmail(userId, id, tx))!;
        const data = { email_id: id, user_id: userId, added_at: row.changed_at.toISOString() };
        tx.emit(emailAdded.of({ aggregateId: id, actorId: how.actorId, data }));
        return row;
      });
    } catch (error) {
      if (!violatesConstraint(error, 'uq_emails_email')) throw error;
      if (!how.isConfirmed) await this.confirmations.countDisclosures(how.actorId, 1);
      throw new Invalid({ email: ['has already been taken'] });
    }
  }

  /** Removes an address. The primary one replaces it as public and commit e-mail. Errors: NotFound. */
  async remove(userId: number, id: number, unchanged: (at: Date) => void): Promise<void> {
    await this.work.run(async (tx) => {
      await tx.query(`select id from users where id = $1 for update`, [userId]);
      const email = await this.queries.findEmail(userId, id, tx);
      if (!email) throw new NotFound('Email');
      unchanged(email.changed_at);
      await this.addresses.remove(tx, userId, email);
    });
  }

  private async checkEmailLimit(tx: Tx, userId: number): Promise<void> {
    const [user] = await tx.query(`select id from users where id = $1 for update`, [userId]);
    if (!user) throw new NotFound('User');
    const [row] = await tx.query<{ count: number }>(
      `select count(*)::integer as count from emails where user_id = $1`,
      [userId],
    );
    if (row!.count >= MOST) throw new Invalid({ email: [`is one too many (maximum is ${MOST} addresses)`] });
  }
}
