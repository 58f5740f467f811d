import { Controller } from '@nestjs/common';
import { Endpoint, Int, JsonText, one, page } from '@rookery/api-v4';
import type { JsonPage, NoParams } from '@rookery/api-v4';
import type { Viewer } from '@rookery/kernel';
import { createNoteableRouteOptions, nameClass } from '../noteables/noteable-routes.dto';
import type { BelowCall, NoteableRoutes } from '../noteables/noteable-routes.dto';
import { ResourceEventsQueries } from './resource-events.queries';
import type { ResourceEvents } from './resource-events.shape';

class ListResourceEvents {}
class IdentifyResourceEvent {
  @Int() event_id: number;
}

const SOURCE = 'requirements 1 §4; reference work-tracking 2.8';

/** Builds the two routes for one type of resource events of a noteable kind. */
export function resourceEventsController(routes: NoteableRoutes, events: ResourceEvents) {
  const { kind, a } = routes;
  const noteable = createNoteableRouteOptions(routes);
  const tail = `resource_${events.noun}_events`;
  const about = events.about(a);
  const answer = events.shape.presenter;
  const reads = { within: noteable.within, may: noteable.may.read, source: SOURCE } as const;

  @Controller()
  class ResourceEventsController {
    constructor(readonly queries: ResourceEventsQueries) {}

    @Endpoint('GET', `/${routes.path}/${tail}`, {
      ...reads,
      ...noteable.aliases(tail),
      about: about.list,
      params: noteable.params(ListResourceEvents),
      answers: page(answer),
    })
    list(call: BelowCall<NoParams, Viewer>): Promise<JsonPage> {
      return this.queries.list(call.viewer, noteable.referenceOf(call), events, call.page);
    }

    @Endpoint('GET', `/${routes.path}/${tail}/:event_id`, {
      ...reads,
      ...noteable.aliases(`${tail}/:event_id`),
      about: about.one,
      params: noteable.params(IdentifyResourceEvent),
      fails: [404],
      answers: one(answer),
    })
    async show(call: BelowCall<IdentifyResourceEvent, Viewer>): Promise<JsonText> {
      return new JsonText(
        await this.queries.find(call.viewer, noteable.referenceOf(call), events, call.params.event_id),
      );
    }
  }
  const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
  return nameClass(`${kind.type}${capitalized(events.noun)}EventsController`, ResourceEventsController);
}
