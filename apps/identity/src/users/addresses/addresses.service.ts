import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Invalid, keepFieldsWithProblems } from '@rookery/kernel';
import { prepareStatement } from '@rookery/persistence';
import type { RowOf, Tx } from '@rookery/persistence';
import type { SettingsOf } from '@rookery/platform';
import { platformSettings } from '@rookery/platform';
import { Email } from './email.entity';
import { UserChangeLog } from '../user-change-log';
import { User } from '../user.entity';
import { NOT_OWN_ADDRESS } from '../user-rules';

/** An address with its user and its role (primary, successor, secondary). */
export type AddressRow = RowOf<Email, 'id' | 'userId' | 'isPrimary' | 'becomesPrimary'>;

/** An unconfirmed address. */
type UnconfirmedAddress = RowOf<Email, 'id' | 'userId' | 'email' | 'isPrimary'>;
/** Days after which an unconfirmed address becomes available again: the lifetime of a confirmation link. */
const WAITING_DAYS = 3;
/**
 * SQL: unconfirmed addresses. Primary ones are included if they were chosen for a service account; those of the ghost
 * and of placeholders are generated. The statement adds more conditions on `e`.
 */
const WAITING = `e.id, e.user_id, e.email, e.is_primary from emails e join users u on u.id = e.user_id
  where e.confirmed_at is null
    and (not e.is_primary or (u.kind = 'service_account' and e.confirmation_requested_at is not null))`;

const WAITING_FOR_OTHERS = prepareStatement(
  'emails_waiting_for_others',
  `select ${WAITING} and lower(e.email) = lower($1) and e.user_id is distinct from $2::bigint for update of u, e`,
);
/**
 * SQL that inserts the first address of a new user, as a part of the statement that creates the user. It reads `id`
 * from the part `person`.
 */
export const insertPrimaryAddressSql = (address: string, confirmedAt: string): string => `
   address as (
     insert into emails (user_id, email, is_primary, confirmed_at) select id, ${address}, true, ${confirmedAt} from person)`;

/** SQL: an assignment for an update of `users u` that keeps a chosen address only while it is one of the user's. */
const keepIfOwnEmailAddressSql = (column: string): string =>
  `${column} = (select o.email from emails o where o.user_id = u.id and lower(o.email) = lower(u.${column}))`;
const KEEP_CHOSEN = ['public_email', 'commit_email', 'notification_email'].map(keepIfOwnEmailAddressSql).join(', ');

/**
 * E-mail addresses of users, and the columns of `users` that repeat them. No other class writes them, so that the
 * primary address is the same in both tables. Unless stated otherwise, the caller has locked the row of the user.
 * Source: reference identity-and-import 5, 10.1, 10.5. Errors: the violation of `uq_emails_email` for a taken address.
 */
@Injectable()
export class AddressesService {
  private readonly host: string;

  constructor(
    private readonly changes: UserChangeLog,
    @Inject(platformSettings.token) platform: SettingsOf<typeof platformSettings>,
  ) {
    this.host = new URL(platform.externalUrl).hostname;
  }

  /** Adds a secondary address. Returns its id. */
  async addAddress(tx: Tx, userId: number, address: string, isConfirmed: boolean): Promise<number> {
    const [row] = (await tx.query(
      `insert into emails (user_id, email, confirmed_at) values ($1, $2, case when $3 then now() end) returning id`,
      [userId, address, isConfirmed],
    )) as [{ id: number }];
    return row.id;
  }

  /** Removes an address. The primary one replaces it as public and commit e-mail and for notifications. */
  async remove(tx: Tx, userId: number, address: { readonly id: number; readonly email: string }): Promise<void> {
    await tx.manager.delete(Email, address.id);
    const shown = await tx.query(
      `update users u set updated_at = now(), ${KEEP_CHOSEN}
       where id = $1 and lower($2) in (lower(public_email), lower(commit_email), lower(notification_email)) returning id`,
      [userId, address.email],
    );
    if (shown.length > 0) await this.changes.recordUsers(tx, userId);
  }

  /**
   * Adds an address that replaces the primary one when it is confirmed. The caller drops an earlier successor first.
   */
  async addSuccessor(tx: Tx, userId: number, address: string): Promise<AddressRow> {
    const [row] = (await tx.query(
      `insert into emails (user_id, email, becomes_primary) values ($1, $2, true)
       returning id, user_id, is_primary, becomes_primary`,
      [userId, address],
    )) as [AddressRow];
    return row;
  }

  async dropSuccessor(tx: Tx, userId: number): Promise<void> {
    await tx.manager.delete(Email, { userId, becomesPrimary: true });
  }

  /** Removes unconfirmed uses of an address by other users, because an administrator assigns it. */
  async releaseUnconfirmed(tx: Tx, address: string, forUserId: number | null): Promise<void> {
    const rows = await tx.prepared<UnconfirmedAddress>(WAITING_FOR_OTHERS, [address, forUserId]);
    for (const row of rows) await this.dropUnconfirmedAddress(tx, row);
  }

