import { textWritten } from '@rookery/contracts';
import type { NoteableType } from '@rookery/contracts';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';

/** Current text of a noteable or a note. */
export interface WrittenText {
  readonly about: { readonly type: NoteableType; readonly id: number };
  /** Null for title and description. */
  readonly noteId: number | null;
  readonly text: string;
  readonly at: Date | string;
}

/** Start of every reference: a sigil and a number. */
const MAY_REFER = /[#!&$][1-9]/;

/** Title and description as one text, in which mentions and references are found. */
export function joinTitleAndDescription({
  title,
  description,
}: {
  readonly title: string;
  readonly description: string | null;
}): string {
  return `${title}\n\n${description ?? ''}`;
}

/**
 * Publishes an event if the text may contain references; most texts contain none. Source: reference work-tracking 2.7.
 */
export function publishTextWritten(tx: Tx, viewer: SignedInViewer, { about, noteId, text, at }: WrittenText): void {
  if (!MAY_REFER.test(text)) return;
  tx.emit(
    textWritten.of({
      aggregateId: about.id,
      actorId: viewer.userId,
      seen: viewer.directory,
      data: {
        noteable_type: about.type,
        noteable_id: about.id,
        note_id: noteId,
        author_id: viewer.userId,
        written_at: typeof at === 'string' ? at : at.toISOString(),
      },
    }),
  );
}
