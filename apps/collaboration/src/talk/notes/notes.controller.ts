import { Controller } from '@nestjs/common';
import {
  ability,
  checkUnmodifiedSince,
  created,
  Endpoint,
  JsonText,
  noContent,
  one,
  withAlternative,
  page,
} from '@rookery/api-v4';
import type { JsonPage, AlternativeAnswer } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { createNoteableRouteOptions, nameClass } from '../../base/noteables/noteable-routes.dto';
import type { BelowCall, NoteableRoutes } from '../../base/noteables/noteable-routes.dto';
import { NewNotesService } from './new-notes.service';
import { notePolicy } from './note.policy';
import { noteShapeOf } from './note.shape';
import {
  CreateNote,
  ListNotes,
  toNewNote,
  toNoteEdit,
  IdentifyNote,
  UpdateNote,
  wantsInternal,
  createIgnoredNoteParamsRule,
} from './notes.dto';
import { NotesQueries } from './notes.queries';
import { NotesService } from './notes.service';
import { commandsOnly, presentNewNote } from './new-note.presenter';

/** Maximum request body: a million characters, escaped. Units: bytes. Source: reference reliability 6.3. */
export const NOTE_BODY_LIMIT = 8 * 1024 * 1024;

type NoteCall<P> = BelowCall<P, SignedInViewer>;

/** Creates the controller with the five routes for notes on one kind of noteable. */
export function notesController(routes: NoteableRoutes) {
  const { kind, a, notesSource } = routes;
  const note = noteShapeOf(kind).presenter;
  const noteable = createNoteableRouteOptions(routes);
  const base = `/${routes.path}/notes`;
  const list = { within: noteable.within, ...noteable.aliases('notes') };
  const single = { within: noteable.within, ...noteable.aliases('notes/:note_id') };

  @Controller()
  class NotesController {
    constructor(
      readonly queries: NotesQueries,
      readonly notes: NotesService,
      readonly commanded: NewNotesService,
    ) {}

    @Endpoint('GET', base, {
      ...list,
      about: `Lists the notes of ${a}, newest first by default.`,
      source: notesSource,
      may: noteable.may.write,
      params: noteable.params(ListNotes),
      answers: page(note),
    })
    list(call: NoteCall<ListNotes>): Promise<JsonPage> {
      const { sort, order_by: orderBy, activity_filter: activity } = call.params;
      return this.queries.list(call.viewer, noteable.referenceOf(call), { orderBy, sort, activity }, call.page);
    }

    @Endpoint('GET', `${base}/:note_id`, {
      ...single,
      about: `Shows one note of ${a}.`,
      source: notesSource,
      may: noteable.may.write,
      params: noteable.params(IdentifyNote),
      answers: one(note),
    })
    async show(call: NoteCall<IdentifyNote>): Promise<JsonText> {
      return new JsonText(await this.queries.findNote(call.viewer, noteable.referenceOf(call), call.params.note_id));
    }

    @Endpoint('POST', base, {
      ...list,
      about: `Adds a note to ${a}, and runs the quick actions in it.`,
      source: `${notesSource}; reference work-tracking 2.3, 2.5, 2.6`,
      may: ability(
        'note.create',
        ({ params, viewer, within }: NoteCall<CreateNote>) =>
          noteable.isOffered(within, viewer) && notePolicy.mayCreate(viewer, within, wantsInternal(kind, params)),
        { signedIn: true },
      ),
      params: noteable.params(CreateNote),
      withoutEffect: createIgnoredNoteParamsRule(kind),
      answers: withAlternative(created(note), 202, commandsOnly),
      fails: [429],
      bodyLimit: NOTE_BODY_LIMIT,
    })
    async create(call: NoteCall<CreateNote>): Promise<JsonText | AlternativeAnswer> {
      return presentNewNote(
        await this.commanded.create(call.viewer, noteable.referenceOf(call), toNewNote(kind, call.params)),
      );
    }

    @Endpoint('PUT', `${base}/:note_id`, {
      ...single,
      about: 'Changes the text of a note.',
      source: `${notesSource}; reference work-tracking 2.1, 2.3`,
      may: noteable.may.write,
      params: noteable.params(UpdateNote),
      answers: one(note),
      fails: [429],
      bodyLimit: NOTE_BODY_LIMIT,
    })
    async update(call: NoteCall<UpdateNote>): Promise<JsonText> {
      const named = { id: call.params.note_id };
      return new JsonText(
        await this.notes.update(call.viewer, noteable.referenceOf(call), named, toNoteEdit(call.params)),
      );
    }

    @Endpoint('DELETE', `${base}/:note_id`, {
      ...single,
      about: 'Deletes a note.',
      source: `${notesSource}; reference work-tracking 0.14, 2.3`,
      may: noteable.may.write,
      params: noteable.params(IdentifyNote),
      answers: noContent(),
      fails: [412],
    })
    remove(call: NoteCall<IdentifyNote>): Promise<void> {
      const named = { id: call.params.note_id };
      return this.notes.remove(call.viewer, noteable.referenceOf(call), named, (at) => checkUnmodifiedSince(call, at));
    }
  }
  return nameClass(`${kind.type}NotesController`, NotesController);
}
