import { Injectable } from '@nestjs/common';
import { DEPARTURE_CHUNK } from '@rookery/persistence';
import type { DepartureStep, Prepared, RowOf, Tx } from '@rookery/persistence';
import { NoteableKinds } from '../base/noteables/noteable-kinds';
import { AttachedTables } from './attached-tables';
import { DropWritings } from './drop-writings';
import type { UserDeparture } from './user-departure.entity';

/** A removed user, and who gets what they wrote; null with `hard_delete`. */
export type Departure = RowOf<UserDeparture, 'userId' | 'ghostUserId' | 'hardDelete'>;

/** One pass over every table that names users. Source: reference identity-and-import 5; ADR 0136. */
@Injectable()
export class DepartureSteps {
  private readonly statements: Readonly<Record<DepartureStep, readonly Prepared[]>>;

  constructor(
    private readonly writings: DropWritings,
    kinds: NoteableKinds,
    tables: AttachedTables,
  ) {
    // Hooks run first: they lock noteables, which every request locks before other rows.
    const inOrder = [...tables.all].sort((one, other) => Number(other.hasHook) - Number(one.hasHook));
    const of = (step: DepartureStep) => inOrder.flatMap((table) => table.departure(step, kinds));
    this.statements = { own: of('own'), named: of('named'), written: of('written'), dropWritten: of('dropWritten') };
  }

  /** Does the next part. True when nothing was left. */
  async next(tx: Tx, { user_id: userId, ghost_user_id: heirId, hard_delete: isHard }: Departure): Promise<boolean> {
    if (!(await this.done(tx, 'own', [userId])) || !(await this.done(tx, 'named', [userId, heirId]))) return false;
    if (!isHard) return this.done(tx, 'written', [userId, heirId]);
    return (await this.done(tx, 'dropWritten', [userId])) && (await this.writings.next(tx, userId));
  }

  /** Runs statements of all tables until one finds as many rows as it may change. */
  private async done(tx: Tx, step: DepartureStep, values: readonly unknown[]): Promise<boolean> {
    for (const statement of this.statements[step]) {
      if ((await tx.prepared(statement, values)).length === DEPARTURE_CHUNK) return false;
    }
    return true;
  }
}
