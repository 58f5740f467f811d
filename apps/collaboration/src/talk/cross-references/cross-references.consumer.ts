import { Controller } from '@nestjs/common';
import { textWritten } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { Delivered, EffectBatch } from '@rookery/messaging';
import type { Tx } from '@rookery/persistence';
import { groupedByKind, NoteableKinds } from '../../base/noteables/noteable-kinds';
import { resolveEventCauseTime, authoredTextsIn, readSubjects } from '../../base/noteables/subjects';
import { NoteSubjects } from '../notes/note-subjects';
import { CrossReferences } from './cross-references';
import type { ReferringText } from './cross-references';

type TextWrittenEvent = Delivered<typeof textWritten>;

/** Writes system notes on the noteables that changed texts refer to. Source: reference work-tracking 2.7. */
@Controller()
export class CrossReferencesConsumer {
  constructor(
    private readonly references: CrossReferences,
    private readonly notes: NoteSubjects,
    private readonly kinds: NoteableKinds,
    private readonly directory: Directory,
  ) {}

  /** Handles the events of up to 100 ms in one transaction (ADR 0025). */
  @Consume(textWritten, { effect: 'write-references', gatherMs: 100 })
  async writeReferences({ tx, events }: EffectBatch<typeof textWritten>): Promise<void> {
    await this.directory.assertCurrentFor(tx, events);
    const ofNotes = events.filter((event) => event.data.note_id !== null);
    const ofNoteables = events.filter((event) => event.data.note_id === null);
    const texts = [...(await this.readNoteTexts(tx, ofNotes)), ...(await this.readNoteableTexts(tx, ofNoteables))];
    await this.references.writeReferences(tx, texts);
  }

  private async readNoteTexts(tx: Tx, events: readonly TextWrittenEvent[]): Promise<ReferringText[]> {
    const notes = await this.notes.lockNotes(
      tx,
      events.map((event) => event.data.note_id!),
    );
    return events.flatMap((event) => {
      const note = notes.get(event.data.note_id!);
      return note ? [toReferringText(event, { authorId: note.said_by_id, text: note.body })] : [];
    });
  }

  private async readNoteableTexts(tx: Tx, events: readonly TextWrittenEvent[]): Promise<ReferringText[]> {
    const texts: ReferringText[] = [];
    for (const [kind, ofKind] of groupedByKind(this.kinds, events, (event) => event.data.noteable_type)) {
      const noteables = await readSubjects(
        tx,
        kind,
        ofKind.map((event) => event.data.noteable_id),
      );
      for (const event of ofKind) {
        const noteable = noteables.get(event.data.noteable_id);
        if (noteable) texts.push(...authoredTextsIn(noteable).map((text) => toReferringText(event, text)));
      }
    }
    return texts;
  }
}

function toReferringText(
  event: TextWrittenEvent,
  { authorId, text }: Pick<ReferringText, 'authorId' | 'text'>,
): ReferringText {
  const { noteable_type: type, noteable_id: id, written_at: at } = event.data;
  return { about: { type, id }, authorId, text, at: resolveEventCauseTime(event, at) };
}
