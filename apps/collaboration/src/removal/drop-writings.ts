import { Injectable } from '@nestjs/common';
import type { GoneNoteable } from '@rookery/contracts';
import { dropInternalIds, prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { NoteableKinds, perKind, projectIdSql } from '../base/noteables/noteable-kinds';
import type { NoteableKind } from '../base/noteables/noteable-kinds';
import { iidSql } from '../base/noteables/references.shape';
import { removeNotesBelow, removeNotesBy, removeNotesOf } from '../talk/notes/note-removal';

/** Units: rows. */
const THINGS = 500;

/** Nobody adds a note to what is locked here; those that came since go too. */
const authored = perKind(({ table }) =>
  prepared(`departures_${table}`, `select id from ${table} where author_id = $1::bigint limit ${THINGS} for update`),
);
const inGroups = perKind(({ table }) =>
  prepared(
    `group_deletion_${table}`,
    `select id from ${table} where group_id = any($1::bigint[]) limit ${THINGS} for update`,
  ),
);
const remove = perKind((kind) =>
  prepared(
    `departures_remove_${kind.table}`,
    `${kind.writes.remove} where i.id = any($1::bigint[])
     returning i.id, ${iidSql(kind)} as iid, ${projectIdSql(kind)} as project_id
       ${kind.parent === 'group' ? ', i.group_id' : ''}${kind.stateColumn ? `, i.${kind.stateColumn} as state` : ''}`,
  ),
);

/** Things and notes that go with their author or their group; what pointed at them follows by their events. Source: ADR 0136. */
@Injectable()
export class DropWritings {
  constructor(private readonly kinds: NoteableKinds) {}

  /** Does the next part. True when nothing was left. */
  async next(tx: Tx, authorId: number): Promise<boolean> {
    for (const kind of this.kinds.all) {
      if (!(await removeNotesBelow(tx, kind, authorId)) || !(await this.dropThings(tx, kind, authorId))) return false;
    }
    return removeNotesBy(tx, this.kinds, authorId);
  }

  /** All that lies in groups that are gone. */
  async ofGroups(tx: Tx, groupIds: readonly number[]): Promise<void> {
    for (const kind of this.kinds.ofGroups) {
      while (!(await this.dropFound(tx, kind, await tx.prepared<{ id: number }>(inGroups(kind), [groupIds]))));
      await dropInternalIds(tx, kind.table, groupIds);
    }
  }

  private async dropThings(tx: Tx, kind: NoteableKind, authorId: number): Promise<boolean> {
    return this.dropFound(tx, kind, await tx.prepared<{ id: number }>(authored(kind), [authorId]));
  }

  /** True when there were no more. */
  private async dropFound(tx: Tx, kind: NoteableKind, found: readonly { readonly id: number }[]): Promise<boolean> {
    if (found.length === 0) return true;
    const ids = found.map((row) => row.id);
    await removeNotesOf(tx, kind, ids);
    for (const gone of await tx.prepared<GoneNoteable>(remove(kind), [ids])) {
      tx.emit(kind.events.deletedOf(gone, null));
    }
    return ids.length < THINGS;
  }
}
