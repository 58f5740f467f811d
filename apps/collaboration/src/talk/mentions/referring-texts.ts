import { textWritten } from '@rookery/contracts';
import type { NoteableType } from '@rookery/contracts';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';

/** A text as it is now, and what it is about. */
export interface WrittenText {
  readonly about: { readonly type: NoteableType; readonly id: number };
  /** Null for title and description. */
  readonly noteId: number | null;
  readonly text: string;
  readonly at: Date | string;
}

/** The least that a reference has: a sign and a number. */
const MAY_REFER = /[#!&$][1-9]/;

/** Announces a text that may name other things; of most texts nobody need hear. Source: reference work-tracking 2.7. */
export function tellOfText(tx: Tx, viewer: SignedInViewer, { about, noteId, text, at }: WrittenText): void {
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
