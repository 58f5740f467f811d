import { Controller } from '@nestjs/common';
import {
  ability,
  checkUnmodifiedSince,
  created,
  Endpoint,
  JsonText,
  none,
  one,
  page,
  project,
  signedIn,
} from '@rookery/api-v4';
import type { Call, JsonPage, ProjectScope } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { ISSUE } from '../noteables/noteable-kinds';
import { notePolicy } from './note.policy';
import { noteShape } from './note.shape';
import { CreateNote, EditNote, ListNotes, OneNote } from './notes.dto';
import { NotesQueries } from './notes.queries';
import { NotesService } from './notes.service';

/** Only for the document: the statements build the JSON. */
const note = noteShape({
  externalUrl: 'http://localhost',
  viewer: 'null',
  isAdmin: 'false',
  noteableType: ISSUE.type,
  noteableIid: 'null',
}).presenter;

/** A million characters, escaped. Units: bytes. Source: reliability 6.3. */
const BODY_LIMIT = 8 * 1024 * 1024;

type NoteCall<P> = Call<P, ProjectScope, SignedInViewer>;

@Controller('projects/:id/issues/:issue_iid/notes')
export class IssueNotesController {
  constructor(
    private readonly queries: NotesQueries,
    private readonly notes: NotesService,
  ) {}

  @Endpoint('GET', '', {
    about: 'Lists the notes of an issue, newest first unless told otherwise.',
    source: 'requirements 1 §4 Issue notes',
    within: project('id'),
    may: signedIn(),
    params: ListNotes,
    answers: page(note),
  })
  list({ params, viewer, within, page }: NoteCall<ListNotes>): Promise<JsonPage> {
    const order = { orderBy: params.order_by, sort: params.sort, activity: params.activity_filter };
    return this.queries.page(viewer, within, params.issue_iid, order, page);
  }

  @Endpoint('GET', ':note_id', {
    about: 'Shows one note of an issue.',
    source: 'requirements 1 §4 Issue notes',
    within: project('id'),
    may: signedIn(),
    params: OneNote,
    answers: one(note),
  })
  async show({ params, viewer, within }: NoteCall<OneNote>): Promise<JsonText> {
    return new JsonText(await this.queries.one(viewer, within, params.issue_iid, params.note_id));
  }

  @Endpoint('POST', '', {
    about: 'Adds a note to an issue.',
    source: 'requirements 1 §4 Issue notes; reference work-tracking 2.3, 2.5',
    within: project('id'),
    may: ability(
      'note.create',
      ({ params, viewer, within }: NoteCall<CreateNote>) => notePolicy.mayCreate(viewer, within, wantsInternal(params)),
      { signedIn: true },
    ),
    params: CreateNote,
    answers: created(note),
    fails: [429],
    bodyLimit: BODY_LIMIT,
  })
  async create({ params, viewer, within }: NoteCall<CreateNote>): Promise<JsonText> {
    const wish = { body: params.body, internal: wantsInternal(params), createdAt: params.created_at ?? null };
    return new JsonText(await this.notes.create(viewer, within, params.issue_iid, wish));
  }

  @Endpoint('PUT', ':note_id', {
    about: 'Changes the text of a note.',
    source: 'requirements 1 §4 Issue notes; reference work-tracking 2.1, 2.3',
    within: project('id'),
    may: signedIn(),
    params: EditNote,
    answers: one(note),
    bodyLimit: BODY_LIMIT,
  })
  async edit({ params, viewer, within }: NoteCall<EditNote>): Promise<JsonText> {
    const wish = { body: params.body, sentConfidential: params.confidential !== undefined };
    return new JsonText(await this.notes.edit(viewer, within, params.issue_iid, params.note_id, wish));
  }

  @Endpoint('DELETE', ':note_id', {
    about: 'Deletes a note.',
    source: 'requirements 1 §4 Issue notes; reference work-tracking 0.14, 2.3',
    within: project('id'),
    may: signedIn(),
    params: OneNote,
    answers: none(),
    fails: [412],
  })
  remove(call: NoteCall<OneNote>): Promise<void> {
    const { params, viewer, within } = call;
    return this.notes.remove(viewer, within, params.issue_iid, params.note_id, (updatedAt) =>
      checkUnmodifiedSince(call, updatedAt),
    );
  }
}

/** `internal` wins when both are sent. Source: reference work-tracking 2.4. */
function wantsInternal(params: CreateNote): boolean {
  return params.internal ?? params.confidential ?? false;
}
