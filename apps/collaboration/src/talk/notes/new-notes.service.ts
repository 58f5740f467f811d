import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { Invalid } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { QuickActionsService } from '../mentions/quick-actions/quick-actions.service';
import type { NoteableWithParent } from '../../base/noteables/planning.policy';
import { DiscussionsService } from './discussions/discussions.service';
import { validateNewNoteBody } from './note.entity';
import { NoteLimit } from './note-limit';
import { NotesService } from './notes.service';
import type { NewNote } from './notes.service';

/**
 * Result of a new note: the note or its discussion as JSON text, or the changes if the text contained only quick
 * actions.
 */
export type NewNoteResult =
  | { readonly json: string }
  | { readonly changes: Readonly<Record<string, unknown>>; readonly summary: string };

/** How the rest of a text, without its quick actions, becomes a note. */
interface NoteWriter {
  /** Writes the note. `isAlone` is true if the transaction makes no other change. */
  write(tx: Tx, newNote: NewNote, isAlone: boolean): Promise<string>;
  /** Checks whether the note could be written. Errors: those of `write`. */
  admit?(tx: Tx): Promise<void>;
}

/** A new note whose quick actions and place are known. */
export interface PreparedNote {
  /**
   * Writes the note. `isAlone` is true if the transaction makes no other change. Errors: Invalid when the text contains
   * only quick actions and none had an effect; those of the note.
   */
  write(tx: Tx, isAlone?: boolean): Promise<NewNoteResult>;
}

/**
 * Creates notes whose text may contain quick actions. One transaction runs the quick actions and writes the rest of the text
 * as the note. Source: reference work-tracking 2.5, 2.6.
 */
@Injectable()
export class NewNotesService {
  constructor(
    private readonly work: Work,
    private readonly actions: QuickActionsService,
    private readonly notes: NotesService,
    private readonly discussions: DiscussionsService,
    private readonly limit: NoteLimit,
  ) {}

  async create(viewer: SignedInViewer, on: NoteableWithParent, newNote: NewNote): Promise<NewNoteResult> {
    return this.runPrepared(await this.prepareCreate(viewer, on, newNote));
  }

  /** Creates a note that starts a thread, at a place in the diff if one is given. Errors: those of `CodeReview.open`. */
  async createNote(viewer: SignedInViewer, on: NoteableWithParent, newNote: NewNote): Promise<NewNoteResult> {
    const result = await this.runPrepared(await this.prepareOpen(viewer, on, newNote));
    if (newNote.place) await this.finish(on);
    return result;
  }

  /** Creates a reply in a discussion. `key` is the id of the note that started the discussion. */
  async reply(viewer: SignedInViewer, on: NoteableWithParent, key: number, newNote: NewNote): Promise<NewNoteResult> {
    return this.runPrepared(await this.prepareReply(viewer, on, key, newNote));
  }

  /** Checks and reads what `create` needs before the transaction, so that one transaction can write several notes. */
  prepareCreate(viewer: SignedInViewer, on: NoteableWithParent, newNote: NewNote): Promise<PreparedNote> {
    return this.prepareNote(viewer, on, newNote, {
      write: async (tx, stripped, isAlone) =>
        (await this.notes.writeNote(tx, viewer, on, { as: 'create', newNote: stripped, isAlone })).json,
    });
  }

  /** Does the same for `createNote`. The caller runs `finish` after the transaction. */
  async prepareOpen(viewer: SignedInViewer, on: NoteableWithParent, newNote: NewNote): Promise<PreparedNote> {
    const review = newNote.place ? this.notes.reviews.findReview(on) : null;
    const placed = await review?.open(viewer, on, { ...newNote.place!, body: validateNewNoteBody(newNote.body) });
    const write: NoteWriter['write'] = (tx, stripped, isAlone) =>
      this.discussions.create(tx, viewer, on, stripped, isAlone);
    return this.prepareNote(viewer, on, { ...newNote, ...placed }, { write });
  }

  /** Does the same for `reply`. */
  async prepareReply(
    viewer: SignedInViewer,
    on: NoteableWithParent,
    key: number,
    newNote: NewNote,
  ): Promise<PreparedNote> {
    const suggestions =
      (await this.notes.reviews.findReview(on)?.suggest(viewer, on, { thread: key }, newNote.body)) ?? [];
    const writer: NoteWriter = {
      write: (tx, stripped) => this.discussions.reply(tx, viewer, on, key, stripped),
      admit: (tx) => this.discussions.admitReply(tx, viewer, on, key),
    };
    return this.prepareNote(viewer, on, { ...newNote, suggestions }, writer);
  }

  /** Runs after the transaction of new diff threads. */
  async finish(on: NoteableWithParent): Promise<void> {
    await this.notes.reviews.findReview(on)?.finish(on);
  }

  private runPrepared({ write }: PreparedNote): Promise<NewNoteResult> {
    return this.work.run((tx) => write(tx, true));
  }

  private async prepareNote(
    viewer: SignedInViewer,
    on: NoteableWithParent,
    newNote: NewNote,
    writer: NoteWriter,
  ): Promise<PreparedNote> {
    const { commands, rest: body } = this.actions.readCommands(on.kind, validateNewNoteBody(newNote.body));
    const stripped = { ...newNote, body };
    if (commands.length === 0)
      return { write: async (tx, isAlone = false) => ({ json: await writer.write(tx, stripped, isAlone) }) };
    const planned = await this.actions.planActions(
      { viewer, kind: on.kind, parent: on.parent, on, headSha: newNote.headSha },
      commands,
    );
    const write = async (tx: Tx): Promise<NewNoteResult> => {
      await this.notes.admitNote(tx, viewer, on);
      await this.limit.begin(tx, viewer);
      await planned.lock(tx, on);
      let json: string | null = null;
      const { isAnyDone, changes, sentences } = await planned.execute(tx, on, async () => {
        if (body === '') await writer.admit?.(tx);
        else json = await writer.write(tx, stripped, false);
      });
      if (json !== null) return { json: addCommandChanges(json, changes) };
      const summary = sentences.join(' ');
      if (!isAnyDone) throw new Invalid({ commands_only: [summary] });
      return { changes, summary };
    };
    return { write };
  }
}

/** Adds the changes of the quick actions to the JSON of a note, or to the first note of a discussion. */
function addCommandChanges(json: string, changes: Readonly<Record<string, unknown>>): string {
  type Commanded = { commands_changes?: unknown };
  const answer = JSON.parse(json) as Commanded & { readonly notes?: readonly Commanded[] };
  (answer.notes?.[0] ?? answer).commands_changes = changes;
  return JSON.stringify(answer);
}