  /** Removes at most `most` unconfirmed addresses that have expired. Returns the number of removed addresses. */
  async removeExpired(tx: Tx, most: number): Promise<number> {
    const rows = await tx.query<UnconfirmedAddress>(
      `select ${WAITING} and greatest(e.created_at, e.confirmation_requested_at) < now() - interval '${WAITING_DAYS} days'
       order by e.id limit $1 for update of u, e skip locked`,
      [most],
    );
    for (const row of rows) await this.dropUnconfirmedAddress(tx, row);
    return rows.length;
  }

  async markConfirmationRequested(tx: Tx, id: number, at: Date): Promise<void> {
    await tx.manager.update(Email, id, { confirmationRequestedAt: at });
  }

  async markConfirmed(tx: Tx, { id, user_id, is_primary, becomes_primary }: AddressRow): Promise<void> {
    if (becomes_primary) {
      // Users keep their former address. A generated address of a bot, or an unconfirmed one, is deleted.
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
      `update users u set email = e.email, confirmed_at = coalesce(u.confirmed_at, now()), updated_at = now(), ${KEEP_CHOSEN}
       from emails e where u.id = $1 and e.id = $2`,
      [user_id, id],
    );
    // Also invalidates leases of the user's tokens: tokens that were refused until now become valid.
    await this.changes.recordUsers(tx, user_id);
  }

  /**
   * Makes an address the primary one. If it is one of the user's addresses, it swaps roles with the present primary
   * one; a new address replaces that one, which becomes available to other users. An administrator vouches for it, so
   * it counts as confirmed. The caller records the change.
   */
  async makePrimary(tx: Tx, userId: number, address: string): Promise<void> {
    const [own] = await tx.query<{ id: number; is_primary: boolean }>(
      `select id, is_primary from emails where user_id = $1 and lower(email) = lower($2) for update`,
      [userId, address],
    );
    if (own && !own.is_primary)
      await tx.query(`update emails set is_primary = false where user_id = $1 and is_primary`, [userId]);
    await tx.query(
      `update emails set email = $2, is_primary = true, becomes_primary = false, confirmation_requested_at = null,
         confirmed_at = coalesce(case when lower(email) = lower($2) then confirmed_at end, now())
       where user_id = $1 and ${own ? 'id = $3' : 'is_primary and $3::bigint is null'}`,
      [userId, address, own?.id ?? null],
    );
    await tx.query(
      `update users u set email = $2, confirmed_at = coalesce(u.confirmed_at, now()), ${KEEP_CHOSEN} where u.id = $1`,
      [userId, address],
    );
  }

  /**
   * Chooses the address for notifications. The primary one is not stored, so that a later primary one replaces it.
   * Returns false if it is not a confirmed address of the user.
   */
  async chooseNotificationEmail(tx: Tx, userId: number, address: string): Promise<boolean> {
    const [own] = await tx.query<{ email: string; is_primary: boolean }>(
      `select email, is_primary from emails where user_id = $1 and lower(email) = lower($2) and confirmed_at is not null`,
      [userId, address],
    );
    if (!own) return false;
    const changed = await tx.query(
      `update users set notification_email = $2::text where id = $1 and notification_email is distinct from $2::text
       returning id`,
      [userId, own.is_primary ? null : own.email],
    );
    if (changed.length > 0) await this.changes.recordUsers(tx, userId);
    return true;
  }

  /** Checks that public and commit e-mail are confirmed addresses of the user. Errors: Invalid. */
  async refuseForeign(
    tx: Tx,
    userId: number,
    sent: { readonly public_email?: string; readonly commit_email?: string },
  ): Promise<void> {
    const wanted = Object.entries({ public_email: sent.public_email, commit_email: sent.commit_email }).filter(
      (entry): entry is [string, string] => Boolean(entry[1]),
    );
    if (wanted.length === 0) return;
    const rows = await tx.query<{ email: string }>(
      `select lower(email) as email from emails where user_id = $1 and confirmed_at is not null
         and lower(email) in (select lower(w) from unnest($2::text[]) w)`,
      [userId, wanted.map(([, address]) => address)],
    );
    const own = new Set(rows.map((row) => row.email));
    const problems = wanted.map(([field, address]) => [field, own.has(address.toLowerCase()) ? [] : [NOT_OWN_ADDRESS]]);
    const refused = keepFieldsWithProblems(Object.fromEntries(problems) as Record<string, string[]>);
    if (Object.keys(refused).length > 0) throw new Invalid(refused);
  }

  /**
   * Removes an unconfirmed address. A service account must have an address: it gets a generated one until another is
   * confirmed.
   */
  private async dropUnconfirmedAddress(tx: Tx, row: UnconfirmedAddress): Promise<void> {
    if (!row.is_primary) return this.remove(tx, row.user_id, row);
    const generated = `service_account_${randomBytes(16).toString('hex')}@noreply.${this.host}`;
    await tx.manager.update(Email, row.id, { email: generated, confirmationRequestedAt: null });
    await tx.manager.update(User, row.user_id, { email: generated, updatedAt: new Date() });
    await this.changes.recordUsers(tx, row.user_id);
  }
}
