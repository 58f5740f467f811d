import { Injectable } from '@nestjs/common';
import { noteCreated, noteDeleted, noteUpdated } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import type { SignedInViewer } from '@rookery/kernel';
import { Forbidden, Invalid, InvalidParameters, NotFound } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { findMentions } from '../mentions/mentions';
import { publishTextWritten } from '../mentions/text-events';
import type { WrittenText } from '../mentions/text-events';
import { createNoteableNotFound } from '../../base/noteables/reader';
import type { NoteableReference } from '../../base/noteables/reader';
import { validateEditedNoteBody, validateNewNoteBody } from './note.entity';
import { NoteLimit, noteLimitUserId } from './note-limit';
import type { CountedRow } from './note-limit';
import { notePolicy } from './note.policy';
import { CodeReviews } from './positions/code-reviews';
import type { RequestedPosition } from './positions/code-reviews';
import { insertNotePosition, replaceSuggestions } from './positions/position-rows';
import type { NewPosition, NewSuggestion } from './positions/position-rows';
import type { CountedLast, NewNoteKind, NewNoteParams, NewNoteRow } from './note-statement';
import { requireVisibleNote, NotesQueries, toNoteReaderParams } from './notes.queries';

export interface NewNote {
  readonly body: string;
  readonly internal: boolean;
  /** Used only if the author may set it; null means now. */
  readonly createdAt: Date | null;
  /** Head of the merge request that the author knows, for quick actions. */
  readonly headSha?: string | undefined;
  /** Requested place of a new diff thread, and the commit that it is about. */
  readonly place?: { readonly position: RequestedPosition; readonly commitId: string | null };
  /** Place that was checked, of a new diff thread. */
  readonly position?: NewPosition;
  /** Suggestions of a note in a diff thread. */
  readonly suggestions?: readonly NewSuggestion[];
}

/**
 * Requested change of a note. `body` is undefined if only the deprecated `confidential` was sent, which has no effect.
 */
export interface NoteEdit {
  readonly body: string | undefined;
  readonly sentConfidential: boolean;
}

/** Note given in a path. `discussion` is the id of the note that must have started its discussion. */
export interface NoteKey {
  readonly id: number;
  readonly discussion?: number;
}

/**
 * Options of `NotesService.writeNote`. `thread` is the id of the note that started the thread of a reply. `refuse`
 * throws the error if no note was written. `isAlone` means that the transaction makes no other change to the noteable.
 */
interface WriteNoteOptions {
  readonly as: NewNoteKind;
  readonly newNote: NewNote;
  readonly thread?: number;
  readonly refuse?: () => Promise<never>;
  readonly isAlone?: boolean;
}

/**
 * Creates, edits and deletes notes. Returns notes as JSON text. Source: requirements 1 §4 Issue notes; reference
 * work-tracking 2.1-2.5.
 */
@Injectable()
export class NotesService {
  constructor(
    private readonly work: Work,
    private readonly queries: NotesQueries,
    private readonly directory: Directory,
    private readonly limit: NoteLimit,
    readonly reviews: CodeReviews,
  ) {}

  /** Writes a note of any kind, updates the counters and publishes its event. */
  async writeNote(
    tx: Tx,
    viewer: SignedInViewer,
    on: NoteableReference,
    { as, newNote, ...o }: WriteNoteOptions,
  ): Promise<NewNoteRow> {
    const body = validateNewNoteBody(newNote.body);
    const createdAt = notePolicy.mayBackdate(viewer, on.parent) ? newNote.createdAt : null;
    const values = {
      ...toNoteReaderParams(viewer, on),
      body,
      internal: newNote.internal,
      thread: o.thread ?? null,
      created_at: createdAt,
      most_comments: this.limit.settings.commentsPerNoteable,
    };
    const isCountedLast = tx.sendWithCommit !== null && o.isAlone && as !== 'reply';
    const note = isCountedLast
      ? await this.writeAndCountLast(tx, viewer, on, as, values)
      : await this.writeAndCount(tx, viewer, on, as, values);
    if (!note) return o.refuse ? o.refuse() : this.refuseNote(tx, viewer, on);
    const place = { threadId: note.id, noteableType: on.kind.type, noteableId: note.noteable_id };
    if (newNote.position) await insertNotePosition(tx, place, newNote.position);
    if (newNote.suggestions?.length) await replaceSuggestions(tx, note.id, newNote.suggestions);
    tx.emit(
      noteCreated.of({
        aggregateId: note.id,
        actorId: viewer.userId,
        seen: viewer.directory,
        data: {
          ...createNoteEventData(on, note, viewer.userId, note.internal),
          created_at: note.created_at,
          ...(o.thread === undefined ? {} : { thread_id: o.thread }),
        },
      }),
    );
    if (!note.internal) publishTextWritten(tx, viewer, toWrittenText(on, note, { text: body, at: note.created_at }));
    return note;
  }

