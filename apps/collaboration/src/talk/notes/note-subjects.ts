import { Injectable } from '@nestjs/common';
import { prepareStatement } from '@rookery/persistence';
import type { PreparedStatement, RowOf, Tx } from '@rookery/persistence';
import { NoteableKinds, projectIdSql, noteableOfAnyKindSql } from '../../base/noteables/noteable-kinds';
import type { findActorId, AuthoredText } from '../../base/noteables/subjects';
import type { Note } from './note.entity';
import { IS_DIFF_NOTE } from './note.shape';

/** Event about a note. */
export type NoteEvent = Parameters<typeof findActorId>[0] & {
  readonly id: string;
  readonly data: { readonly note_id: number };
};

/** Current state of a note and its noteable. */
export interface NoteSubject extends RowOf<Note, 'authorId' | 'body' | 'noteableType' | 'createdAt' | 'threadId'> {
  readonly note_id: number;
  /** The user who edited the text last, or else the author. */
  readonly said_by_id: number;
  /** Null for notes on noteables of groups. */
  readonly project_id: number | null;
  readonly noteable_id: number;
  readonly is_diff: boolean;
}

/** Loads the notes that effects are about, at the time of the effect, because events carry no texts. */
@Injectable()
export class NoteSubjects {
  private readonly statement: PreparedStatement;

  constructor(kinds: NoteableKinds) {
    const on = { type: 'n.noteable_type', id: 'n.noteable_id' };
    this.statement = prepareStatement(
      'notes_subjects',
      `select n.id as note_id, n.body, n.author_id, coalesce(n.edited_by_id, n.author_id) as said_by_id, i.project_id, n.noteable_type, i.id as noteable_id, n.created_at, n.thread_id, ${IS_DIFF_NOTE} as is_diff
       from notes n join lateral ${noteableOfAnyKindSql(kinds.all, on, (kind) => `i.id, ${projectIdSql(kind)} as project_id`)} i on true
       where n.id = any($1::bigint[]) and not n.system
       order by n.id for key share of n`,
    );
  }

  /** Loads notes by id and locks them against deletion. System notes and deleted notes are missing from the result. */
  async lockNotes(tx: Tx, ids: readonly number[]): Promise<ReadonlyMap<number, NoteSubject>> {
    if (ids.length === 0) return new Map();
    const rows = await tx.prepared<NoteSubject>(this.statement, [[...new Set(ids)]]);
    return new Map(rows.map((row) => [row.note_id, row]));
  }

  /**
   * Returns the events whose notes still exist, each with its note, and the current texts of these notes in the same
   * order.
   */
  async readTexts<E extends NoteEvent>(
    tx: Tx,
    events: readonly E[],
  ): Promise<{
    readonly present: readonly { event: E; note: NoteSubject }[];
    readonly texts: readonly (readonly AuthoredText[])[];
  }> {
    const ids = events.map((event) => event.data.note_id);
    const notes = await this.lockNotes(tx, ids);
    const present = events.flatMap((event) => {
      const note = notes.get(event.data.note_id);
      return note ? [{ event, note }] : [];
    });
    const texts = present.map(({ note }) => [
      { projectId: note.project_id, authorId: note.said_by_id, text: note.body },
    ]);
    return { present, texts };
  }
}
