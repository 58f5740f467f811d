import { Controller } from '@nestjs/common';
import {
  ability,
  unpagedList,
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
import { NoteableFinders } from '../../../base/noteables/noteable-finders';
import {
  decorateIf,
  createNoteableLookupRouteOptions,
  nameClass,
  IdentifyNoteable,
} from '../../../base/noteables/noteable-routes.dto';
import type { BelowCall, RoutesByName, NoteableRoutes } from '../../../base/noteables/noteable-routes.dto';
import { NewNotesService } from '../new-notes.service';
import { notePolicy } from '../note.policy';
import { noteShapeOf } from '../note.shape';
import { NOTE_BODY_LIMIT } from '../notes.controller';
import { CreateNote, toNewNote, wantsInternal, createIgnoredNoteParamsRule } from '../notes.dto';
import { NotesService } from '../notes.service';
import { commandsOnly, presentNewNote } from '../new-note.presenter';
import { discussionShapeOf } from './discussion.shape';
import {
  CreateReply,
  toNewThread,
  IdentifyDiscussion,
  IdentifyReply,
  threadParamsOf,
  UpdateDiscussion,
  UpdateReply,
} from './discussions.dto';
import type { CreateDiffThread } from './discussions.dto';
import { DiscussionsQueries } from './discussions.queries';
import { DiscussionsService } from './discussions.service';
import { parseDiscussionKey } from './threads-sql';

const SOURCE = 'reference work-tracking 3.1';

type DiscussionCall<P> = BelowCall<P, SignedInViewer>;
const discussionKey = ({ params }: { readonly params: IdentifyDiscussion }): number =>
  parseDiscussionKey(params.discussion_id);

/**
 * Creates the controller with the routes for discussions on one kind of noteable. Only kinds with threads have the route
 * that resolves.
 */
export function discussionsController(routes: NoteableRoutes | RoutesByName) {
  const { kind, a } = routes;
  const note = noteShapeOf(kind).presenter;
  const discussion = discussionShapeOf(kind).presenter;
  const noteable = createNoteableLookupRouteOptions(routes);
  const path = (tail: string): string => `/${routes.path}/discussions${tail}`;
  const at = (tail: string) => ({ within: noteable.within, ...noteable.aliases(`discussions${tail}`) });
  const mayCreate = ability(
    'note.create',
    ({ params, viewer, within }: DiscussionCall<CreateNote>) =>
      noteable.isOffered(within, viewer) && notePolicy.mayCreate(viewer, within, wantsInternal(kind, params)),
    { signedIn: true },
  );

  @Controller()
  class DiscussionsController {
    constructor(
      readonly queries: DiscussionsQueries,
      readonly discussions: DiscussionsService,
      readonly notes: NotesService,
      readonly commanded: NewNotesService,
      readonly finders: NoteableFinders,
    ) {}

    @Endpoint('GET', path(''), {
      ...at(''),
      about: `Lists the discussions of ${a}, oldest first: threads and individual notes.`,
      source: SOURCE,
      may: noteable.may.write,
      params: noteable.params(IdentifyNoteable),
      answers: page(discussion),
    })
    async list(call: DiscussionCall<IdentifyNoteable>): Promise<JsonPage> {
      return this.queries.list(call.viewer, await noteable.find(this.finders, call), call.page);
    }

    @Endpoint('GET', path('/:discussion_id'), {
      ...at('/:discussion_id'),
      about: `Shows one discussion of ${a}.`,
      source: SOURCE,
      may: noteable.may.write,
      params: noteable.params(IdentifyDiscussion),
      answers: one(discussion),
    })
    async show(call: DiscussionCall<IdentifyDiscussion>): Promise<JsonText> {
      return new JsonText(
        await this.queries.findDiscussion(call.viewer, await noteable.find(this.finders, call), discussionKey(call)),
      );
    }

    @Endpoint('POST', path(''), {
      ...at(''),
      about: `Starts a thread on ${a}, and runs the quick actions in its text.`,
      source: SOURCE,
      may: mayCreate,
      params: noteable.params(threadParamsOf(kind)),
      withoutEffect: createIgnoredNoteParamsRule(kind),
      answers: withAlternative(created(discussion), 202, commandsOnly),
      fails: [429],
      bodyLimit: NOTE_BODY_LIMIT,
    })
    async create(call: DiscussionCall<CreateDiffThread>): Promise<JsonText | AlternativeAnswer> {
      const on = await noteable.find(this.finders, call, 'for a new note');
      return presentNewNote(await this.commanded.createNote(call.viewer, on, toNewThread(kind, call.params)));
    }

    @(decorateIf(kind.abilities.includes('threads'))(
      Endpoint('PUT', path('/:discussion_id'), {
        ...at('/:discussion_id'),
        about: 'Resolves or reopens a thread.',
        source: 'reference work-tracking 2.3, 3.2',
        may: noteable.may.write,
        params: noteable.params(UpdateDiscussion),
        answers: one(discussion),
        ...(kind.abilities.includes('diff-threads') && { fails: [429] as const }),
      }),
    ))
    async resolve(call: DiscussionCall<UpdateDiscussion>): Promise<JsonText> {
      const { resolved } = call.params;
      const on = await noteable.find(this.finders, call);
      return new JsonText(await this.discussions.resolve(call.viewer, on, discussionKey(call), resolved));
    }

    @Endpoint('GET', path('/:discussion_id/notes'), {
      ...at('/:discussion_id/notes'),
      about: 'Lists the notes of a discussion, oldest first.',
      source: SOURCE,
      may: noteable.may.write,
      params: noteable.params(IdentifyDiscussion),
      answers: unpagedList(note),
    })
    async listNotes(call: DiscussionCall<IdentifyDiscussion>): Promise<JsonText> {
      return new JsonText(
        await this.queries.listNotes(call.viewer, await noteable.find(this.finders, call), discussionKey(call)),
      );
    }

    @Endpoint('POST', path('/:discussion_id/notes'), {
      ...at('/:discussion_id/notes'),
      about: 'Replies in a discussion; a reply turns an individual note into a thread. Quick actions in it are run.',
      source: SOURCE,
      may: mayCreate,
      params: noteable.params(CreateReply),
      withoutEffect: createIgnoredNoteParamsRule(kind),
      answers: withAlternative(created(note), 202, commandsOnly),
      fails: [429],
      bodyLimit: NOTE_BODY_LIMIT,
    })
    async reply(call: DiscussionCall<CreateReply>): Promise<JsonText | AlternativeAnswer> {
      const newNote = toNewNote(kind, call.params);
      const on = await noteable.find(this.finders, call);
      return presentNewNote(await this.commanded.reply(call.viewer, on, discussionKey(call), newNote));
    }

    @Endpoint('GET', path('/:discussion_id/notes/:note_id'), {
      ...at('/:discussion_id/notes/:note_id'),
      about: 'Shows one note of a discussion.',
      source: SOURCE,
      may: noteable.may.write,
      params: noteable.params(IdentifyReply),
      answers: one(note),
    })
    async showNote(call: DiscussionCall<IdentifyReply>): Promise<JsonText> {
      const { note_id: noteId } = call.params;
      const on = await noteable.find(this.finders, call);
      return new JsonText(await this.queries.findNote(call.viewer, on, discussionKey(call), noteId));
    }

    @Endpoint('PUT', path('/:discussion_id/notes/:note_id'), {
      ...at('/:discussion_id/notes/:note_id'),
      about: 'Changes the text of a note, resolves it or reopens it.',
      source: 'reference work-tracking 2.3, 3.1, 3.2',
      may: noteable.may.write,
      params: noteable.params(UpdateReply),
      answers: one(note),
      fails: [429],
      bodyLimit: NOTE_BODY_LIMIT,
    })
    async updateNote(call: DiscussionCall<UpdateReply>): Promise<JsonText> {
      const { viewer, params } = call;
      const named = { id: params.note_id, discussion: discussionKey(call) };
      const on = await noteable.find(this.finders, call);
      if (params.resolved !== undefined) {
        return new JsonText(await this.discussions.resolveNote(viewer, on, named, params.resolved));
      }
      const edit = { body: params.body, sentConfidential: false };
      return new JsonText(await this.notes.update(viewer, on, named, edit));
    }

    @Endpoint('DELETE', path('/:discussion_id/notes/:note_id'), {
      ...at('/:discussion_id/notes/:note_id'),
      about: 'Deletes a note of a discussion.',
      source: 'reference work-tracking 0.14, 2.3, 3.1',
      may: noteable.may.write,
      params: noteable.params(IdentifyReply),
      answers: noContent(),
      fails: [412],
    })
    async removeNote(call: DiscussionCall<IdentifyReply>): Promise<void> {
      const named = { id: call.params.note_id, discussion: discussionKey(call) };
      const on = await noteable.find(this.finders, call);
      return this.notes.remove(call.viewer, on, named, (at) => checkUnmodifiedSince(call, at));
    }
  }
  return nameClass(`${kind.type}DiscussionsController`, DiscussionsController);
}
