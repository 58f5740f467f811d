import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { NotFound } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import type { NoteableWithParent } from '../../../base/noteables/planning.policy';
import { lockNoteables } from '../../../base/noteables/noteable-locks';
import { DiscussionsService } from '../../../talk/notes/discussions/discussions.service';
import { NewNotesService } from '../../../talk/notes/new-notes.service';
import type { PreparedNote } from '../../../talk/notes/new-notes.service';
import type { RequestedPosition } from '../../../talk/notes/positions/code-reviews';
import type { PositionFields } from '../../../talk/notes/positions/position-rows';
import { readLineRange } from '../reviews/shown-position';
import { toMergeRequestNoteable } from './draft-notes.service';
import { DraftNotesQueries } from './draft-notes.queries';
import type { DraftRow } from './draft-notes.queries';

const takeDrafts = statement<{ ids: readonly number[]; author: number }, { readonly id: number }>(
  'draft_notes_take',
  'delete from draft_notes where id = any(:ids::bigint[]) and author_id = :author::bigint returning id',
);

/**
 * Publishes drafts as notes. All drafts of a review become notes in one transaction, or none. Source: reference
 * repositories 8.15.
 */
@Injectable()
export class PublishDraftNotesService {
  constructor(
    private readonly work: Work,
    private readonly drafts: DraftNotesQueries,
    private readonly newNotes: NewNotesService,
    private readonly discussions: DiscussionsService,
  ) {}

  /** Publishes one draft. Errors: NotFound; those of the note. */
  async publishDraft(viewer: SignedInViewer, project: ProjectScope, iid: number, id: number): Promise<void> {
    const request = await this.drafts.requestId(viewer, project, iid);
    await this.publishDrafts(viewer, toMergeRequestNoteable(project, iid), request, [
      await this.drafts.findDraft(viewer, request, id),
    ]);
  }

  /** Publishes all drafts of the caller in the order of their creation. Errors: those of the notes. */
  async publishAll(viewer: SignedInViewer, project: ProjectScope, iid: number): Promise<void> {
    const request = await this.drafts.requestId(viewer, project, iid);
    await this.publishDrafts(
      viewer,
      toMergeRequestNoteable(project, iid),
      request,
      await this.drafts.listAll(viewer, request),
    );
  }

  private async publishDrafts(
    viewer: SignedInViewer,
    on: NoteableWithParent,
    request: number,
    drafts: readonly DraftRow[],
  ): Promise<void> {
    if (drafts.length === 0) return;
    const prepared: { readonly draft: DraftRow; readonly note: PreparedNote }[] = [];
    for (const draft of drafts) prepared.push({ draft, note: await this.prepareNote(viewer, on, draft) });
    await this.work.run(async (tx) => {
      await lockNoteables(tx, on.kind, [request]);
      const taken = await tx.run(takeDrafts, { ids: drafts.map(({ id }) => id), author: viewer.userId });
      // Another request published or deleted them.
      if (taken.length < drafts.length) throw new NotFound();
      for (const { draft, note } of prepared) {
        await note.write(tx);
        if (draft.resolves && draft.thread_id !== null)
          await this.discussions.resolveIfAllowed(tx, viewer, on, { key: draft.thread_id, isResolved: true });
      }
    });
    if (drafts.some(({ position }) => position !== null)) await this.newNotes.finish(on);
  }

  private prepareNote(viewer: SignedInViewer, on: NoteableWithParent, draft: DraftRow): Promise<PreparedNote> {
    const { body, thread_id: thread, position, commit_id: commitId } = draft;
    const newNote = { body, internal: false, createdAt: null };
    if (thread !== null) return this.newNotes.prepareReply(viewer, on, thread, newNote);
    if (position === null) return this.newNotes.prepareCreate(viewer, on, newNote);
    return this.newNotes.prepareOpen(viewer, on, {
      ...newNote,
      place: { position: toRequestedPosition(position), commitId },
    });
  }
}

/** The position as a client sent it. */
function toRequestedPosition(shown: PositionFields): RequestedPosition {
  return {
    ...{ baseSha: shown.base_sha, startSha: shown.start_sha, headSha: shown.head_sha, type: shown.position_type },
    ...{ oldPath: shown.old_path, newPath: shown.new_path, lineRange: readLineRange(shown) },
    ...{ oldLine: shown.old_line ?? null, newLine: shown.new_line ?? null },
    ...{ width: shown.width ?? null, height: shown.height ?? null, x: shown.x ?? null, y: shown.y ?? null },
  };
}
