import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { Invalid } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { QuickActionsService } from '../mentions/quick-actions/quick-actions.service';
import type { PlacedNoteable } from '../../base/noteables/planning.policy';
import { DiscussionsService } from './discussions/discussions.service';
import { newBody } from './note.entity';
import { NoteLimit } from './note-limit';
import { NotesService } from './notes.service';
import type { NewNote } from './notes.service';

/** What came of a text: a note, or its discussion, as JSON text; or only commands, all of a note that held nothing else. */
export type Said =
  | { readonly json: string }
  | { readonly changes: Readonly<Record<string, unknown>>; readonly summary: string };

/** How a text becomes a note. */
interface Writing {
  /** Shape: `isAlone` when no command is carried out with it. */
  write(tx: Tx, wish: NewNote, isAlone: boolean): Promise<string>;
  /** Errors: those for which the note would not be made. */
  admit?(tx: Tx): Promise<void>;
}

/**
 * New notes as they are written: their commands are carried out in one transaction with what is left to be said, which
 * is the note. Source: reference work-tracking 2.5, 2.6.
 */
@Injectable()
export class CommandedNotesService {
  constructor(
    private readonly work: Work,
    private readonly actions: QuickActionsService,
    private readonly notes: NotesService,
    private readonly discussions: DiscussionsService,
    private readonly limit: NoteLimit,
  ) {}

  create(viewer: SignedInViewer, on: PlacedNoteable, wish: NewNote): Promise<Said> {
    return this.say(viewer, on, wish, {
      write: async (tx, said, isAlone) =>
        (await this.notes.write(tx, viewer, on, { as: 'create', wish: said, isAlone })).json,
    });
  }

  /** Begins a thread. */
  open(viewer: SignedInViewer, on: PlacedNoteable, wish: NewNote): Promise<Said> {
    return this.say(viewer, on, wish, {
      write: (tx, said, isAlone) => this.discussions.create(tx, viewer, on, said, isAlone),
    });
  }

  /** Answers in the discussion that began with a note. */
  reply(viewer: SignedInViewer, on: PlacedNoteable, key: number, wish: NewNote): Promise<Said> {
    return this.say(viewer, on, wish, {
      write: (tx, said) => this.discussions.reply(tx, viewer, on, key, said),
      admit: (tx) => this.discussions.admitReply(tx, viewer, on, key),
    });
  }

  /** Errors: Invalid when there is nothing but commands and none could be carried out; those of the note. */
  private async say(viewer: SignedInViewer, on: PlacedNoteable, wish: NewNote, as: Writing): Promise<Said> {
    const { commands, rest: body } = this.actions.read(on.kind, newBody(wish.body));
    const said = { ...wish, body };
    if (commands.length === 0) return { json: await this.work.run((tx) => as.write(tx, said, true)) };
    const planned = await this.actions.plan({ viewer, kind: on.kind, parent: on.parent }, commands);
    return this.work.run(async (tx) => {
      await this.notes.admit(tx, viewer, on);
      await this.limit.begin(tx, viewer);
      await planned.hold(tx, on);
      let json: string | null = null;
      const { isAnyDone, changes, sentences } = await planned.carryOut(tx, on, async () => {
        if (body === '') await as.admit?.(tx);
        else json = await as.write(tx, said, false);
      });
      if (json !== null) return { json: withChanges(json, changes) };
      const summary = sentences.join(' ');
      if (!isAnyDone) throw new Invalid({ commands_only: [summary] });
      return { changes, summary };
    });
  }
}

/** A note, or a discussion that begins with it, with what its commands changed. */
function withChanges(json: string, changes: Readonly<Record<string, unknown>>): string {
  type Commanded = { commands_changes?: unknown };
  const answer = JSON.parse(json) as Commanded & { readonly notes?: readonly Commanded[] };
  (answer.notes?.[0] ?? answer).commands_changes = changes;
  return JSON.stringify(answer);
}
