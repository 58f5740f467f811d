import { Injectable } from '@nestjs/common';
import type { NotificationEmailAnswer, NotificationEmailRequest } from '@rookery/contracts';
import { NotFound } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import { AddressesService } from '../users/addresses/addresses.service';

/** Addresses that users choose for notifications. Source: reference work-tracking 8.1. */
@Injectable()
export class NotificationEmailsService {
  constructor(
    private readonly work: Work,
    private readonly addresses: AddressesService,
  ) {}

  /** Chooses an address, or only reads the chosen one. Errors: NotFound for the user. */
  chooseEmail({ user_id: userId, email }: NotificationEmailRequest): Promise<NotificationEmailAnswer> {
    return this.work.run(async (tx) => {
      const [user] = await tx.query(`select id from users where id = $1 for update`, [userId]);
      if (!user) throw new NotFound('User');
      const isVerified = email === null || (await this.addresses.chooseNotificationEmail(tx, userId, email));
      const [row] = await tx.query<{ email: string }>(
        `select coalesce(notification_email, email) as email from users where id = $1`,
        [userId],
      );
      return { outcome: isVerified ? 'chosen' : 'not_verified', email: row!.email };
    });
  }
}
