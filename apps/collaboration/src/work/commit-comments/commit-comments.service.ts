import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import { validateNewNoteBody } from '../../talk/notes/note.entity';
import { NotesService } from '../../talk/notes/notes.service';
import { CommitCommentsQueries } from './commit-comments.queries';
import { CommitDiffThreads } from './commit-threads';
import type { CommentedLine } from './commit-threads';
import { DiscussedCommits } from './discussed-commits';

/** A new comment. `at` is null for a comment on the whole commit. */
export interface NewComment {
  readonly body: string;
  readonly at: CommentedLine | null;
}

/** Writes comments on commits. Source: reference repositories 4.6. */
@Injectable()
export class CommitCommentsService {
  constructor(
    private readonly work: Work,
    private readonly commits: DiscussedCommits,
    private readonly threads: CommitDiffThreads,
    private readonly notes: NotesService,
    private readonly queries: CommitCommentsQueries,
  ) {}

  /**
   * Writes a comment. If the diff does not add or remove the line, the comment is on the whole commit. Returns JSON
   * text.
   * Errors: NotFound, Refused; those of notes.
   */
  async create(viewer: SignedInViewer, project: ProjectScope, ref: string, { body, at }: NewComment): Promise<string> {
    // Checked before the commit is kept for its comments.
    validateNewNoteBody(body);
    const on = await this.commits.findOrAdd(project, ref);
    const position = at && (await this.threads.placeOf(on, at));
    const plain = { body, internal: false, createdAt: null };
    const newNote = position ? { ...plain, position } : plain;
    return this.work.run(async (tx) => {
      const as = position ? 'open' : 'create';
      const { id } = await this.notes.writeNote(tx, viewer, on, { as, newNote, isAlone: true });
      return this.queries.findWritten(tx, id);
    });
  }
}
