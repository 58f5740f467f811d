import { Controller } from '@nestjs/common';
import { created, Endpoint, JsonText } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { createNoteableRouteOptions, IdentifyNoteable, nameClass } from '../../base/noteables/noteable-routes.dto';
import type { BelowCall, NoteableRoutes } from '../../base/noteables/noteable-routes.dto';
import { TodoMarkingService } from './marking.service';
import { todoDetailShape } from './todo.shape';

/** Controller that adds a noteable of one kind to the caller's to-dos. `others` are further paths of the route. */
export function createTodoMarkingController(routes: NoteableRoutes, others: readonly string[] = []) {
  const noteable = createNoteableRouteOptions(routes);
  const { aliases = [] } = noteable.aliases('todo');

  @Controller()
  class MarkingController {
    constructor(readonly marking: TodoMarkingService) {}

    @Endpoint('POST', `/${routes.path}/todo`, {
      within: noteable.within,
      aliases: [...aliases, ...others],
      about: `Adds ${routes.a} to the caller's to-dos.`,
      source: 'reference work-tracking 6.1, 6.3',
      may: noteable.may.write,
      params: noteable.params(IdentifyNoteable),
      answers: created(todoDetailShape.presenter),
      fails: [304],
    })
    async create(call: BelowCall<IdentifyNoteable, SignedInViewer>): Promise<JsonText> {
      return new JsonText(await this.marking.markNoteable(call.viewer, noteable.referenceOf(call)));
    }
  }
  return nameClass(`${routes.kind.type}MarkingController`, MarkingController);
}
