import { Injectable } from '@nestjs/common';
import type { Tx } from '@rookery/persistence';
import { NamedPeople } from '../../talk/mentions/named-people';
import { groupedByKind, NoteableKinds } from '../../base/noteables/noteable-kinds';
import { textsOf } from '../../base/noteables/subjects';
import type { ThingEvent } from '../../base/noteables/subjects';
import { NoteSubjects } from '../../talk/notes/note-subjects';
import type { NoteEvent } from '../../talk/notes/note-subjects';
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
  async ofNotes(tx: Tx, events: readonly NoteEvent[]): Promise<Named> {
    const { present, texts } = await this.notes.textsOf(tx, events);
    const named = await this.namedIn(tx, texts);
    const byEvent = new Map(present.map(({ event }, index) => [event.id, named[index]!]));
    for (const [kind, ofKind] of groupedByKind(this.kinds, present, ({ note }) => note.noteable_type)) {
      const taking = ofKind.flatMap(({ event, note: { note_id: noteId, noteable_id: noteableId, author_id } }) =>
        [author_id, ...byEvent.get(event.id)!].map((userId) => ({ noteableId, userId, noteId })),
      );
      await this.participants.add(tx, kind, taking);
    }
    return byEvent;
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
