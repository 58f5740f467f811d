import { Injectable } from '@nestjs/common';
import type { Tx } from '@rookery/persistence';
import { UserMentions } from '../../talk/mentions/user-mentions';
import { groupedByKind, NoteableKinds } from '../../base/noteables/noteable-kinds';
import { readAuthoredTexts } from '../../base/noteables/subjects';
import type { AnyNoteableEvent } from '../../base/noteables/subjects';
import { NoteSubjects } from '../../talk/notes/note-subjects';
import type { NoteEvent } from '../../talk/notes/note-subjects';
import { Participants } from './participants';

/** Ids of the users that a text mentions, by the id of the event; without an entry, the noteable or note is deleted. */
export type MentionedUsers = ReadonlyMap<string, readonly number[]>;

/** Finds the users that texts mention and records them as participants. Source: reference work-tracking 8.4. */
@Injectable()
export class ParticipantRecorder {
  constructor(
    private readonly people: UserMentions,
    private readonly participants: Participants,
    private readonly notes: NoteSubjects,
    private readonly kinds: NoteableKinds,
  ) {}

  /** Records authors of notes, and the users whom their notes mention. */
  async recordFromNotes(tx: Tx, events: readonly NoteEvent[]): Promise<MentionedUsers> {
    const { present, texts } = await this.notes.readTexts(tx, events);
    const mentioned = await this.findMentionedIds(tx, texts);
    const byEvent = new Map(present.map(({ event }, index) => [event.id, mentioned[index]!]));
    for (const [kind, ofKind] of groupedByKind(this.kinds, present, ({ note }) => note.noteable_type)) {
      const participations = ofKind.flatMap(
        ({ event, note: { note_id: noteId, noteable_id: noteableId, author_id } }) =>
          [author_id, ...byEvent.get(event.id)!].map((userId) => ({ noteableId, userId, noteId })),
      );
      await this.participants.addParticipants(tx, kind, participations);
    }
    return byEvent;
  }

  /** Records the users whom titles and descriptions mention. All events are of one kind. */
  async recordFromNoteables(tx: Tx, events: readonly AnyNoteableEvent[]): Promise<MentionedUsers> {
    if (events.length === 0) return new Map();
    const { present, texts } = await readAuthoredTexts(tx, this.kinds, events);
    const mentioned = await this.findMentionedIds(tx, texts);
    const participations = present.flatMap(({ aggregateId: noteableId }, index) =>
      mentioned[index]!.map((userId) => ({ noteableId, userId, noteId: null })),
    );
    await this.participants.addParticipants(tx, this.kinds.ofEvents(events), participations);
    return new Map(present.map((event, index) => [event.id, mentioned[index]!]));
  }

  private async findMentionedIds(tx: Tx, texts: Parameters<UserMentions['listMentioned']>[1]): Promise<number[][]> {
    return (await this.people.listMentioned(tx, texts)).map((people) => people.map((one) => one.userId));
  }
}