  /**
   * Writes the note, the noteable's counters and the limit per minute in one statement. It locks the noteable until the
   * commit.
   */
  private async writeAndCount(
    tx: Tx,
    viewer: SignedInViewer,
    on: NoteableReference,
    as: NewNoteKind,
    values: NewNoteParams,
  ): Promise<NewNoteRow | undefined> {
    const isCounted = this.limit.countsEachNote(tx, viewer);
    const statements = this.queries.statementsOf(on);
    if (!isCounted) return (await tx.run(statements.statement(as, values)))[0];
    const limit = { most_notes: this.limit.perMinute, spender: noteLimitUserId(viewer) };
    const [note] = await tx.run(statements.statement(`${as}_counted`, { ...values, ...limit }));
    if (!note) return undefined;
    if (note.id === null) throw await this.limit.findExceeded(tx, viewer);
    this.limit.reportExceeded(note);
    return note;
  }

  /**
   * Writes the note first, and the counters and the limit together with the commit. So concurrent notes on one noteable wait
   * for each other only as long as a commit takes. Source: docs/architecture.md 5.
   */
  private async writeAndCountLast(
    tx: Tx,
    viewer: SignedInViewer,
    on: NoteableReference,
    as: CountedLast,
    values: NewNoteParams,
  ): Promise<NewNoteRow | undefined> {
    const isCounted = this.limit.countsEachNote(tx, viewer);
    const statements = this.queries.statementsOf(on);
    const all = { ...values, most_notes: isCounted ? this.limit.perMinute : null, spender: noteLimitUserId(viewer) };
    const [note] = await tx.run(statements.statement(`${as}_first`, all));
    tx.sendWithCommit!({
      statement: (patienceMs) =>
        statements.statement(isCounted ? 'count_limited' : 'count', { ...all, patience_ms: patienceMs }),
      done: ([counted]) => {
        if (isCounted) this.limit.reportExceeded(counted as CountedRow);
      },
    });
    return note;
  }

  async update(viewer: SignedInViewer, on: NoteableReference, named: NoteKey, edit: NoteEdit): Promise<string> {
    if (edit.body === undefined && !(edit.sentConfidential && on.kind.allowsConfidentialOnlyNoteUpdate)) {
      throw new InvalidParameters(['body is missing']);
    }
    const body = edit.body === undefined ? null : validateEditedNoteBody(edit.body);
    const values = { ...toNoteReaderParams(viewer, on), note: named.id };
    const statements = this.queries.statementsOf(on);
    const suggestions =
      body === null ? null : await this.reviews.findReview(on)?.suggest(viewer, on, { note: named.id }, body);
    return this.work.run(async (tx) => {
      const note = await this.findNoteToChange(tx, viewer, on, named);
      if (body === null || body === note.body) return this.queries.findNote(viewer, on, named.id, tx);
      const mentionedBefore = await this.findMentionedIds(tx, note.body);
      if (addsMention(note.body, body)) this.limit.countNotes(tx, viewer);
      if (suggestions) await replaceSuggestions(tx, note.id, suggestions);
      const [edited] = await tx.run(statements.statement('edit', { ...values, body }));
      // The noteable was deleted while this transaction waited for it.
      if (!edited) throw new NotFound();
      tx.emit(
        noteUpdated.of({
          aggregateId: note.id,
          actorId: viewer.userId,
          seen: viewer.directory,
          data: {
            ...createNoteEventData(on, note, note.author_id, note.internal),
            mentioned_before: mentionedBefore,
            changed_at: edited.changed_at,
          },
        }),
      );
      if (!note.internal)
        publishTextWritten(tx, viewer, toWrittenText(on, note, { text: body, at: edited.changed_at }));
      return edited.json;
    });
  }

