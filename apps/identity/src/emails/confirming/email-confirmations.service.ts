import { Inject, Injectable } from '@nestjs/common';
import { emailConfirmationRequested } from '@rookery/contracts';
import type { Clock } from '@rookery/kernel';
import { CLOCK, Refused, TooManyRequests } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Database, Work } from '@rookery/persistence';
import type { SettingsOf } from '@rookery/platform';
import { ContextKeys } from '@rookery/platform';
import { identitySettings } from '../../identity.config';
import { AddressesService } from '../../users/addresses/addresses.service';
import type { EmailRecord } from '../../users/addresses/email.entity';
import { BOTS } from '../../users/bot-limits';
import { confirmationKeys, confirmationToken, emailIdOf, isConfirmationToken, isExpired } from './confirmation-token';

const HOUR_SECONDS = 3600;
const SECONDS_LEFT = `ceil(extract(epoch from c.since + interval '1 hour' - now()))::integer`;
const INVALID = 'Confirmation token is invalid';
/** The maker of the bot $1, or of the bot that made it, and so on; $1 itself when it is none. */
const PERSON_BEHIND = `(with recursive behind as (
    select id, kind, created_by_id, 0 as step from users where id = $1
    union all select m.id, m.kind, m.created_by_id, b.step + 1
      from behind b join users m on m.id = b.created_by_id where b.kind in ${BOTS}
  ) select id from behind order by step desc limit 1)`;

/** Proving that an address belongs to the person who named it. Source: reference identity-and-import 10.5. */
@Injectable()
export class EmailConfirmationsService {
  private readonly keys: ReturnType<typeof confirmationKeys>;

  constructor(
    private readonly work: Work,
    private readonly db: Database,
    private readonly addresses: AddressesService,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(identitySettings.token) private readonly settings: SettingsOf<typeof identitySettings>,
    @Inject(ContextKeys) keys: ContextKeys,
  ) {
    this.keys = confirmationKeys(keys);
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
    await this.addresses.markConfirmationRequested(tx, email.id, now);
    tx.emit(
      emailConfirmationRequested.of({
        aggregateId: email.id,
        actorId,
        data: { email_id: email.id, user_id: email.userId, requested_at: now.toISOString() },
      }),
    );
  }

  /**
   * So many answers told something of somebody's address: that it is taken and they are here, or of which domain it is.
   * That is told no oftener than links are sent, and counted whatever becomes of the request, and of a transaction around
   * it. Errors: TooManyRequests.
   */
  async countRefusals(actorId: number, times: number): Promise<void> {
    const refusal = await this.work.apart((tx) => this.counted(tx, actorId, times));
    if (refusal) throw refusal;
  }

  /** Whoever would be told more than anybody is in an hour is told nothing. Errors: TooManyRequests. */
  async refuseCurious(tx: Tx, actorId: number, times: number): Promise<void> {
    const most = this.settings.confirmationsPerHour;
    if (most === 0) return;
    const [used] = await tx.query<{ left: number }>(
      `select ${SECONDS_LEFT} as left from email_confirmations c
       where c.actor_id = coalesce(${PERSON_BEHIND}, $1) and c.since > now() - interval '1 hour' and c.count + $3 > $2`,
      [actorId, most, times],
    );
    if (used || times > most) throw tooMany(most, used?.left ?? HOUR_SECONDS);
  }

  /** Where an address is confirmed, from the root on; null when nobody waits for that. */
  pathFor(email: Pick<EmailRecord, 'id' | 'email' | 'confirmed_at' | 'confirmation_requested_at'>): string | null {
    const { id, confirmed_at, confirmation_requested_at: at } = email;
    if (confirmed_at !== null || at === null) return null;
    const asked = { id, email: email.email, confirmation_requested_at: at };
    if (isExpired(asked, this.clock.now())) return null;
    return `users/confirmation?confirmation_token=${confirmationToken(asked, this.keys[0])}`;
  }

  /** Works once. Errors: Refused for a token that is forged, used up, replaced by a newer one or too old. */
  async confirm(token: string): Promise<void> {
    await this.work.run(async (tx) => {
      // The person first, as wherever their addresses change.
      await tx.query(`select id from users where id = (select user_id from emails where id = $1) for update`, [
        emailIdOf(token),
      ]);
      await this.addresses.markConfirmed(tx, await this.awaited(tx, token, 'for update'));
    });
  }

  /** The address that a link stands for; nothing comes of asking. Errors: as `confirm`. */
  async addressOf(token: string): Promise<string> {
    return (await this.awaited(this.db, token)).email;
  }

  private async awaited(runner: Pick<Tx, 'query'>, token: string, lock = ''): Promise<EmailRecord> {
    const id = emailIdOf(token);
    const [email] =
      id === null ? [] : await runner.query<EmailRecord>(`select * from emails where id = $1 ${lock}`, [id]);
    if (!email || email.confirmed_at !== null || email.confirmation_requested_at === null) throw new Refused(INVALID);
    const asked = { ...email, confirmation_requested_at: email.confirmation_requested_at };
    if (!isConfirmationToken(token, asked, this.keys)) throw new Refused(INVALID);
    if (isExpired(asked, this.clock.now())) throw new Refused('Confirmation token has expired');
    return email;
  }

  /** What bots do counts for whoever made them: they are made without a limit. */
  private async count(tx: Tx, actorId: number): Promise<void> {
    const refusal = await this.counted(tx, actorId, 1);
    if (refusal) throw refusal;
  }

  /** Answers the refusal of whoever has done it too often. */
  private async counted(tx: Tx, actorId: number, times: number): Promise<TooManyRequests | null> {
    const most = this.settings.confirmationsPerHour;
    if (most === 0) return null;
    const [row] = await tx.query<{ count: number; left: number }>(
      `insert into email_confirmations as c (actor_id, since, count) values (coalesce(${PERSON_BEHIND}, $1), now(), $2)
       on conflict (actor_id) do update set
         count = case when c.since > now() - interval '1 hour' then c.count + $2 else $2 end,
         since = case when c.since > now() - interval '1 hour' then c.since else now() end
       returning count, ${SECONDS_LEFT} as left`,
      [actorId, times],
    );
    return row!.count > most ? tooMany(most, row!.left) : null;
  }
}

function tooMany(most: number, secondsLeft: number): TooManyRequests {
  const setting = 'EMAIL_CONFIRMATIONS_PER_HOUR_COUNT';
  return new TooManyRequests(Math.max(1, secondsLeft), { name: 'email_confirmations', most, each: 'hour', setting });
}
