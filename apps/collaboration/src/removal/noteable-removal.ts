import { Injectable } from '@nestjs/common';
import type { DeletedNoteable } from '@rookery/contracts';
import { dropInternalIds, prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { NoteableKinds, cachePerNoteableKind, projectIdSql } from '../base/noteables/noteable-kinds';
import type { NoteableKind } from '../base/noteables/noteable-kinds';
import { iidSql } from '../base/noteables/references.shape';
import {
  removeNotesChunkOnAuthoredNoteables,
  removeNotesChunkByAuthor,
  removeNotesOfNoteables,
} from '../talk/notes/note-removal';

/** Units: rows. */
const CHUNK = 500;

/** Locks the noteables so that no new note is added; notes added before the lock are removed with them. */
const lockAuthoredNoteables = cachePerNoteableKind(({ table }) =>
  prepareStatement(
    `departures_${table}`,
    `select id from ${table} where author_id = $1::bigint limit ${CHUNK} for update`,
  ),
);
const lockNoteablesOfGroups = cachePerNoteableKind(({ table }) =>
  prepareStatement(
    `group_deletion_${table}`,
    `select id from ${table} where group_id = any($1::bigint[]) limit ${CHUNK} for update`,
  ),
);
const removeNoteables = cachePerNoteableKind((kind) =>
  prepareStatement(
    `departures_remove_${kind.table}`,
    `${kind.writes.remove} where i.id = any($1::bigint[])
     returning i.id, ${iidSql(kind)} as iid, ${projectIdSql(kind)} as project_id
       ${kind.parent === 'group' ? ', i.group_id' : ''}${kind.stateColumn ? `, i.${kind.stateColumn} as state` : ''}`,
  ),
);

/** Removes noteables and notes with their author or group. The deletion events remove attached rows. Source: ADR 0136. */
@Injectable()
export class NoteableRemoval {
  constructor(private readonly kinds: NoteableKinds) {}

  /** Removes the next chunk of a user's noteables and notes. Returns true if nothing was left. */
  async removeNext(tx: Tx, authorId: number): Promise<boolean> {
    // Commits stay in their repository when their author goes, and their notes with them.
    for (const kind of this.kinds.all.filter(({ events }) => events.deletedOf)) {
      if (
        !(await removeNotesChunkOnAuthoredNoteables(tx, kind, authorId)) ||
        !(await this.dropAuthoredChunk(tx, kind, authorId))
      )
        return false;
    }
    return removeNotesChunkByAuthor(tx, this.kinds, authorId);
  }

  /** Removes all noteables of deleted groups. */
  async ofGroups(tx: Tx, groupIds: readonly number[]): Promise<void> {
    for (const kind of this.kinds.ofGroups) {
      while (
        !(await this.dropNoteableChunk(
          tx,
          kind,
          await tx.prepared<{ id: number }>(lockNoteablesOfGroups(kind), [groupIds]),
        ))
      );
      await dropInternalIds(tx, kind.table, groupIds);
    }
  }

  private async dropAuthoredChunk(tx: Tx, kind: NoteableKind, authorId: number): Promise<boolean> {
    return this.dropNoteableChunk(tx, kind, await tx.prepared<{ id: number }>(lockAuthoredNoteables(kind), [authorId]));
  }

  /** Returns true if the chunk was the last one. */
  private async dropNoteableChunk(
    tx: Tx,
    kind: NoteableKind,
    found: readonly { readonly id: number }[],
  ): Promise<boolean> {
    if (found.length === 0) return true;
    const ids = found.map((row) => row.id);
    await removeNotesOfNoteables(tx, kind, ids);
    for (const deleted of await tx.prepared<DeletedNoteable>(removeNoteables(kind), [ids])) {
      const event = kind.events.deletedOf?.(deleted, null);
      if (event) tx.emit(event);
    }
    return ids.length < CHUNK;
  }
}
