import { Controller } from '@nestjs/common';
import { created, Endpoint, JsonText, none, one, page } from '@rookery/api-v4';
import type { JsonPage } from '@rookery/api-v4';
import type { SignedInViewer, Viewer } from '@rookery/kernel';
import { below, OneThing, stamped } from '../../base/noteables/noteable-routes.dto';
import type { BelowCall, NoteableRoutes } from '../../base/noteables/noteable-routes.dto';
import { CreateAward, CreateNoteAward, ListNoteAwards, OneAward, OneNoteAward } from './award-emoji.dto';
import { AwardEmojiService } from './award-emoji.service';
import type { Awardable } from './award-emoji.service';
import { awardShape } from './award-emoji.shape';
import type { AwardedOn } from './award-emoji.statements';

const SOURCE = 'reference work-tracking 9.6';
const award = awardShape.presenter;

type ReadCall<P> = BelowCall<P, Viewer>;
type WriteCall<P> = BelowCall<P, SignedInViewer>;

/** The four routes of the emoji given to things of a kind, or to the notes on them. */
export function awardEmojiController(routes: NoteableRoutes, on: AwardedOn) {
  const { kind, a } = routes;
  const isNote = on === 'note';
  const what = isNote ? `a note on ${a}` : a;
  const thing = below(routes);
  const tail = isNote ? 'notes/:note_id/award_emoji' : 'award_emoji';
  const base = `/${routes.path}/${tail}`;
  const list = { source: SOURCE, within: thing.within, ...thing.aliases(tail) };
  const single = { source: SOURCE, within: thing.within, ...thing.aliases(`${tail}/:award_id`) };
  const named = { params: thing.params(isNote ? OneNoteAward : OneAward) };
  const awarded = (call: ReadCall<object>): Awardable => {
    const { note_id: noteId = null } = call.params as Partial<ListNoteAwards>;
    return { on: thing.of(call), noteId };
  };

  @Controller()
  class AwardEmojiController {
    constructor(readonly awards: AwardEmojiService) {}

    @Endpoint('GET', base, {
      ...list,
      about: `Lists the emoji given to ${what}, oldest first.`,
      may: thing.may.read,
      params: thing.params(isNote ? ListNoteAwards : OneThing),
      answers: page(award),
    })
    list(call: ReadCall<OneThing>): Promise<JsonPage> {
      return this.awards.page(call.viewer, awarded(call), call.page);
    }

    @Endpoint('GET', `${base}/:award_id`, {
      ...single,
      ...named,
      about: `Shows one emoji given to ${what}.`,
      may: thing.may.read,
      answers: one(award),
    })
    async show(call: ReadCall<OneAward>): Promise<JsonText> {
      return new JsonText(await this.awards.show(call.viewer, awarded(call), call.params.award_id));
    }

    @Endpoint('POST', base, {
      ...list,
      about: `Gives an emoji to ${what}.`,
      may: thing.may.write,
      params: thing.params(isNote ? CreateNoteAward : CreateAward),
      answers: created(award),
      fails: [404],
    })
    async create(call: WriteCall<CreateAward>): Promise<JsonText> {
      return new JsonText(await this.awards.create(call.viewer, awarded(call), call.params.name));
    }

    @Endpoint('DELETE', `${base}/:award_id`, {
      ...single,
      ...named,
      about: 'Takes an emoji back.',
      may: thing.may.write,
      answers: none(),
    })
    remove(call: WriteCall<OneAward>): Promise<void> {
      return this.awards.remove(call.viewer, awarded(call), call.params.award_id);
    }
  }
  return stamped(`${kind.type}${isNote ? 'Note' : ''}AwardEmojiController`, AwardEmojiController);
}
