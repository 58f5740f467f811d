import { Injectable } from '@nestjs/common';
import type { Tx } from '@rookery/persistence';
import { UsersService } from '../../users/users.service';

/** Any number that only this lock uses: one ghost is made at a time. */
const LOCK = 7_316_420_010;

/**
 * The one user to whom goes what removed people wrote. The ghost is made when first needed, has no password, and gets
 * no tokens. Source: reference identity-and-import 5.
 */
@Injectable()
export class GhostUser {
  constructor(private readonly users: UsersService) {}

  async id(tx: Tx): Promise<number> {
    const known = await this.known(tx);
    if (known !== null) return known;
    await tx.query(`select pg_advisory_xact_lock($1)`, [LOCK]);
    return (await this.known(tx)) ?? this.insert(tx);
  }

  private async known(tx: Tx): Promise<number | null> {
    const [row] = await tx.query<{ id: number }>(`select id from users where kind = 'ghost'`);
    return row?.id ?? null;
  }

  private async insert(tx: Tx): Promise<number> {
    const username = await this.freeName(tx);
    const person = {
      username,
      name: 'Ghost User',
      email: `${username}@ghost.invalid`,
      projects_limit: 0,
      can_create_group: false,
      bio: 'This user holds what removed users have written.',
    };
    return this.users.insert(tx, person, { digest: null, createdBy: null, kind: 'ghost', isConfirmed: false });
  }

  /** `ghost`, or with the first number that makes it free: somebody may have taken the name before. */
  private async freeName(tx: Tx): Promise<string> {
    const [row] = await tx.query<{ name: string }>(
      `select w.name from (select 'ghost' || case when n = 0 then '' else n::text end as name, n
         from generate_series(0, (select count(*) from sibling_paths where parent_id = 0 and path like 'ghost%')) n) w
       where not exists (select 1 from sibling_paths s where s.parent_id = 0 and s.path = w.name)
         and not exists (select 1 from emails e where lower(e.email) = w.name || '@ghost.invalid')
       order by w.n limit 1`,
    );
    return row!.name;
  }
}
