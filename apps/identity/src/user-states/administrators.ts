import { Injectable } from '@nestjs/common';
import { Forbidden } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';

/** Any number that only this rule uses. */
const LOCK = 7_316_420_011;
const LAST = 'The last administrator cannot be removed, demoted or refused entry';

/** The instance keeps somebody who can administer it. Source: ADR 0135. */
@Injectable()
export class Administrators {
  /**
   * To be called before this person stops being an active administrator: one at a time, so that of two who go, or who
   * put each other out, one stays. Errors: Forbidden.
   */
  async keepOne(tx: Tx, leavingId: number): Promise<void> {
    await tx.query(`select pg_advisory_xact_lock($1)`, [LOCK]);
    // A statement of its own: it has to see what those did for whom this one waited.
    const [row] = await tx.query<{ is_one: boolean; others: number }>(
      `select coalesce(bool_or(id = $1), false) as is_one, (count(*) filter (where id <> $1))::int as others
       from users where admin and state = 'active'`,
      [leavingId],
    );
    if (row!.is_one && row!.others === 0) throw new Forbidden(LAST);
  }
}
