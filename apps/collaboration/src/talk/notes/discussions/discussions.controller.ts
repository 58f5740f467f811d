import { Controller } from '@nestjs/common';
import {
  ability,
  all,
  checkUnmodifiedSince,
  created,
  Endpoint,
  JsonText,
  none,
  one,
  orElse,
  page,
} from '@rookery/api-v4';
import type { JsonPage, Otherwise } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { below, OneThing, only, stamped } from '../../../base/noteables/noteable-routes.dto';
import type { BelowCall, NoteableRoutes } from '../../../base/noteables/noteable-routes.dto';
import { CommandedNotesService } from '../commanded-notes.service';
import { notePolicy } from '../note.policy';
import { noteShape } from '../note.shape';
import { NOTE_BODY_LIMIT } from '../notes.controller';
import { CreateNote, newNoteOf, wantsInternal } from '../notes.dto';
import { NotesService } from '../notes.service';
import { answerTo, commandsOnly } from '../said.presenter';
import { discussionShape } from './discussion.shape';
import { CreateReply, OneDiscussion, OneReply, UpdateDiscussion, UpdateReply } from './discussions.dto';
import { DiscussionsQueries } from './discussions.queries';
import { DiscussionsService } from './discussions.service';
import { discussionKeyOf } from './threads-sql';

const SOURCE = 'reference work-tracking 3.1';
const note = noteShape.presenter;
const discussion = discussionShape.presenter;

type DiscussionCall<P> = BelowCall<P, SignedInViewer>;
const keyOf = ({ params }: { readonly params: OneDiscussion }): number => discussionKeyOf(params.discussion_id);

