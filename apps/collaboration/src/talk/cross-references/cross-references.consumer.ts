import { Controller } from '@nestjs/common';
import { textWritten } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { Delivered, EffectBatch } from '@rookery/messaging';
import type { Tx } from '@rookery/persistence';
import { groupedByKind, NoteableKinds } from '../../base/noteables/noteable-kinds';
import { causedAt, saidIn, subjectsOf } from '../../base/noteables/subjects';
import { NoteSubjects } from '../notes/note-subjects';
import { CrossReferences } from './cross-references';
import type { ReferringText } from './cross-references';

type Written = Delivered<typeof textWritten>;

/** What texts name is told there, a moment later. Source: reference work-tracking 2.7. */
@Controller()
export class CrossReferencesConsumer {
  constructor(
    private readonly references: CrossReferences,
    private readonly notes: NoteSubjects,
    private readonly kinds: NoteableKinds,
    private readonly directory: Directory,
  ) {}

  /** What happened meanwhile is written together (ADR 0025). */
  @Consume(textWritten, { effect: 'write-references', gatherMs: 100 })
  async written({ tx, events }: EffectBatch<typeof textWritten>): Promise<void> {
    await this.directory.settledFor(tx, events);
    const ofNotes = events.filter((event) => event.data.note_id !== null);
    const ofThings = events.filter((event) => event.data.note_id === null);
    const texts = [...(await this.inNotes(tx, ofNotes)), ...(await this.inThings(tx, ofThings))];
    await this.references.write(tx, texts);
  }

  private async inNotes(tx: Tx, events: readonly Written[]): Promise<ReferringText[]> {
    const notes = await this.notes.of(
      tx,
      events.map((event) => event.data.note_id!),
    );
    return events.flatMap((event) => {
      const note = notes.get(event.data.note_id!);
      return note ? [textOf(event, { authorId: note.said_by_id, text: note.body })] : [];
    });
  }

  private async inThings(tx: Tx, events: readonly Written[]): Promise<ReferringText[]> {
    const texts: ReferringText[] = [];
    for (const [kind, ofKind] of groupedByKind(this.kinds, events, (event) => event.data.noteable_type)) {
      const things = await subjectsOf(
        tx,
        kind,
        ofKind.map((event) => event.data.noteable_id),
      );
      for (const event of ofKind) {
        const thing = things.get(event.data.noteable_id);
        if (thing) texts.push(...saidIn(thing).map((said) => textOf(event, said)));
      }
    }
    return texts;
  }
}

function textOf(event: Written, { authorId, text }: Pick<ReferringText, 'authorId' | 'text'>): ReferringText {
  const { noteable_type: type, noteable_id: id, written_at: at } = event.data;
  return { about: { type, id }, authorId, text, at: causedAt(event, at) };
}
