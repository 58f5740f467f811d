import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Invalid, lengthProblems, NotFound } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { NoteableWithParent } from '../../../base/noteables/planning.policy';
import { DiscussionsQueries } from '../../../talk/notes/discussions/discussions.queries';
import { parseDiscussionKey } from '../../../talk/notes/discussions/threads-sql';
import { NotesService } from '../../../talk/notes/notes.service';
import type { RequestedPosition } from '../../../talk/notes/positions/code-reviews';
import type { PositionFields } from '../../../talk/notes/positions/position-rows';
import { mergeRequestKind } from '../merge-request.kind';
import { DraftNote } from './draft-note.entity';
import { DraftNotesQueries } from './draft-notes.queries';
import type { DraftRow } from './draft-notes.queries';

/** Fields of a draft. Undefined fields keep their values on update. */
export interface DraftFields {
  readonly body?: string | undefined;
  readonly position?: RequestedPosition | undefined;
}
export interface NewDraft extends DraftFields {
  readonly body: string;
  readonly commitId: string | null;
  /** Id of a discussion in the API; null for a note of its own. */
  readonly discussionId: string | null;
  readonly resolves: boolean;
}

const MAX_LENGTH = 1_000_000;
const MAX_DRAFTS = 1000;
/** Largest size of the drafts of a review, because all are published in one transaction. Units: bytes. */
const MAX_BYTES = 4 * 1024 ** 2;
/** Counts the drafts of an author on a merge request, except the one that the request changes. */
const otherDraftsOf = statement<
  { request: number; author: number; changed: number | null },
  { readonly count: number; readonly bytes: number }
>(
  'draft_notes_others',
  `select count(*)::integer as count, coalesce(sum(octet_length(d.body)), 0)::integer as bytes from draft_notes d
   where d.merge_request_id = :request::bigint and d.author_id = :author::bigint and d.id is distinct from :changed::bigint`,
);

/** Writes drafts of notes on merge requests. Source: reference repositories 8.15. */
@Injectable()
export class DraftNotesService {
  constructor(
    private readonly work: Work,
    private readonly queries: DraftNotesQueries,
    private readonly notes: NotesService,
    private readonly discussions: DiscussionsQueries,
  ) {}

  /** Errors: NotFound, Forbidden, Invalid; those of the place. */
  async create(viewer: SignedInViewer, project: ProjectScope, iid: number, draft: NewDraft): Promise<DraftRow> {
    const on = toMergeRequestNoteable(project, iid);
    const request = await this.queries.requestId(viewer, project, iid);
    assertValidDraftNoteBody(draft.body);
    const threadId =
      draft.discussionId === null ? null : await this.findVisibleThreadId(viewer, on, draft.discussionId);
    const placed = threadId === null ? await this.resolveDraftPosition(viewer, on, draft) : {};
    return this.work.run(async (tx) => {
      await this.notes.admitNote(tx, viewer, on);
      await this.assertWithinDraftLimits(tx, viewer, request, { id: null, body: draft.body });
      const { body, resolves, commitId } = draft;
      const own = { mergeRequestId: request, authorId: viewer.userId, body, threadId, resolves, commitId };
      const made = tx.manager.create(DraftNote, { ...own, ...placed });
      await tx.manager.insert(DraftNote, made);
      return this.queries.findDraft(viewer, request, made.id, tx);
    });
  }

  async update(
    viewer: SignedInViewer,
    project: ProjectScope,
    iid: number,
    id: number,
    fields: DraftFields,
  ): Promise<DraftRow> {
    const request = await this.queries.requestId(viewer, project, iid);
    const before = await this.queries.findDraft(viewer, request, id);
    if (fields.body !== undefined) assertValidDraftNoteBody(fields.body);
    const body = fields.body ?? before.body;
    const position = before.thread_id === null ? fields.position : undefined;
    const placed = await this.resolveDraftPosition(viewer, toMergeRequestNoteable(project, iid), {
      body,
      commitId: before.commit_id,
      position,
    });
    return this.work.run(async (tx) => {
      await this.assertWithinDraftLimits(tx, viewer, request, { id, body });
      await tx.manager.update(DraftNote, { id, authorId: viewer.userId }, { body, ...placed });
      return this.queries.findDraft(viewer, request, id, tx);
    });
  }

  async remove(viewer: SignedInViewer, project: ProjectScope, iid: number, id: number): Promise<void> {
    const request = await this.queries.requestId(viewer, project, iid);
    await this.work.run(async (tx) => {
      const own = { id, mergeRequestId: request, authorId: viewer.userId };
      const { affected } = await tx.manager.delete(DraftNote, own);
      if (affected === 0) throw new NotFound();
    });
  }

  /** Errors: Invalid for a discussion that the author does not see. */
  private async findVisibleThreadId(
    viewer: SignedInViewer,
    on: NoteableWithParent,
    discussionId: string,
  ): Promise<number> {
    const key = parseDiscussionKey(discussionId);
    try {
      await this.discussions.findDiscussion(viewer, on, key);
    } catch (error) {
      if (error instanceof NotFound) throw new Invalid({ base: ['Thread to reply to cannot be found'] });
      throw error;
    }
    return key;
  }

  /** Checks the place of a draft, and returns its columns; none without a place. */
  private async resolveDraftPosition(
    viewer: SignedInViewer,
    on: NoteableWithParent,
    { position, commitId, body }: Pick<NewDraft, 'commitId' | 'body' | 'position'>,
  ): Promise<{ position?: PositionFields; lineCode?: string | null }> {
    if (!position) return {};
    const prepared = await this.notes.reviews.findReview(on)!.open(viewer, on, { position, commitId, body });
    return { position: prepared.position.original, lineCode: prepared.position.lineCode };
  }

  private async assertWithinDraftLimits(
    tx: Tx,
    viewer: SignedInViewer,
    mergeRequestId: number,
    { id, body }: { readonly id: number | null; readonly body: string },
  ): Promise<void> {
    const [others] = await tx.run(otherDraftsOf, { request: mergeRequestId, author: viewer.userId, changed: id });
    if (others!.count >= MAX_DRAFTS) throw new Invalid({ base: ['Maximum number of draft notes exceeded'] });
    if (others!.bytes + Buffer.byteLength(body) > MAX_BYTES)
      throw new Invalid({ base: ['Maximum size of draft notes exceeded'] });
  }
}

/** Names a merge request by its number. */
export function toMergeRequestNoteable(project: ProjectScope, iid: number): NoteableWithParent {
  return { kind: mergeRequestKind, parent: project, by: 'iid', named: iid };
}

function assertValidDraftNoteBody(body: string): void {
  const note = body.trim() === '' ? ["can't be blank"] : lengthProblems(body, MAX_LENGTH);
  if (note.length > 0) throw new Invalid({ note });
}