/** The routes of the discussions on things of a kind. Resolving is one of them where the kind has threads. */
export function discussionsController(routes: NoteableRoutes) {
  const { kind, a } = routes;
  const thing = below(routes);
  const path = (tail: string): string => `/${routes.path}/discussions${tail}`;
  const at = (tail: string) => ({ within: thing.within, ...thing.aliases(`discussions${tail}`) });
  const mayCreate = ability(
    'note.create',
    ({ params, viewer, within }: DiscussionCall<CreateNote>) =>
      thing.isOffered(within) && notePolicy.mayCreate(viewer, within, wantsInternal(kind, params)),
    { signedIn: true },
  );

  @Controller()
  class DiscussionsController {
    constructor(
      readonly queries: DiscussionsQueries,
      readonly discussions: DiscussionsService,
      readonly notes: NotesService,
      readonly commanded: CommandedNotesService,
    ) {}

    @Endpoint('GET', path(''), {
      ...at(''),
      about: `Lists the discussions of ${a}, oldest first: threads, and notes that stand alone.`,
      source: SOURCE,
      may: thing.may.write,
      params: thing.params(OneThing),
      answers: page(discussion),
    })
    list(call: DiscussionCall<OneThing>): Promise<JsonPage> {
      return this.queries.page(call.viewer, thing.of(call), call.page);
    }

    @Endpoint('GET', path('/:discussion_id'), {
      ...at('/:discussion_id'),
      about: `Shows one discussion of ${a}.`,
      source: SOURCE,
      may: thing.may.write,
      params: thing.params(OneDiscussion),
      answers: one(discussion),
    })
    async show(call: DiscussionCall<OneDiscussion>): Promise<JsonText> {
      return new JsonText(await this.queries.one(call.viewer, thing.of(call), keyOf(call)));
    }

    @Endpoint('POST', path(''), {
      ...at(''),
      about: `Begins a thread on ${a}, and carries out the commands in its text.`,
      source: SOURCE,
      may: mayCreate,
      params: thing.params(CreateNote),
      answers: orElse(created(discussion), 202, commandsOnly),
      fails: [429],
      bodyLimit: NOTE_BODY_LIMIT,
    })
    async create(call: DiscussionCall<CreateNote>): Promise<JsonText | Otherwise> {
      return answerTo(await this.commanded.open(call.viewer, thing.of(call), newNoteOf(kind, call.params)));
    }

    @(only(kind.abilities.includes('threads'))(
      Endpoint('PUT', path('/:discussion_id'), {
        ...at('/:discussion_id'),
        about: 'Resolves a thread, or opens it again.',
        source: 'reference work-tracking 2.3, 3.2',
        may: thing.may.write,
        params: thing.params(UpdateDiscussion),
        answers: one(discussion),
      }),
    ))
    async resolve(call: DiscussionCall<UpdateDiscussion>): Promise<JsonText> {
      const { resolved } = call.params;
      return new JsonText(await this.discussions.resolve(call.viewer, thing.of(call), keyOf(call), resolved));
    }

    @Endpoint('GET', path('/:discussion_id/notes'), {
      ...at('/:discussion_id/notes'),
      about: 'Lists the notes of a discussion, oldest first.',
      source: SOURCE,
      may: thing.may.write,
      params: thing.params(OneDiscussion),
      answers: all(note),
    })
    async listNotes(call: DiscussionCall<OneDiscussion>): Promise<JsonText> {
      return new JsonText(await this.queries.notes(call.viewer, thing.of(call), keyOf(call)));
    }

    @Endpoint('POST', path('/:discussion_id/notes'), {
      ...at('/:discussion_id/notes'),
      about: 'Answers in a discussion; a note that stood alone begins a thread by it. Commands in it are carried out.',
      source: SOURCE,
      may: mayCreate,
      params: thing.params(CreateReply),
      answers: orElse(created(note), 202, commandsOnly),
      fails: [429],
      bodyLimit: NOTE_BODY_LIMIT,
    })
    async reply(call: DiscussionCall<CreateReply>): Promise<JsonText | Otherwise> {
      const wish = newNoteOf(kind, call.params);
      return answerTo(await this.commanded.reply(call.viewer, thing.of(call), keyOf(call), wish));
    }

    @Endpoint('GET', path('/:discussion_id/notes/:note_id'), {
      ...at('/:discussion_id/notes/:note_id'),
      about: 'Shows one note of a discussion.',
      source: SOURCE,
      may: thing.may.write,
      params: thing.params(OneReply),
      answers: one(note),
    })
    async showNote(call: DiscussionCall<OneReply>): Promise<JsonText> {
      const { note_id: noteId } = call.params;
      return new JsonText(await this.queries.note(call.viewer, thing.of(call), keyOf(call), noteId));
    }

    @Endpoint('PUT', path('/:discussion_id/notes/:note_id'), {
      ...at('/:discussion_id/notes/:note_id'),
      about: 'Changes the text of a note, resolves it, or opens it again.',
      source: 'reference work-tracking 2.3, 3.1, 3.2',
      may: thing.may.write,
      params: thing.params(UpdateReply),
      answers: one(note),
      fails: [429],
      bodyLimit: NOTE_BODY_LIMIT,
    })
    async updateNote(call: DiscussionCall<UpdateReply>): Promise<JsonText> {
      const { viewer, params } = call;
      const named = { id: params.note_id, discussion: keyOf(call) };
      if (params.resolved !== undefined) {
        return new JsonText(await this.discussions.resolveNote(viewer, thing.of(call), named, params.resolved));
      }
      const edit = { body: params.body, sentConfidential: false };
      return new JsonText(await this.notes.update(viewer, thing.of(call), named, edit));
    }

    @Endpoint('DELETE', path('/:discussion_id/notes/:note_id'), {
      ...at('/:discussion_id/notes/:note_id'),
      about: 'Deletes a note of a discussion.',
      source: 'reference work-tracking 0.14, 2.3, 3.1',
      may: thing.may.write,
      params: thing.params(OneReply),
      answers: none(),
      fails: [412],
    })
    removeNote(call: DiscussionCall<OneReply>): Promise<void> {
      const named = { id: call.params.note_id, discussion: keyOf(call) };
      return this.notes.remove(call.viewer, thing.of(call), named, (at) => checkUnmodifiedSince(call, at));
    }
  }
  return stamped(`${kind.type}DiscussionsController`, DiscussionsController);
}
