import { Inject, Injectable } from '@nestjs/common';
import { emailConfirmationRequested } from '@rookery/contracts';
import type { Clock } from '@rookery/kernel';
import { CLOCK, Refused, TooManyRequests } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Database, Work } from '@rookery/persistence';
import type { SettingsOf } from '@rookery/platform';
import { platformSettings } from '@rookery/platform';
import { identitySettings } from '../identity.config';
import { HolderLog } from '../user-states/holder-log';
import { confirmationKey, confirmationToken, emailIdOf, isConfirmationToken, isExpired } from './confirmation-token';

/** Which of whose addresses it is, and what it is to him. */
interface Place {
  readonly id: number;
  readonly user_id: number;
  readonly is_primary: boolean;
  readonly becomes_primary: boolean;
}
interface Pending extends Place {
  readonly email: string;
  readonly confirmed_at: Date | null;
  readonly confirmation_requested_at: Date | null;
}

const INVALID = 'Confirmation token is invalid';

/** Proving that an address belongs to whoever named it. Source: decisions 6; ADR 0131. */
@Injectable()
export class EmailConfirmations {
  private readonly key: Buffer;

  constructor(
    private readonly work: Work,
    private readonly db: Database,
    private readonly holders: HolderLog,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(identitySettings.token) private readonly settings: SettingsOf<typeof identitySettings>,
    @Inject(platformSettings.token) platform: SettingsOf<typeof platformSettings>,
  ) {
    this.key = confirmationKey(platform.internalSecret);
  }

  /**
   * Has a link sent to the address; links sent before end. Errors: TooManyRequests when somebody has too many sent:
   * they go to people who may never have heard of us.
   */
  async request(
    tx: Tx,
    email: { readonly id: number; readonly userId: number },
    actorId: number | null,
  ): Promise<void> {
    if (actorId !== null) await this.count(tx, actorId);
    const now = this.clock.now();
    await tx.query(`update emails set confirmation_requested_at = $2 where id = $1`, [email.id, now]);
    tx.emit(
      emailConfirmationRequested.of({
        aggregateId: email.id,
        actorId,
        data: { email_id: email.id, user_id: email.userId, requested_at: now.toISOString() },
      }),
    );
  }

  /** Where an address is confirmed, from the root on; null when nobody waits for that. */
  pathFor(email: Pick<Pending, 'id' | 'email' | 'confirmed_at' | 'confirmation_requested_at'>): string | null {
    const { id, confirmed_at, confirmation_requested_at: at } = email;
    if (confirmed_at !== null || at === null) return null;
    const asked = { id, email: email.email, confirmation_requested_at: at };
    if (isExpired(asked, this.clock.now())) return null;
    return `users/confirmation?confirmation_token=${confirmationToken(asked, this.key)}`;
  }

  /** Works once. Errors: Refused for a token that is forged, used up, replaced by a newer one or too old. */
  async confirm(token: string): Promise<void> {
    await this.work.run(async (tx) => {
      // The person first, as wherever his addresses change.
      await tx.query(`select id from users where id = (select user_id from emails where id = $1) for update`, [
        emailIdOf(token),
      ]);
      await this.markConfirmed(tx, await this.awaited(tx, token, 'for update'));
    });
  }

  /** The address that a link stands for; nothing comes of asking. Errors: as `confirm`. */
  async addressOf(token: string): Promise<string> {
    return (await this.awaited(this.db, token)).email;
  }

  private async awaited(runner: Pick<Tx, 'query'>, token: string, lock = ''): Promise<Pending> {
    const id = emailIdOf(token);
    const [email] = id === null ? [] : await runner.query<Pending>(`select * from emails where id = $1 ${lock}`, [id]);
    if (!email || email.confirmed_at !== null || email.confirmation_requested_at === null) throw new Refused(INVALID);
    const asked = { ...email, confirmation_requested_at: email.confirmation_requested_at };
    if (!isConfirmationToken(token, asked, this.key)) throw new Refused(INVALID);
    if (isExpired(asked, this.clock.now())) throw new Refused('Confirmation token has expired');
    return email;
  }

  /** In a transaction that holds the person's row. */
  async markConfirmed(tx: Tx, { id, user_id, is_primary, becomes_primary }: Place): Promise<void> {
    if (becomes_primary) {
      // People keep the address that they had; what was generated for a bot, or never confirmed, leads nowhere.
      await tx.query(
        `delete from emails e using users u where e.user_id = $1 and u.id = e.user_id and e.is_primary
           and (u.kind <> 'human' or e.confirmed_at is null)`,
        [user_id],
      );
      await tx.query(`update emails set is_primary = false where user_id = $1 and is_primary`, [user_id]);
    }
    const isPrimary = is_primary || becomes_primary;
    await tx.query(`update emails set confirmed_at = now(), is_primary = $2, becomes_primary = false where id = $1`, [
      id,
      isPrimary,
    ]);
    if (!isPrimary) return;
    await tx.query(
      `update users u set email = e.email, confirmed_at = coalesce(u.confirmed_at, now()), updated_at = now(),
         public_email = (select o.email from emails o where o.user_id = u.id and lower(o.email) = lower(u.public_email)),
         commit_email = (select o.email from emails o where o.user_id = u.id and lower(o.email) = lower(u.commit_email))
       from emails e where u.id = $1 and e.id = $2`,
      [user_id, id],
    );
    // With his tokens: those that were refused until now are not.
    await this.holders.record(tx, user_id);
  }

  private async count(tx: Tx, actorId: number): Promise<void> {
    const most = this.settings.confirmationsPerHour;
    if (most === 0) return;
    const [row] = await tx.query<{ count: number; left: number }>(
      `insert into email_confirmations as c (actor_id, since, count) values ($1, now(), 1)
       on conflict (actor_id) do update set
         count = case when c.since > now() - interval '1 hour' then c.count + 1 else 1 end,
         since = case when c.since > now() - interval '1 hour' then c.since else now() end
       returning count, ceil(extract(epoch from since + interval '1 hour' - now()))::integer as left`,
      [actorId],
    );
    if (row!.count > most) throw new TooManyRequests(Math.max(1, row!.left));
  }
}
