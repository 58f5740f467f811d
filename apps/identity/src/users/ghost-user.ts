import { Injectable } from '@nestjs/common';
import type { Tx } from '@rookery/persistence';
import { UsersService } from './users.service';

/** Key of the advisory lock that prevents two ghost users; no other lock uses this number. */
const LOCK = 7_316_420_010;

/**
 * The ghost user: author of the content of removed users. It is created when first needed, has no password and cannot get
 * tokens. Source: reference identity-and-import 5.
 */
@Injectable()
export class GhostUser {
  constructor(private readonly users: UsersService) {}

  /** Returns the id of the ghost user; creates the user if it does not exist. */
  async ensureId(tx: Tx): Promise<number> {
    const existing = await this.findGhostId(tx);
    if (existing !== null) return existing;
    await tx.query(`select pg_advisory_xact_lock($1)`, [LOCK]);
    return (await this.findGhostId(tx)) ?? this.insertGhost(tx);
  }

  private async findGhostId(tx: Tx): Promise<number | null> {
    const [row] = await tx.query<{ id: number }>(`select id from users where kind = 'ghost'`);
    return row?.id ?? null;
  }

  private async insertGhost(tx: Tx): Promise<number> {
    const username = await this.findFreeUsername(tx);
    const person = {
      username,
      name: 'Ghost User',
      email: `${username}@ghost.invalid`,
      projects_limit: 0,
      can_create_group: false,
      bio: 'This user holds what removed users have written.',
    };
    return this.users.insertUser(tx, person, { digest: null, createdBy: null, kind: 'ghost', isConfirmed: false });
  }

  /** Returns `ghost`, or `ghost` with the first number that is free: another user may have the name. */
  private async findFreeUsername(tx: Tx): Promise<string> {
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
