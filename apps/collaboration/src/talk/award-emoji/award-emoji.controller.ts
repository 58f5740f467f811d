import { Controller } from '@nestjs/common';
import { created, Endpoint, JsonText, noContent, one, page } from '@rookery/api-v4';
import type { JsonPage } from '@rookery/api-v4';
import type { SignedInViewer, Viewer } from '@rookery/kernel';
import { createNoteableRouteOptions, IdentifyNoteable, nameClass } from '../../base/noteables/noteable-routes.dto';
import type { BelowCall, NoteableRoutes } from '../../base/noteables/noteable-routes.dto';
import { CreateAward, CreateNoteAward, ListNoteAwards, IdentifyAward, IdentifyNoteAward } from './award-emoji.dto';
import { AwardEmojiService } from './award-emoji.service';
import type { Awardable } from './award-emoji.service';
import { awardShape } from './award-emoji.shape';
import type { AwardTarget } from './award-emoji.statements';

const SOURCE = 'reference work-tracking 9.6';
const award = awardShape.presenter;

type ReadCall<P> = BelowCall<P, Viewer>;
type WriteCall<P> = BelowCall<P, SignedInViewer>;

/** Creates the controller with the four routes for emoji on one kind of noteable, or on its notes. */
export function awardEmojiController(routes: NoteableRoutes, on: AwardTarget) {
  const { kind, a } = routes;
  const isNote = on === 'note';
  const target = isNote ? `a note on ${a}` : a;
  const noteable = createNoteableRouteOptions(routes);
  const tail = isNote ? 'notes/:note_id/award_emoji' : 'award_emoji';
  const base = `/${routes.path}/${tail}`;
  const list = { source: SOURCE, within: noteable.within, ...noteable.aliases(tail) };
  const single = { source: SOURCE, within: noteable.within, ...noteable.aliases(`${tail}/:award_id`) };
  const named = { params: noteable.params(isNote ? IdentifyNoteAward : IdentifyAward) };
  const awarded = (call: ReadCall<object>): Awardable => {
    const { note_id: noteId = null } = call.params as Partial<ListNoteAwards>;
    return { on: noteable.referenceOf(call), noteId };
  };

  @Controller()
  class AwardEmojiController {
    constructor(readonly awards: AwardEmojiService) {}

    @Endpoint('GET', base, {
      ...list,
      about: `Lists the emoji on ${target}, oldest first.`,
      may: noteable.may.read,
      params: noteable.params(isNote ? ListNoteAwards : IdentifyNoteable),
      answers: page(award),
    })
    list(call: ReadCall<IdentifyNoteable>): Promise<JsonPage> {
      return this.awards.list(call.viewer, awarded(call), call.page);
    }

    @Endpoint('GET', `${base}/:award_id`, {
      ...single,
      ...named,
      about: `Shows one emoji on ${target}.`,
      may: noteable.may.read,
      answers: one(award),
    })
    async show(call: ReadCall<IdentifyAward>): Promise<JsonText> {
      return new JsonText(await this.awards.show(call.viewer, awarded(call), call.params.award_id));
    }

    @Endpoint('POST', base, {
      ...list,
      about: `Awards an emoji to ${target}.`,
      may: noteable.may.write,
      params: noteable.params(isNote ? CreateNoteAward : CreateAward),
      answers: created(award),
      fails: [404],
    })
    async create(call: WriteCall<CreateAward>): Promise<JsonText> {
      return new JsonText(await this.awards.create(call.viewer, awarded(call), call.params.name));
    }

    @Endpoint('DELETE', `${base}/:award_id`, {
      ...single,
      ...named,
      about: 'Removes an emoji.',
      may: noteable.may.write,
      answers: noContent(),
    })
    remove(call: WriteCall<IdentifyAward>): Promise<void> {
      return this.awards.remove(call.viewer, awarded(call), call.params.award_id);
    }
  }
  return nameClass(`${kind.type}${isNote ? 'Note' : ''}AwardEmojiController`, AwardEmojiController);
}
