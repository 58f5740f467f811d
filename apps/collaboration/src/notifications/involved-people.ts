import { Injectable } from '@nestjs/common';
import type { Tx } from '@rookery/persistence';
import { NamedPeople } from '../mentions/named-people';
import { groupedByKind, NoteableKinds } from '../noteables/noteable-kinds';
import { textsOf } from '../noteables/subjects';
import type { ThingEvent } from '../noteables/subjects';
import { NoteSubjects } from '../notes/note-subjects';
import { Participants } from './participants';

/** Whom the text of an event's subject names, by the event's id; without an entry, the subject is gone. */
export type Named = ReadonlyMap<string, readonly number[]>;

/** Whom texts name, who take part from then on. Source: reference work-tracking 8.4. */
@Injectable()
export class InvolvedPeople {
  constructor(
    private readonly people: NamedPeople,
    private readonly participants: Participants,
    private readonly notes: NoteSubjects,
    private readonly kinds: NoteableKinds,
  ) {}

  /** Writers of notes take part too. */
  async ofNotes(
    tx: Tx,
    events: readonly { readonly id: string; readonly data: { readonly note_id: number } }[],
  ): Promise<Named> {
    const notes = await this.notes.of(
      tx,
      events.map((event) => event.data.note_id),
    );
    const present = events.flatMap((event) => notes.get(event.data.note_id) ?? []);
    const texts = present.map((note) => ({ projectId: note.project_id, authorId: note.author_id, text: note.body }));
    const named = await this.namedIn(tx, texts);
    const byNote = new Map(present.map((note, index) => [note.note_id, named[index]!]));
    for (const [kind, ofKind] of groupedByKind(this.kinds, present, (note) => note.noteable_type)) {
      const taking = ofKind.flatMap(({ note_id: noteId, noteable_id: noteableId, author_id }) =>
        [author_id, ...byNote.get(noteId)!].map((userId) => ({ noteableId, userId, noteId })),
      );
      await this.participants.add(tx, kind, taking);
    }
    return new Map(
      events.flatMap((event) => {
        const people = byNote.get(event.data.note_id);
        return people ? [[event.id, people]] : [];
      }),
    );
  }

  /** Shape: events of one kind. */
  async ofThings(tx: Tx, events: readonly ThingEvent[]): Promise<Named> {
    if (events.length === 0) return new Map();
    const { present, texts } = await textsOf(tx, this.kinds, events);
    const named = await this.namedIn(tx, texts);
    const taking = present.flatMap(({ aggregateId: noteableId }, index) =>
      named[index]!.map((userId) => ({ noteableId, userId, noteId: null })),
    );
    await this.participants.add(tx, this.kinds.ofEvents(events), taking);
    return new Map(present.map((event, index) => [event.id, named[index]!]));
  }

  private async namedIn(tx: Tx, texts: Parameters<NamedPeople['in']>[1]): Promise<number[][]> {
    return (await this.people.in(tx, texts)).map((people) => people.map((one) => one.userId));
  }
}
