import { Inject, Injectable } from '@nestjs/common';
import { Invalid, NotFound } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { violates, Work } from '@rookery/persistence';
import type { SettingsOf } from '@rookery/platform';
import { ChangeLog } from '../directory/change-log';
import { identitySettings } from '../identity.config';
import { problemsOfUser } from '../users/user-rules';
import { EmailConfirmations } from './email-confirmations.service';
import { EmailsQueries } from './emails.queries';
import type { EmailRow } from './emails.queries';

/** Bounds: addresses of one person, the primary one too. */
const MOST = 100;

/** Adding and removing addresses beside the primary one. Source: issue identity 6; ADR 0131. */
@Injectable()
export class EmailsService {
  constructor(
    private readonly work: Work,
    private readonly log: ChangeLog,
    private readonly confirmations: EmailConfirmations,
    private readonly queries: EmailsQueries,
    @Inject(identitySettings.token) private readonly settings: SettingsOf<typeof identitySettings>,
  ) {}

  /** Errors: NotFound for the user; Invalid for an address that is none, taken, or one too many. */
  async add(
    userId: number,
    address: string,
    how: { readonly isConfirmed: boolean; readonly actorId: number },
  ): Promise<EmailRow> {
    const problems = problemsOfUser({ email: address });
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
    const isConfirmed = how.isConfirmed || !this.settings.confirmEmails;
    try {
      return await this.work.run(async (tx) => {
        await this.makeRoom(tx, userId);
        const [row] = await tx.query<{ id: number }>(
          `insert into emails (user_id, email, confirmed_at) values ($1, $2, case when $3 then now() end) returning id`,
          [userId, address, isConfirmed],
        );
        if (!isConfirmed) await this.confirmations.request(tx, { id: row!.id, userId }, how.actorId);
        return (await this.queries.one(userId, row!.id, tx))!;
      });
    } catch (error) {
      if (violates(error, 'uq_emails_email')) throw new Invalid({ email: ['has already been taken'] });
      throw error;
    }
  }

  /** Where the address was shown or used, the primary one takes its place. Errors: NotFound. */
  async remove(userId: number, id: number, unchanged: (at: Date) => void): Promise<void> {
    await this.work.run(async (tx) => {
      await tx.query(`select id from users where id = $1 for update`, [userId]);
      const email = await this.queries.one(userId, id, tx);
      if (!email) throw new NotFound('Email');
      unchanged(email.changed_at);
      await tx.query(`delete from emails where id = $1`, [id]);
      const shown = await tx.query(
        `update users set updated_at = now(),
           public_email = case when lower(public_email) = lower($2) then null else public_email end,
           commit_email = case when lower(commit_email) = lower($2) then null else commit_email end
         where id = $1 and lower($2) in (lower(public_email), lower(commit_email)) returning id`,
        [userId, email.email],
      );
      if (shown.length > 0) this.log.record(tx, 'user', userId);
    });
  }

  private async makeRoom(tx: Tx, userId: number): Promise<void> {
    const [user] = await tx.query(`select id from users where id = $1 for update`, [userId]);
    if (!user) throw new NotFound('User');
    const [row] = await tx.query<{ count: number }>(
      `select count(*)::integer as count from emails where user_id = $1`,
      [userId],
    );
    if (row!.count >= MOST) throw new Invalid({ email: [`is one too many (maximum is ${MOST} addresses)`] });
  }
}