  /** Deletes a note. `check` gets the time of the last change and may throw. */
  async remove(
    viewer: SignedInViewer,
    on: NoteableReference,
    named: NoteKey,
    check: (updatedAt: Date) => void,
  ): Promise<void> {
    await this.work.run(async (tx) => {
      const note = await this.findNoteToChange(tx, viewer, on, named);
      check(note.updated_at);
      const removed = await tx.run(this.queries.statementsOf(on).statement('remove', { note: note.id }));
      if (removed.length === 0) throw new NotFound();
      tx.emit(
        noteDeleted.of({
          aggregateId: note.id,
          actorId: viewer.userId,
          seen: viewer.directory,
          data: createNoteEventData(on, note, note.author_id, note.internal),
        }),
      );
    });
  }

  private async findNoteToChange(tx: Tx, viewer: SignedInViewer, on: NoteableReference, { id, discussion }: NoteKey) {
    const values = { ...toNoteReaderParams(viewer, on), note: id };
    const [row] = await tx.run(this.queries.statementsOf(on).statement('subject', values));
    if (!row) throw createNoteableNotFound(on);
    const note = requireVisibleNote(row, on.kind);
    if (discussion !== undefined && note.discussion_id !== discussion) throw new NotFound();
    const subject = { authorId: note.author_id, system: note.system };
    if (!notePolicy.mayEdit(viewer, on.parent, subject, note.locked)) throw new Forbidden();
    return note;
  }

  /** Returns the ids of the users mentioned in the previous text; they are not notified again. */
  private async findMentionedIds(tx: Tx, body: string): Promise<number[]> {
    const users = await this.directory.usersByUsername(findMentions(body).all, tx);
    return [...users.values()].map((user) => user.id);
  }

  /**
   * Checks whether quick actions without a note are allowed. Errors: those of a note, except for the limits on their
   * number.
   */
  async admitNote(tx: Tx, viewer: SignedInViewer, on: NoteableReference): Promise<void> {
    const statement = this.queries.statementsOf(on).statement('refusal', toNoteReaderParams(viewer, on));
    const [facts] = await tx.run(statement);
    if (!facts) throw new NotFound(on.kind.resource);
    if (facts.locked) throw new Forbidden();
  }

  /** Throws the reason why no note was written. */
  async refuseNote(tx: Tx, viewer: SignedInViewer, on: NoteableReference): Promise<never> {
    const statement = this.queries.statementsOf(on).statement('refusal', toNoteReaderParams(viewer, on));
    const [facts] = await tx.run(statement);
    if (!facts) throw new NotFound(on.kind.resource);
    if (facts.locked) throw new Forbidden();
    if (facts.comments >= this.limit.settings.commentsPerNoteable) {
      throw new Invalid({ base: ['Maximum number of comments exceeded'] });
    }
    throw await this.limit.findExceeded(tx, viewer);
  }
}

/** Whether a change adds a mention, which notifies the mentioned user as a new note does. */
function addsMention(before: string, after: string): boolean {
  const known = new Set(findMentions(before).all.map((name) => name.toLowerCase()));
  return findMentions(after).all.some((name) => !known.has(name.toLowerCase()));
}

function toWrittenText(
  { kind }: NoteableReference,
  note: { readonly id: number; readonly noteable_id: number },
  content: Pick<WrittenText, 'text' | 'at'>,
): WrittenText {
  return { about: { type: kind.type, id: note.noteable_id }, noteId: note.id, ...content };
}

function createNoteEventData(
  { kind, parent }: NoteableReference,
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
