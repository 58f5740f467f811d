import { Controller } from '@nestjs/common';
import { created, Endpoint, JsonText } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { below, OneThing, stamped } from '../../base/noteables/noteable-routes.dto';
import type { BelowCall, NoteableRoutes } from '../../base/noteables/noteable-routes.dto';
import { MarkingService } from './marking.service';
import { todoDetailShape } from './todo.shape';

/** Putting a thing of a kind on one's own list. `others` are further paths that clients know it by. */
export function markingController(routes: NoteableRoutes, others: readonly string[] = []) {
  const thing = below(routes);
  const { aliases = [] } = thing.aliases('todo');

  @Controller()
  class MarkingController {
    constructor(readonly marking: MarkingService) {}

    @Endpoint('POST', `/${routes.path}/todo`, {
      within: thing.within,
      aliases: [...aliases, ...others],
      about: `Puts ${routes.a} on the caller's list of to-dos.`,
      source: 'reference work-tracking 6.1, 6.3',
      may: thing.may.write,
      params: thing.params(OneThing),
      answers: created(todoDetailShape.presenter),
      fails: [304],
    })
    async create(call: BelowCall<OneThing, SignedInViewer>): Promise<JsonText> {
      return new JsonText(await this.marking.mark(call.viewer, thing.of(call)));
    }
  }
  return stamped(`${routes.kind.type}MarkingController`, MarkingController);
}
