import { Inject, Injectable } from '@nestjs/common';
import { noteCreated, noteDeleted, noteUpdated } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import type { SignedInViewer } from '@rookery/kernel';
import { Forbidden, Invalid, InvalidParameters, NotFound } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { mentionsIn } from '../mentions/mentions';
import { tellOfText } from '../mentions/referring-texts';
import type { WrittenText } from '../mentions/referring-texts';
import type { NamedNoteable } from '../../base/noteables/reader';
import { editedBody, newBody } from './note.entity';
import { NoteLimit, spenderOf } from './note-limit';
import type { CountedRow } from './note-limit';
import { notePolicy } from './note.policy';
import { notesSettings } from './notes.config';
import type { NotesSettings } from './notes.config';
import type { CountedLast, NewNoteKind, NewNoteParams, NewNoteRow } from './note-statement';
import { foundNote, NotesQueries, readerValues } from './notes.queries';

export interface NewNote {
  readonly body: string;
  readonly internal: boolean;
  /** Back-dated when the author may; null = now. */
  readonly createdAt: Date | null;
}

/** Shape: `body` undefined = only the deprecated `confidential` was sent, which changes nothing. */
export interface NoteEdit {
  readonly body: string | undefined;
  readonly sentConfidential: boolean;
}

/** The note that a path names. Shape: `discussion` is the note that its discussion must have begun with. */
export interface NamedNote {
  readonly id: number;
  readonly discussion?: number;
}

/**
 * How a note is written. Shape: `thread` is what an answer answers; `refuse` tells first what stands against it;
 * `isAlone` says of one that begins a discussion that its transaction does nothing else with the noteable.
 */
interface Writing {
  readonly as: NewNoteKind;
  readonly wish: NewNote;
  readonly thread?: number;
  readonly refuse?: () => Promise<never>;
  readonly isAlone?: boolean;
}

/** Writing notes; answers are the note as JSON text. Source: requirements 1 §4 Issue notes; reference work-tracking 2.1-2.5. */
@Injectable()
export class NotesService {
  constructor(
    private readonly work: Work,
    private readonly queries: NotesQueries,
    private readonly directory: Directory,
    private readonly limit: NoteLimit,
    @Inject(notesSettings.token) private readonly settings: NotesSettings,
  ) {}

  /** A note of any sort, counted and announced. */
  async write(tx: Tx, viewer: SignedInViewer, on: NamedNoteable, { as, wish, ...o }: Writing): Promise<NewNoteRow> {
    const body = newBody(wish.body);
    const createdAt = notePolicy.mayBackdate(viewer, on.parent) ? wish.createdAt : null;
    const values = {
      ...readerValues(viewer, on),
      body,
      internal: wish.internal,
      thread: o.thread ?? null,
      created_at: createdAt,
      most_comments: this.settings.commentsPerNoteable,
    };
    const isCountedLast = tx.withCommit !== null && o.isAlone && as !== 'reply';
    const note = isCountedLast
      ? await this.writeFirst(tx, viewer, on, as, values)
      : await this.writeAtOnce(tx, viewer, on, as, values);
    if (!note) return o.refuse ? o.refuse() : this.refuse(tx, viewer, on);
    tx.emit(
      noteCreated.of({
        aggregateId: note.id,
        actorId: viewer.userId,
        seen: viewer.directory,
        data: {
          ...facts(on, note, viewer.userId, note.internal),
          created_at: note.created_at,
          ...(o.thread === undefined ? {} : { thread_id: o.thread }),
        },
      }),
    );
    if (!note.internal) tellOfText(tx, viewer, textOf(on, note, { text: body, at: note.created_at }));
    return note;
  }

  /** One statement for the note, its noteable's counters and the limit of notes a minute: the noteable is held from then on. */
  private async writeAtOnce(
    tx: Tx,
    viewer: SignedInViewer,
    on: NamedNoteable,
    as: NewNoteKind,
    values: NewNoteParams,
  ): Promise<NewNoteRow | undefined> {
    const isCounted = this.limit.holdsIn(tx, viewer);
    const statements = this.queries.statementsOf(on);
    if (!isCounted) return (await tx.run(statements.of(as, values)))[0];
    const limit = { most_notes: this.limit.perMinute, spender: spenderOf(viewer) };
    const [note] = await tx.run(statements.of(`${as}_counted`, { ...values, ...limit }));
    if (!note) return undefined;
    if (note.id === null) throw await this.limit.usedBy(tx, viewer);
    this.limit.tell(note);
    return note;
  }

  /**
   * The note first; the counters and the limit follow with the commit, so that those who talk about one thing at once take
   * turns for no longer than a commit takes. Source: docs/architecture.md 5.
   */
  private async writeFirst(
    tx: Tx,
    viewer: SignedInViewer,
    on: NamedNoteable,
    as: CountedLast,
    values: NewNoteParams,
  ): Promise<NewNoteRow | undefined> {
    const isCounted = this.limit.holdsIn(tx, viewer);
    const statements = this.queries.statementsOf(on);
    const all = { ...values, most_notes: isCounted ? this.limit.perMinute : null, spender: spenderOf(viewer) };
    const [note] = await tx.run(statements.of(`${as}_first`, all));
    tx.withCommit!({
      statement: (patienceMs) =>
        statements.of(isCounted ? 'count_limited' : 'count', { ...all, patience_ms: patienceMs }),
      done: ([counted]) => {
        if (isCounted) this.limit.tell(counted as CountedRow);
      },
    });
    return note;
  }

