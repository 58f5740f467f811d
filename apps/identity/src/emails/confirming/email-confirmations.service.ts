import { Inject, Injectable } from '@nestjs/common';
import { emailConfirmationRequested } from '@rookery/contracts';
import type { Clock } from '@rookery/kernel';
import { CLOCK, Refused, TooManyRequests } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Database, Work } from '@rookery/persistence';
import type { SettingsOf } from '@rookery/platform';
import { ContextSigningKeys } from '@rookery/platform';
import { identitySettings } from '../../identity.config';
import { AddressesService } from '../../users/addresses/addresses.service';
import type { EmailRecord } from '../../users/addresses/email.entity';
import { responsibleUserSql } from '../../users/responsible-user';
import {
  deriveEmailConfirmationKeys,
  computeEmailConfirmationToken,
  parseConfirmationTokenEmailId,
  isConfirmationTokenValid,
  isEmailConfirmationExpired,
} from './confirmation-token';

const HOUR_SECONDS = 3600;
const SECONDS_LEFT = `ceil(extract(epoch from c.since + interval '1 hour' - now()))::integer`;
const INVALID = 'Confirmation token is invalid';
const RESPONSIBLE_USER = responsibleUserSql('$1');

/** Confirmation of e-mail addresses by a link that is sent to them. Source: reference identity-and-import 10.5. */
@Injectable()
export class EmailConfirmationsService {
  private readonly keys: ReturnType<typeof deriveEmailConfirmationKeys>;

  constructor(
    private readonly work: Work,
    private readonly db: Database,
    private readonly addresses: AddressesService,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(identitySettings.token) private readonly settings: SettingsOf<typeof identitySettings>,
    @Inject(ContextSigningKeys) keys: ContextSigningKeys,
  ) {
    this.keys = deriveEmailConfirmationKeys(keys);
  }

  /**
   * Requests that a link is sent to the address. Earlier links become invalid. Errors: TooManyRequests when the user
   * has requested too many: the recipients may not know this instance.
   */
  async requestConfirmation(
    tx: Tx,
    email: { readonly id: number; readonly userId: number },
    actorId: number | null,
  ): Promise<void> {
    if (actorId !== null) await this.countRequest(tx, actorId);
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
   * Counts refusals that disclose something about another user's address: that it is taken, or its domain. They share
   * the hourly limit of sent links, and are counted also if the request or its transaction fails. Errors:
   * TooManyRequests.
   */
  async countDisclosures(actorId: number, times: number): Promise<void> {
    const refusal = await this.work.runIndependent((tx) => this.increaseRequestCount(tx, actorId, times));
    if (refusal) throw refusal;
  }

  /**
   * Refuses a request that would disclose more than the hourly limit allows, before it discloses anything. Errors:
   * TooManyRequests.
   */
  async checkDisclosureLimit(tx: Tx, actorId: number, times: number): Promise<void> {
    const most = this.settings.confirmationsPerHour;
    if (most === 0) return;
    const [used] = await tx.query<{ left: number }>(
      `select ${SECONDS_LEFT} as left from email_confirmations c
       where c.actor_id = coalesce(${RESPONSIBLE_USER}, $1) and c.since > now() - interval '1 hour' and c.count + $3 > $2`,
      [actorId, most, times],
    );
    if (used || times > most) throw tooManyEmailConfirmationsRefusal(most, used?.left ?? HOUR_SECONDS);
  }

  /**
   * Returns the path of the confirmation link, relative to the root. Returns null when the address needs no
   * confirmation or the link has expired.
   */
  pathFor(email: Pick<EmailRecord, 'id' | 'email' | 'confirmed_at' | 'confirmation_requested_at'>): string | null {
    const { id, confirmed_at, confirmation_requested_at: at } = email;
    if (confirmed_at !== null || at === null) return null;
    const asked = { id, email: email.email, confirmation_requested_at: at };
    if (isEmailConfirmationExpired(asked, this.clock.now())) return null;
    return `users/confirmation?confirmation_token=${computeEmailConfirmationToken(asked, this.keys[0])}`;
  }

  /**
   * Confirms an address, once. Errors: Refused for a token that is forged, used, replaced by a newer one or expired.
   */
  async confirmAddress(token: string): Promise<void> {
    await this.work.run(async (tx) => {
      // Locks the user first, like all changes of addresses.
      await tx.query(`select id from users where id = (select user_id from emails where id = $1) for update`, [
        parseConfirmationTokenEmailId(token),
      ]);
      await this.addresses.markConfirmed(tx, await this.requirePendingEmail(tx, token, 'for update'));
    });
  }

  /** Returns the address of a link without changing anything. Errors: as in `confirmAddress`. */
  async findAddress(token: string): Promise<string> {
    return (await this.requirePendingEmail(this.db, token)).email;
  }

  private async requirePendingEmail(runner: Pick<Tx, 'query'>, token: string, lockClause = ''): Promise<EmailRecord> {
    const id = parseConfirmationTokenEmailId(token);
    const [email] =
      id === null ? [] : await runner.query<EmailRecord>(`select * from emails where id = $1 ${lockClause}`, [id]);
    if (!email || email.confirmed_at !== null || email.confirmation_requested_at === null) throw new Refused(INVALID);
    const asked = { ...email, confirmation_requested_at: email.confirmation_requested_at };
    if (!isConfirmationTokenValid(token, asked, this.keys)) throw new Refused(INVALID);
    if (isEmailConfirmationExpired(asked, this.clock.now())) throw new Refused('Confirmation token has expired');
    return email;
  }

  /**
   * Counts one request. Requests of a bot count for the user who created it, because users can create any number of
   * bots.
   */
  private async countRequest(tx: Tx, actorId: number): Promise<void> {
    const refusal = await this.increaseRequestCount(tx, actorId, 1);
    if (refusal) throw refusal;
  }

  /** Adds to the counter of a user. Returns the refusal if the limit is exceeded, or null. */
  private async increaseRequestCount(tx: Tx, actorId: number, times: number): Promise<TooManyRequests | null> {
    const most = this.settings.confirmationsPerHour;
    if (most === 0) return null;
    const [row] = await tx.query<{ count: number; left: number }>(
      `insert into email_confirmations as c (actor_id, since, count) values (coalesce(${RESPONSIBLE_USER}, $1), now(), $2)
       on conflict (actor_id) do update set
         count = case when c.since > now() - interval '1 hour' then c.count + $2 else $2 end,
         since = case when c.since > now() - interval '1 hour' then c.since else now() end
       returning count, ${SECONDS_LEFT} as left`,
      [actorId, times],
    );
    return row!.count > most ? tooManyEmailConfirmationsRefusal(most, row!.left) : null;
  }
}

function tooManyEmailConfirmationsRefusal(most: number, secondsLeft: number): TooManyRequests {
  const setting = 'EMAIL_CONFIRMATIONS_PER_HOUR_COUNT';
  return new TooManyRequests(Math.max(1, secondsLeft), { name: 'email_confirmations', most, each: 'hour', setting });
}
