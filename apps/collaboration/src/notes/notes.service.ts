import { Inject, Injectable } from '@nestjs/common';
import { noteCreated, noteDeleted, noteUpdated } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import type { SignedInViewer } from '@rookery/kernel';
import { Forbidden, InvalidParameters, NotFound, TooManyRequests } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { notesSettings } from '../collaboration.config';
import type { NotesSettings } from '../collaboration.config';
import { mentionsIn } from '../mentions/mentions';
import { ISSUE } from '../noteables/noteable-kinds';
import { readerOf } from '../noteables/reader';
import type { ParentFacts } from '../noteables/reader';
import { editedBody, newBody, refusedNote } from './note.entity';
import { notePolicy } from './note.policy';
import { foundNote, NotesQueries, readerValues, readsIssues } from './notes.queries';

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

/** A note that is to be changed, its noteable locked. */
interface Subject {
  readonly noteable_id: number;
  readonly noteable_iid: number | null;
  readonly locked: boolean;
  readonly id: number | null;
  readonly author_id: number;
  readonly body: string;
  readonly system: boolean;
  readonly internal: boolean;
  readonly updated_at: Date;
  readonly hidden: boolean;
}

/** Writing notes on issues; answers are the note as JSON text. Source: requirements 1 §4 Issue notes; reference work-tracking 2.1-2.5. */
@Injectable()
export class NotesService {
  constructor(
    private readonly work: Work,
    private readonly queries: NotesQueries,
    private readonly directory: Directory,
    @Inject(notesSettings.token) private readonly settings: NotesSettings,
  ) {}

  /** One statement for the note, its noteable's counters and the limit of notes a minute; one commit. */
  async create(viewer: SignedInViewer, project: ParentFacts, iid: number, wish: NewNote): Promise<string> {
    const body = newBody(wish.body);
    const reader = readerValues(project.id, iid, readsIssues(readerOf(viewer, project)));
    const createdAt = notePolicy.mayBackdate(viewer, project) ? wish.createdAt : null;
    const isCounted = this.isCounted(viewer);
    const { create, createCounted } = this.queries.statements;
    const values = [...reader, body, wish.internal, createdAt, this.settings.commentsPerNoteable];
    return this.work.run(async (tx) => {
      const [note] = await tx.prepared<CreatedRow>(
        isCounted ? createCounted : create,
        isCounted ? [...values, this.settings.createsPerMinute] : values,
      );
      if (!note) return this.refuse(tx, reader);
      tx.emit(
        noteCreated.of({
          aggregateId: note.id,
          actorId: viewer.userId,
          data: { ...facts(project, note, viewer.userId, wish.internal), created_at: note.created_at },
        }),
      );
      return note.json;
    });
  }

  async edit(
    viewer: SignedInViewer,
    project: ParentFacts,
    iid: number,
    noteId: number,
    edit: NoteEdit,
  ): Promise<string> {
    if (edit.body === undefined && !edit.sentConfidential) throw new InvalidParameters(['body is missing']);
    const body = edit.body === undefined ? null : editedBody(edit.body);
    const values = [...readerValues(project.id, iid, readsIssues(readerOf(viewer, project))), noteId];
    return this.work.run(async (tx) => {
      const note = await this.subject(tx, viewer, project, values);
      if (body === null || body === note.body) {
        const [same] = await tx.prepared<{ json: string }>(this.queries.statements.one, values);
        return same!.json;
      }
      const mentionedBefore = await this.named(tx, note.body);
      const [edited] = await tx.prepared<{ changed_at: string; json: string }>(this.queries.statements.edit, [
        ...values,
        body,
      ]);
      tx.emit(
        noteUpdated.of({
          aggregateId: note.id,
          actorId: viewer.userId,
          data: {
            ...facts(project, note, note.author_id, note.internal),
            mentioned_before: mentionedBefore,
            changed_at: edited!.changed_at,
          },
        }),
      );
      return edited!.json;
    });
  }

  /** `check` sees when the note changed last and may refuse. */
  async remove(
    viewer: SignedInViewer,
    project: ParentFacts,
    iid: number,
    noteId: number,
    check: (updatedAt: Date) => void,
  ): Promise<void> {
    const values = [...readerValues(project.id, iid, readsIssues(readerOf(viewer, project))), noteId];
    await this.work.run(async (tx) => {
      const note = await this.subject(tx, viewer, project, values);
      check(note.updated_at);
      const gone = await tx.prepared(this.queries.statements.remove, [note.id]);
      if (gone.length === 0) throw new NotFound();
      tx.emit(
        noteDeleted.of({
          aggregateId: note.id,
          actorId: viewer.userId,
          data: facts(project, note, note.author_id, note.internal),
        }),
      );
    });
  }

  private async subject(tx: Tx, viewer: SignedInViewer, project: ParentFacts, values: readonly unknown[]) {
    const [row] = await tx.prepared<Subject>(this.queries.statements.subject, values);
    const note = foundNote(row);
    const subject = { authorId: note.author_id, system: note.system };
    if (!notePolicy.mayEdit(viewer, project, subject, note.locked)) throw new Forbidden();
    return note;
  }

  /** Ids of the people whom a text names already; they are not told of it again. */
  private async named(tx: Tx, body: string): Promise<number[]> {
    const users = await this.directory.usersByUsername(mentionsIn(body).all, tx);
    return [...users.values()].map((user) => user.id);
  }

  private isCounted(viewer: SignedInViewer): boolean {
    const { rateLimits, createsPerMinute, unlimitedUsernames } = this.settings;
    return rateLimits && createsPerMinute > 0 && !unlimitedUsernames.includes(viewer.username);
  }

  private async refuse(tx: Tx, reader: readonly unknown[]): Promise<never> {
    const [why] = await tx.prepared<RefusalRow>(this.queries.statements.refusal, reader);
    if (!why) throw new NotFound(ISSUE.resource);
    if (why.locked) throw new Forbidden();
    if (why.comments >= this.settings.commentsPerNoteable) {
      throw refusedNote('base', 'Maximum number of comments exceeded');
    }
    throw new TooManyRequests(Math.max(1, why.wait_seconds ?? 1));
  }
}

interface CreatedRow {
  readonly id: number;
  readonly noteable_id: number;
  readonly noteable_iid: number | null;
  readonly created_at: string;
  readonly json: string;
}

interface RefusalRow {
  readonly locked: boolean;
  readonly comments: number;
  readonly wait_seconds: number | null;
}

function facts(
  project: ParentFacts,
  note: { readonly id: number; readonly noteable_id: number; readonly noteable_iid: number | null },
  authorId: number,
  internal: boolean,
) {
  return {
    note_id: note.id,
    noteable_type: ISSUE.type,
    noteable_id: note.noteable_id,
    noteable_iid: note.noteable_iid,
    project_id: project.id,
    group_id: null,
    author_id: authorId,
    internal,
  };
}
