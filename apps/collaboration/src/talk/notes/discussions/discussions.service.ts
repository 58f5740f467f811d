import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { Forbidden, NotFound, Refused } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import type { NamedNoteable } from '../../../base/noteables/reader';
import { notePolicy } from '../note.policy';
import { foundNote, NotesQueries, readerValues } from '../notes.queries';
import { NotesService } from '../notes.service';
import type { NamedNote, NewNote } from '../notes.service';
import { DiscussionsQueries } from './discussions.queries';
import type { DiscussionHead } from './discussions.statements';

/** Threads: beginning one, answering in one, resolving. Answers are JSON text. Source: reference work-tracking 3.1, 3.2. */
@Injectable()
export class DiscussionsService {
  constructor(
    private readonly work: Work,
    private readonly notes: NotesService,
    private readonly noteQueries: NotesQueries,
    private readonly queries: DiscussionsQueries,
  ) {}

  /** Shape: `isAlone` as in `NotesService.write`. */
  async create(tx: Tx, viewer: SignedInViewer, on: NamedNoteable, wish: NewNote, isAlone: boolean): Promise<string> {
    const { id } = await this.notes.write(tx, viewer, on, { as: 'open', wish, isAlone });
    return this.queries.one(viewer, on, id, tx);
  }

  /** A note in a discussion; one that stood alone begins a thread by it. */
  async reply(tx: Tx, viewer: SignedInViewer, on: NamedNoteable, key: number, wish: NewNote): Promise<string> {
    const refuse = (): Promise<never> => this.refuseReply(tx, viewer, on, key);
    const note = await this.notes.write(tx, viewer, on, { as: 'reply', wish, thread: key, refuse });
    // What is meant for few must not be shown to all.
    if (wish.internal && !note.internal) throw new Forbidden();
    const values = { ...readerValues(viewer, on), discussion: key, note: note.id };
    const [row] = await tx.run(this.queries.statementsOf(on).of('answer', values));
    if (!row) throw new NotFound('Discussion');
    return row.json;
  }

  /** For an answer that is no note. Errors: those for which no answer would be made. */
  async admitReply(tx: Tx, viewer: SignedInViewer, on: NamedNoteable, key: number): Promise<void> {
    this.judgeReply(viewer, on, await this.head(tx, viewer, on, key));
  }

  /** All notes of a thread, or none of them any more. */
  async resolve(viewer: SignedInViewer, on: NamedNoteable, key: number, isResolved: boolean): Promise<string> {
    return this.work.run(async (tx) => {
      const head = await this.head(tx, viewer, on, key);
      const people = [head.noteable_author_id, head.author_id];
      const may = head.thread_id !== null && notePolicy.mayResolve(viewer, on.parent, people, head.locked);
      if (!may) throw new Forbidden();
      const values = { noteable: head.noteable_id, discussion: key, is_resolved: isResolved, viewer: viewer.userId };
      await tx.run(this.queries.statementsOf(on).of('resolve', values));
      return this.queries.one(viewer, on, key, tx);
    });
  }

  /** One note of a thread. */
  async resolveNote(
    viewer: SignedInViewer,
    on: NamedNoteable,
    { id: noteId, discussion: key }: Required<NamedNote>,
    isResolved: boolean,
  ): Promise<string> {
    const values = { ...readerValues(viewer, on), note: noteId };
    return this.work.run(async (tx) => {
      const head = await this.head(tx, viewer, on, key);
      const [row] = await tx.run(this.noteQueries.statementsOf(on).of('subject', values));
      const note = foundNote(row, on.kind);
      if (note.discussion_id !== key) throw new NotFound();
      const people = [note.noteable_author_id, head.author_id, note.author_id];
      if (!notePolicy.mayResolve(viewer, on.parent, people, note.locked)) throw new Forbidden();
      if (head.thread_id === null || !on.kind.abilities.includes('threads'))
        throw new Refused('Note is not resolvable');
      const change = { noteable: note.noteable_id, note: noteId, is_resolved: isResolved, viewer: viewer.userId };
      await tx.run(this.queries.statementsOf(on).of('resolve_note', change));
      return this.noteQueries.one(viewer, on, noteId, tx);
    });
  }

  private async head(tx: Tx, viewer: SignedInViewer, on: NamedNoteable, key: number): Promise<DiscussionHead> {
    const values = { ...readerValues(viewer, on), discussion: key };
    const [row] = await tx.run(this.queries.statementsOf(on).of('head', values));
    if (!row) throw new NotFound(on.kind.resource);
    if (row.id === null) throw new NotFound('Discussion');
    return row;
  }

  /** What stands against an answer besides what stands against any note. */
  private async refuseReply(tx: Tx, viewer: SignedInViewer, on: NamedNoteable, key: number): Promise<never> {
    this.judgeReply(viewer, on, await this.head(tx, viewer, on, key));
    return this.notes.refuse(tx, viewer, on);
  }

  private judgeReply(viewer: SignedInViewer, on: NamedNoteable, head: DiscussionHead): void {
    if (head.locked && !notePolicy.mayCreateLocked(viewer, on.parent)) throw new Forbidden();
    const takesAnswers = !head.system && (head.thread_id !== null || on.kind.abilities.includes('threads'));
    if (!takesAnswers) throw new Refused('Discussion can not be replied to.');
  }
}
