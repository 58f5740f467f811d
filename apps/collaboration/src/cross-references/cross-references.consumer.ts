import { Controller } from '@nestjs/common';
import { noteCreated, noteUpdated } from '@rookery/contracts';
import type { NoteableEvent } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { Delivered, EffectBatch } from '@rookery/messaging';
import type { Tx } from '@rookery/persistence';
import { NoteableKinds, noteables } from '../noteables/noteable-kinds';
import { actorOf, causedAt, textsOf } from '../noteables/subjects';
import { NoteSubjects } from '../notes/note-subjects';
import { CrossReferences } from './cross-references';

/** They may be a moment late: what happened meanwhile is written together (ADR 0025). */
const WRITING = { effect: 'write-references', gatherMs: 100 };

type TextEvent = Delivered<NoteableEvent<'created'>> | Delivered<NoteableEvent<'updated'>>;
type NoteEvent = Delivered<typeof noteCreated> | Delivered<typeof noteUpdated>;

/** What texts refer to is told there. Source: reference work-tracking 2.7. */
@Controller()
export class CrossReferencesConsumer {
  constructor(
    private readonly references: CrossReferences,
    private readonly notes: NoteSubjects,
    private readonly kinds: NoteableKinds,
    private readonly directory: Directory,
  ) {}

  @Consume(noteables.created, WRITING)
  created({ tx, events }: EffectBatch<NoteableEvent<'created'>>): Promise<void> {
    // A copied text meant what it names where it was written.
    const written = events.filter((event) => event.data.copied !== true);
    return this.ofThings(tx, written, (event) => event.data.created_at);
  }

  @Consume(noteables.updated, WRITING)
  updated({ tx, events }: EffectBatch<NoteableEvent<'updated'>>): Promise<void> {
    const changed = events.filter((event) => event.data.text_changed);
    return this.ofThings(tx, changed, (event) => event.data.changed_at);
  }

  @Consume(noteCreated, WRITING)
  noteCreated({ tx, events }: EffectBatch<typeof noteCreated>): Promise<void> {
    return this.ofNotes(tx, events, (event) => event.data.created_at);
  }

  @Consume(noteUpdated, WRITING)
  noteUpdated({ tx, events }: EffectBatch<typeof noteUpdated>): Promise<void> {
    return this.ofNotes(tx, events, (event) => event.data.changed_at);
  }

  private async ofThings<E extends TextEvent>(
    tx: Tx,
    events: readonly E[],
    stated: (event: E) => string,
  ): Promise<void> {
    if (events.length === 0) return;
    await this.directory.settledFor(tx, events);
    const { type } = this.kinds.ofEvents(events);
    const { present, texts } = await textsOf(tx, this.kinds, events);
    await this.references.write(
      tx,
      present.map((event, index) => {
        const { authorId, text } = texts[index]!;
        return { about: { type, id: event.aggregateId }, authorId, text, at: causedAt(event, stated(event)) };
      }),
    );
  }

  /** What is said among those who read internal notes is told nowhere else. */
  private async ofNotes<E extends NoteEvent>(
    tx: Tx,
    events: readonly E[],
    stated: (event: E) => string,
  ): Promise<void> {
    const open = events.filter((event) => !event.data.internal);
    const notes = await this.notes.of(
      tx,
      open.map((event) => event.data.note_id),
    );
    if (notes.size === 0) return;
    await this.directory.settledFor(tx, open);
    await this.references.write(
      tx,
      open.flatMap((event) => {
        const note = notes.get(event.data.note_id);
        if (!note) return [];
        const about = { type: note.noteable_type, id: note.noteable_id };
        return [{ about, authorId: actorOf(event), text: note.body, at: causedAt(event, stated(event)) }];
      }),
    );
  }
}
