import { Controller } from '@nestjs/common';
import { ability, checkUnmodifiedSince, created, Endpoint, JsonText, none, one, orElse, page } from '@rookery/api-v4';
import type { JsonPage, Otherwise } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { below, stamped } from '../../base/noteables/noteable-routes.dto';
import type { BelowCall, NoteableRoutes } from '../../base/noteables/noteable-routes.dto';
import { CommandedNotesService } from './commanded-notes.service';
import { notePolicy } from './note.policy';
import { noteShape } from './note.shape';
import { CreateNote, ListNotes, newNoteOf, noteChangeOf, OneNote, UpdateNote, wantsInternal } from './notes.dto';
import { NotesQueries } from './notes.queries';
import { NotesService } from './notes.service';
import { answerTo, commandsOnly } from './said.presenter';

const note = noteShape.presenter;

/** A million characters, escaped. Units: bytes. Source: reference reliability 6.3. */
export const NOTE_BODY_LIMIT = 8 * 1024 * 1024;

type NoteCall<P> = BelowCall<P, SignedInViewer>;

/** The five routes of the notes on things of a kind. */
export function notesController(routes: NoteableRoutes) {
  const { kind, a, promisedIn } = routes;
  const thing = below(routes);
  const base = `/${routes.path}/notes`;
  const list = { within: thing.within, ...thing.aliases('notes') };
  const single = { within: thing.within, ...thing.aliases('notes/:note_id') };

  @Controller()
  class NotesController {
    constructor(
      readonly queries: NotesQueries,
      readonly notes: NotesService,
      readonly commanded: CommandedNotesService,
    ) {}

    @Endpoint('GET', base, {
      ...list,
      about: `Lists the notes of ${a}, newest first unless told otherwise.`,
      source: promisedIn,
      may: thing.may.write,
      params: thing.params(ListNotes),
      answers: page(note),
    })
    list(call: NoteCall<ListNotes>): Promise<JsonPage> {
      const { sort, order_by: orderBy, activity_filter: activity } = call.params;
      return this.queries.page(call.viewer, thing.of(call), { orderBy, sort, activity }, call.page);
    }

    @Endpoint('GET', `${base}/:note_id`, {
      ...single,
      about: `Shows one note of ${a}.`,
      source: promisedIn,
      may: thing.may.write,
      params: thing.params(OneNote),
      answers: one(note),
    })
    async show(call: NoteCall<OneNote>): Promise<JsonText> {
      return new JsonText(await this.queries.one(call.viewer, thing.of(call), call.params.note_id));
    }

    @Endpoint('POST', base, {
      ...list,
      about: `Adds a note to ${a}, and carries out the commands in it.`,
      source: `${promisedIn}; reference work-tracking 2.3, 2.5, 2.6`,
      may: ability(
        'note.create',
        ({ params, viewer, within }: NoteCall<CreateNote>) =>
          thing.isOffered(within) && notePolicy.mayCreate(viewer, within, wantsInternal(kind, params)),
        { signedIn: true },
      ),
      params: thing.params(CreateNote),
      answers: orElse(created(note), 202, commandsOnly),
      fails: [429],
      bodyLimit: NOTE_BODY_LIMIT,
    })
    async create(call: NoteCall<CreateNote>): Promise<JsonText | Otherwise> {
      return answerTo(await this.commanded.create(call.viewer, thing.of(call), newNoteOf(kind, call.params)));
    }

    @Endpoint('PUT', `${base}/:note_id`, {
      ...single,
      about: 'Changes the text of a note.',
      source: `${promisedIn}; reference work-tracking 2.1, 2.3`,
      may: thing.may.write,
      params: thing.params(UpdateNote),
      answers: one(note),
      fails: [429],
      bodyLimit: NOTE_BODY_LIMIT,
    })
    async update(call: NoteCall<UpdateNote>): Promise<JsonText> {
      const named = { id: call.params.note_id };
      return new JsonText(await this.notes.update(call.viewer, thing.of(call), named, noteChangeOf(call.params)));
    }

    @Endpoint('DELETE', `${base}/:note_id`, {
      ...single,
      about: 'Deletes a note.',
      source: `${promisedIn}; reference work-tracking 0.14, 2.3`,
      may: thing.may.write,
      params: thing.params(OneNote),
      answers: none(),
      fails: [412],
    })
    remove(call: NoteCall<OneNote>): Promise<void> {
      const named = { id: call.params.note_id };
      return this.notes.remove(call.viewer, thing.of(call), named, (at) => checkUnmodifiedSince(call, at));
    }
  }
  return stamped(`${kind.type}NotesController`, NotesController);
}
