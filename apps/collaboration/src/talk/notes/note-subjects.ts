import { Injectable } from '@nestjs/common';
import { prepared } from '@rookery/persistence';
import type { Prepared, RowOf, Tx } from '@rookery/persistence';
import { NoteableKinds, projectIdSql, subjectSql } from '../../base/noteables/noteable-kinds';
import type { actorOf, SaidText } from '../../base/noteables/subjects';
import type { Note } from './note.entity';

/** An event on a note. */
export type NoteEvent = Parameters<typeof actorOf>[0] & {
  readonly id: string;
  readonly data: { readonly note_id: number };
};

/** A note and what it stands on, as they are now. */
export interface NoteSubject extends RowOf<Note, 'authorId' | 'body' | 'noteableType' | 'createdAt' | 'threadId'> {
  readonly note_id: number;
  /** Whoever changed it last, else the author. */
  readonly said_by_id: number;
  /** Null for notes on things of groups. */
  readonly project_id: number | null;
  readonly noteable_id: number;
}

/** The notes that effects are about, read when they happen, as with things. */
@Injectable()
export class NoteSubjects {
  private readonly statement: Prepared;

  constructor(kinds: NoteableKinds) {
    const on = { type: 'n.noteable_type', id: 'n.noteable_id' };
    this.statement = prepared(
      'notes_subjects',
      `select n.id as note_id, n.body, n.author_id, coalesce(n.edited_by_id, n.author_id) as said_by_id, i.project_id, n.noteable_type, i.id as noteable_id, n.created_at, n.thread_id
       from notes n join lateral ${subjectSql(kinds.all, on, (kind) => `i.id, ${projectIdSql(kind)} as project_id`)} i on true
       where n.id = any($1::bigint[]) and not n.system
       order by n.id for key share of n`,
    );
  }

  /** By id, whatever they stand on. */
  async of(tx: Tx, ids: readonly number[]): Promise<ReadonlyMap<number, NoteSubject>> {
    if (ids.length === 0) return new Map();
    const rows = await tx.prepared<NoteSubject>(this.statement, [[...new Set(ids)]]);
    return new Map(rows.map((row) => [row.note_id, row]));
  }

  /** Of events those whose notes are still there, each with its note, and what each of these says now, in the same order. */
  async textsOf<E extends NoteEvent>(
    tx: Tx,
    events: readonly E[],
  ): Promise<{
    readonly present: readonly { event: E; note: NoteSubject }[];
    readonly texts: readonly (readonly SaidText[])[];
  }> {
    const ids = events.map((event) => event.data.note_id);
    const notes = await this.of(tx, ids);
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