  async update(viewer: SignedInViewer, on: NamedNoteable, named: NamedNote, edit: NoteEdit): Promise<string> {
    if (edit.body === undefined && !(edit.sentConfidential && on.kind.takesNoteFlagAlone)) {
      throw new InvalidParameters(['body is missing']);
    }
    const body = edit.body === undefined ? null : editedBody(edit.body);
    const values = { ...readerValues(viewer, on), note: named.id };
    const statements = this.queries.statementsOf(on);
    return this.work.run(async (tx) => {
      const note = await this.subject(tx, viewer, on, named);
      if (body === null || body === note.body) return this.queries.one(viewer, on, named.id, tx);
      const mentionedBefore = await this.named(tx, note.body);
      if (namesAnew(note.body, body)) this.limit.count(tx, viewer);
      const [edited] = await tx.run(statements.of('edit', { ...values, body }));
      // Deleted while the noteable was waited for.
      if (!edited) throw new NotFound();
      tx.emit(
        noteUpdated.of({
          aggregateId: note.id,
          actorId: viewer.userId,
          seen: viewer.directory,
          data: {
            ...facts(on, note, note.author_id, note.internal),
            mentioned_before: mentionedBefore,
            changed_at: edited.changed_at,
          },
        }),
      );
      if (!note.internal) tellOfText(tx, viewer, textOf(on, note, { text: body, at: edited.changed_at }));
      return edited.json;
    });
  }

  /** `check` sees when the note changed last and may refuse. */
  async remove(
    viewer: SignedInViewer,
    on: NamedNoteable,
    named: NamedNote,
    check: (updatedAt: Date) => void,
  ): Promise<void> {
    await this.work.run(async (tx) => {
      const note = await this.subject(tx, viewer, on, named);
      check(note.updated_at);
      const gone = await tx.run(this.queries.statementsOf(on).of('remove', { note: note.id }));
      if (gone.length === 0) throw new NotFound();
      tx.emit(
        noteDeleted.of({
          aggregateId: note.id,
          actorId: viewer.userId,
          seen: viewer.directory,
          data: facts(on, note, note.author_id, note.internal),
        }),
      );
    });
  }

  private async subject(tx: Tx, viewer: SignedInViewer, on: NamedNoteable, { id, discussion }: NamedNote) {
    const values = { ...readerValues(viewer, on), note: id };
    const [row] = await tx.run(this.queries.statementsOf(on).of('subject', values));
    const note = foundNote(row, on.kind);
    if (discussion !== undefined && note.discussion_id !== discussion) throw new NotFound();
    const subject = { authorId: note.author_id, system: note.system };
    if (!notePolicy.mayEdit(viewer, on.parent, subject, note.locked)) throw new Forbidden();
    return note;
  }

  /** Ids of the people whom a text names already; they are not told of it again. */
  private async named(tx: Tx, body: string): Promise<number[]> {
    const users = await this.directory.usersByUsername(mentionsIn(body).all, tx);
    return [...users.values()].map((user) => user.id);
  }

  /**
   * For what is said but is no note. Errors: those for which no note would be made, but for the number of them.
   */
  async admit(tx: Tx, viewer: SignedInViewer, on: NamedNoteable): Promise<void> {
    const statement = this.queries.statementsOf(on).of('refusal', readerValues(viewer, on));
    const [why] = await tx.run(statement);
    if (!why) throw new NotFound(on.kind.resource);
    if (why.locked) throw new Forbidden();
  }

  /** Says why no note was made. */
  async refuse(tx: Tx, viewer: SignedInViewer, on: NamedNoteable): Promise<never> {
    const statement = this.queries.statementsOf(on).of('refusal', readerValues(viewer, on));
    const [why] = await tx.run(statement);
    if (!why) throw new NotFound(on.kind.resource);
    if (why.locked) throw new Forbidden();
    if (why.comments >= this.settings.commentsPerNoteable) {
      throw new Invalid({ base: ['Maximum number of comments exceeded'] });
    }
    throw await this.limit.usedBy(tx, viewer);
  }
}

/** Whoever a change names first is told of it, as by a new note. */
function namesAnew(before: string, after: string): boolean {
  const known = new Set(mentionsIn(before).all.map((name) => name.toLowerCase()));
  return mentionsIn(after).all.some((name) => !known.has(name.toLowerCase()));
}

function textOf(
  { kind }: NamedNoteable,
  note: { readonly id: number; readonly noteable_id: number },
  said: Pick<WrittenText, 'text' | 'at'>,
): WrittenText {
  return { about: { type: kind.type, id: note.noteable_id }, noteId: note.id, ...said };
}

function facts(
  { kind, parent }: NamedNoteable,
  note: { readonly id: number; readonly noteable_id: number; readonly noteable_iid: number | null },
  authorId: number,
  internal: boolean,
) {
  return {
    note_id: note.id,
    noteable_type: kind.type,
    noteable_id: note.noteable_id,
    noteable_iid: note.noteable_iid,
    project_id: kind.parent === 'project' ? parent.id : null,
    group_id: kind.parent === 'group' ? parent.id : null,
    author_id: authorId,
    internal,
  };
}
