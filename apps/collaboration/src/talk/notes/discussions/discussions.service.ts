import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { Forbidden, NotFound, Refused } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { createNoteableNotFound } from '../../../base/noteables/reader';
import type { NoteableReference } from '../../../base/noteables/reader';
import { NoteLimit } from '../note-limit';
import { notePolicy } from '../note.policy';
import { requireVisibleNote, NotesQueries, toNoteReaderParams } from '../notes.queries';
import { NotesService } from '../notes.service';
import type { NoteKey, NewNote } from '../notes.service';
import { announceAllThreadsResolved } from './all-resolved';
import type { ResolvedThreads } from './all-resolved';
import { DiscussionsQueries } from './discussions.queries';
import type { DiscussionHead } from './discussions.statements';

/** Starts, replies to and resolves threads. Returns JSON text. Source: reference work-tracking 3.1, 3.2. */
@Injectable()
export class DiscussionsService {
  constructor(
    private readonly work: Work,
    private readonly notes: NotesService,
    private readonly noteQueries: NotesQueries,
    private readonly queries: DiscussionsQueries,
    private readonly limit: NoteLimit,
  ) {}

  /** Creates a note that starts a thread. `isAlone` means the same as in `NotesService.writeNote`. */
  async create(
    tx: Tx,
    viewer: SignedInViewer,
    on: NoteableReference,
    newNote: NewNote,
    isAlone: boolean,
  ): Promise<string> {
    const { id } = await this.notes.writeNote(tx, viewer, on, { as: 'open', newNote, isAlone });
    return this.queries.findDiscussion(viewer, on, id, tx);
  }

  /** Creates a reply in a discussion. A reply turns an individual note into a thread. */
  async reply(tx: Tx, viewer: SignedInViewer, on: NoteableReference, key: number, newNote: NewNote): Promise<string> {
    const refuse = (): Promise<never> => this.refuseReply(tx, viewer, on, key);
    const note = await this.notes.writeNote(tx, viewer, on, { as: 'reply', newNote, thread: key, refuse });
    // A reply that was sent as internal must not become public.
    if (newNote.internal && !note.internal) throw new Forbidden();
    const values = { ...toNoteReaderParams(viewer, on), discussion: key, note: note.id };
    const [row] = await tx.run(this.queries.statementsOf(on).statement('answer', values));
    if (!row) throw new NotFound('Discussion');
    return row.json;
  }

  /** Checks whether quick actions without a reply are allowed. Errors: those of a reply. */
  async admitReply(tx: Tx, viewer: SignedInViewer, on: NoteableReference, key: number): Promise<void> {
    this.checkReply(viewer, on, await this.findHead(tx, viewer, on, key));
  }

  /** Resolves or reopens all notes of a thread. Errors: NotFound, Forbidden, TooManyRequests. */
  async resolve(viewer: SignedInViewer, on: NoteableReference, key: number, isResolved: boolean): Promise<string> {
    return this.work.run(async (tx) => {
      if (!(await this.resolveIfAllowed(tx, viewer, on, { key, isResolved }))) throw new Forbidden();
      return this.queries.findDiscussion(viewer, on, key, tx);
    });
  }

  /** Resolves or reopens a thread. Returns false if the viewer may not. Errors: NotFound, TooManyRequests. */
  async resolveIfAllowed(
    tx: Tx,
    viewer: SignedInViewer,
    on: NoteableReference,
    { key, isResolved }: { readonly key: number; readonly isResolved: boolean },
  ): Promise<boolean> {
    const head = await this.findHead(tx, viewer, on, key);
    const people = [head.noteable_author_id, head.author_id];
    const may = head.thread_id !== null && notePolicy.mayResolve(viewer, on.parent, people, head.locked);
    if (!may) return false;
    const values = { noteable: head.noteable_id, discussion: key, is_resolved: isResolved, viewer: viewer.userId };
    const changed = await tx.run(this.queries.statementsOf(on).statement('resolve', values));
    if (isResolved)
      await this.announceAndCountResolved(tx, viewer, { kind: on.kind, id: head.noteable_id, resolved: changed });
    return true;
  }

  /** Resolves or reopens one note of a thread. */
  async resolveNote(
    viewer: SignedInViewer,
    on: NoteableReference,
    { id: noteId, discussion: key }: Required<NoteKey>,
    isResolved: boolean,
  ): Promise<string> {
    const values = { ...toNoteReaderParams(viewer, on), note: noteId };
    return this.work.run(async (tx) => {
      const head = await this.findHead(tx, viewer, on, key);
      const [row] = await tx.run(this.noteQueries.statementsOf(on).statement('subject', values));
      const note = requireVisibleNote(row, on.kind);
      if (note.discussion_id !== key) throw new NotFound();
      const people = [note.noteable_author_id, head.author_id, note.author_id];
      if (!notePolicy.mayResolve(viewer, on.parent, people, note.locked)) throw new Forbidden();
      if (head.thread_id === null || note.system || !on.kind.abilities.includes('threads'))
        throw new Refused('Note is not resolvable');
      const change = { noteable: note.noteable_id, note: noteId, is_resolved: isResolved, viewer: viewer.userId };
      const changed = await tx.run(this.queries.statementsOf(on).statement('resolve_note', change));
      if (isResolved)
        await this.announceAndCountResolved(tx, viewer, { kind: on.kind, id: note.noteable_id, resolved: changed });
      return this.noteQueries.findNote(viewer, on, noteId, tx);
    });
  }

  /** Notes that the last open thread was resolved, which counts as a note. Errors: TooManyRequests, before the commit. */
  private async announceAndCountResolved(tx: Tx, viewer: SignedInViewer, change: ResolvedThreads): Promise<void> {
    if (await announceAllThreadsResolved(tx, change, viewer)) this.limit.countNotes(tx, viewer);
  }

  private async findHead(tx: Tx, viewer: SignedInViewer, on: NoteableReference, key: number): Promise<DiscussionHead> {
    const values = { ...toNoteReaderParams(viewer, on), discussion: key };
    const [row] = await tx.run(this.queries.statementsOf(on).statement('head', values));
    if (!row) throw createNoteableNotFound(on, 'Discussion');
    if (row.id === null) throw new NotFound('Discussion');
    return row;
  }

  /** Throws the reason why no reply was written: one of replies, or else one of notes. */
  private async refuseReply(tx: Tx, viewer: SignedInViewer, on: NoteableReference, key: number): Promise<never> {
    this.checkReply(viewer, on, await this.findHead(tx, viewer, on, key));
    return this.notes.refuseNote(tx, viewer, on);
  }

  private checkReply(viewer: SignedInViewer, on: NoteableReference, head: DiscussionHead): void {
    if (head.locked && !notePolicy.mayCreateLocked(viewer, on.parent)) throw new Forbidden();
    const takesAnswers = !head.system && (head.thread_id !== null || on.kind.abilities.includes('threads'));
    if (!takesAnswers) throw new Refused('Discussion can not be replied to.');
  }
}
