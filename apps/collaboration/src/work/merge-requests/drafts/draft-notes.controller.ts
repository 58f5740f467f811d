import { Controller } from '@nestjs/common';
import { ability, created, Endpoint, noContent, one, page, project, signedIn } from '@rookery/api-v4';
import type { Call, ProjectScope } from '@rookery/api-v4';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { toRequestedPosition } from '../../../talk/notes/discussions/discussions.dto';
import { notePolicy } from '../../../talk/notes/note.policy';
import { NOTE_BODY_LIMIT } from '../../../talk/notes/notes.controller';
import { IdentifyMergeRequest } from '../merge-requests.dto';
import { draftNotePresenter } from './draft-note.presenter';
import { CreateDraftNote, IdentifyDraftNote, UpdateDraftNote } from './draft-notes.dto';
import { DraftNotesQueries } from './draft-notes.queries';
import type { DraftRow } from './draft-notes.queries';
import { DraftNotesService } from './draft-notes.service';
import { PublishDraftNotesService } from './publish-drafts.service';

type DraftCall<P> = Call<P, ProjectScope, SignedInViewer>;
const SOURCE = 'reference repositories 8.15';
const reads = { source: SOURCE, within: project('id', 'copy'), may: signedIn() } as const;
const writes = {
  source: SOURCE,
  within: project('id', 'copy'),
  may: ability(
    'draft_note.write',
    ({ viewer, within }: DraftCall<unknown>) => notePolicy.mayCreate(viewer, within, false),
    { signedIn: true },
  ),
};

/** Notes of reviews that only their author sees until they are published. */
@Controller('projects/:id/merge_requests/:merge_request_iid/draft_notes')
export class DraftNotesController {
  constructor(
    private readonly queries: DraftNotesQueries,
    private readonly drafts: DraftNotesService,
    private readonly publishing: PublishDraftNotesService,
  ) {}

  @Endpoint('GET', '', {
    ...reads,
    about: 'Lists the drafts of the caller on a merge request, oldest first.',
    params: IdentifyMergeRequest,
    answers: page(draftNotePresenter),
  })
  list({ params, viewer, within, page: asked }: DraftCall<IdentifyMergeRequest>): Promise<Page<DraftRow>> {
    return this.queries.list(viewer, within, params.merge_request_iid, asked);
  }

  @Endpoint('POST', '', {
    ...writes,
    about: 'Adds a draft.',
    params: CreateDraftNote,
    answers: created(draftNotePresenter),
    bodyLimit: NOTE_BODY_LIMIT,
  })
  create({ params, viewer, within }: DraftCall<CreateDraftNote>): Promise<DraftRow> {
    const { note: body, commit_id: commitId = null, resolve_discussion: resolves } = params;
    const { in_reply_to_discussion_id: discussionId = null, position } = params;
    const place = position && toRequestedPosition(position);
    const draft = { body, commitId, discussionId, resolves, position: place };
    return this.drafts.create(viewer, within, params.merge_request_iid, draft);
  }

  @Endpoint('POST', 'bulk_publish', {
    ...writes,
    about: 'Publishes all drafts of the caller on a merge request.',
    params: IdentifyMergeRequest,
    answers: noContent(),
    fails: [429],
  })
  publishAll({ params, viewer, within }: DraftCall<IdentifyMergeRequest>): Promise<void> {
    return this.publishing.publishAll(viewer, within, params.merge_request_iid);
  }

  @Endpoint('GET', ':draft_note_id', {
    ...reads,
    about: 'Shows a draft of the caller.',
    params: IdentifyDraftNote,
    answers: one(draftNotePresenter),
  })
  async show({ params, viewer, within }: DraftCall<IdentifyDraftNote>): Promise<DraftRow> {
    const request = await this.queries.requestId(viewer, within, params.merge_request_iid);
    return this.queries.findDraft(viewer, request, params.draft_note_id);
  }

  @Endpoint('PUT', ':draft_note_id', {
    ...writes,
    about: 'Changes a draft.',
    params: UpdateDraftNote,
    answers: one(draftNotePresenter),
    bodyLimit: NOTE_BODY_LIMIT,
  })
  update({ params, viewer, within }: DraftCall<UpdateDraftNote>): Promise<DraftRow> {
    const { merge_request_iid: iid, draft_note_id: id, note: body, position } = params;
    return this.drafts.update(viewer, within, iid, id, { body, position: position && toRequestedPosition(position) });
  }

  @Endpoint('DELETE', ':draft_note_id', {
    ...writes,
    about: 'Deletes a draft.',
    params: IdentifyDraftNote,
    answers: noContent(),
  })
  remove({ params, viewer, within }: DraftCall<IdentifyDraftNote>): Promise<void> {
    return this.drafts.remove(viewer, within, params.merge_request_iid, params.draft_note_id);
  }

  @Endpoint('PUT', ':draft_note_id/publish', {
    ...writes,
    about: 'Publishes a draft as a note.',
    params: IdentifyDraftNote,
    answers: noContent(),
    fails: [429],
  })
  publish({ params, viewer, within }: DraftCall<IdentifyDraftNote>): Promise<void> {
    return this.publishing.publishDraft(viewer, within, params.merge_request_iid, params.draft_note_id);
  }
}
