import { Injectable } from '@nestjs/common';
import { Forbidden } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';

/** Key of an advisory lock that only this rule uses. */
const LOCK = 7_316_420_011;
const LAST = 'The last administrator cannot be removed, demoted or refused entry';
const KEEPS_ALL =
  'No other administrator has a token that this user did not give out: one of them must rotate theirs first';

/**
 * SQL that counts the tokens with which other users administer the instance, and those that would remain without $1. A
 * token with an unknown issuer counts as issued by its holder.
 */
const TOKENS = `
  select count(*)::int as all, (count(*) filter (where t.created_by_id is distinct from $1))::int as left
  from access_tokens t join users u on u.id = t.user_id
  where u.id <> $1 and u.admin and u.kind = 'human' and u.state = 'active' and u.confirmed_at is not null
    and not t.impersonation and not t.revoked and 'api' = any(t.scopes)
    and (t.expires_on is null or t.expires_on > (statement_timestamp() at time zone 'UTC')::date)
    and (t.created_by_id is null or t.created_by_id = t.user_id
      or exists (select 1 from users g where g.id = t.created_by_id and g.admin and g.state = 'active'))`;

/** Ensures that the instance keeps a usable administrator. Source: reference identity-and-import 10.6. */
@Injectable()
export class LastAdministratorCheck {
  /**
   * Checks that another administrator remains. Must be called before a user stops being an active administrator. Calls
   * are serialized, so that of two who leave, or who demote each other, one remains, with a token that does not end
   * with the leaving one. Errors: Forbidden.
   */
  async keepOne(tx: Tx, leavingId: number): Promise<void> {
    await tx.query(`select pg_advisory_xact_lock($1)`, [LOCK]);
    // A separate statement, so that it sees the commits of the transactions that this one waited for.
    const [row] = await tx.query<{ is_one: boolean; others: number }>(
      `select coalesce(bool_or(id = $1), false) as is_one, (count(*) filter (where id <> $1))::int as others
       from users where admin and kind = 'human' and state = 'active'`,
      [leavingId],
    );
    if (!row!.is_one) return;
    if (row!.others === 0) throw new Forbidden(LAST);
    const [tokens] = await tx.query<{ all: number; left: number }>(TOKENS, [leavingId]);
    if (tokens!.all > 0 && tokens!.left === 0) throw new Forbidden(KEEPS_ALL);
  }
}
