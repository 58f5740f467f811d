import { Injectable } from '@nestjs/common';
import { DEPARTURE_CHUNK } from '@rookery/persistence';
import type { DepartureStep, PreparedStatement, RowOf, Tx } from '@rookery/persistence';
import { NoteableKinds } from '../base/noteables/noteable-kinds';
import { AttachedTables } from './attached-tables';
import { NoteableRemoval } from './noteable-removal';
import type { UserDeparture } from './user-departure.entity';

/** A removed user and the ghost user who inherits their authored content; null with `hard_delete`. */
export type Departure = RowOf<UserDeparture, 'userId' | 'ghostUserId' | 'hardDelete'>;

/** One pass over every table with user ids. Source: reference identity-and-import 5; ADR 0136. */
@Injectable()
export class UserReferenceRemovalSteps {
  private readonly statements: Readonly<Record<DepartureStep, readonly PreparedStatement[]>>;

  constructor(
    private readonly noteables: NoteableRemoval,
    kinds: NoteableKinds,
    tables: AttachedTables,
  ) {
    // Hooks run first: they lock noteables, which every request locks before other rows.
    const inOrder = [...tables.all].sort((one, other) => Number(other.hasHook) - Number(one.hasHook));
    const of = (step: DepartureStep) => inOrder.flatMap((table) => table.departureStatements(step, kinds));
    this.statements = { own: of('own'), named: of('named'), written: of('written'), dropWritten: of('dropWritten') };
  }

  /** Changes the next chunk of rows. Returns true if nothing was left. */
  async runNextStep(
    tx: Tx,
    { user_id: userId, ghost_user_id: heirId, hard_delete: isHard }: Departure,
  ): Promise<boolean> {
    if (!(await this.tryFinishStep(tx, 'own', [userId])) || !(await this.tryFinishStep(tx, 'named', [userId, heirId])))
      return false;
    if (!isHard) return this.tryFinishStep(tx, 'written', [userId, heirId]);
    return (await this.tryFinishStep(tx, 'dropWritten', [userId])) && (await this.noteables.removeNext(tx, userId));
  }

  /** Runs the statements of a step until one changes a full chunk. Returns true if none did. */
  private async tryFinishStep(tx: Tx, step: DepartureStep, values: readonly unknown[]): Promise<boolean> {
    for (const statement of this.statements[step]) {
      if ((await tx.prepared(statement, values)).length === DEPARTURE_CHUNK) return false;
    }
    return true;
  }
}
