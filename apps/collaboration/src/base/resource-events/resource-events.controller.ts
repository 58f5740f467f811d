import { Controller } from '@nestjs/common';
import { Endpoint, Int, JsonText, one, page } from '@rookery/api-v4';
import type { JsonPage, NoParams } from '@rookery/api-v4';
import type { Viewer } from '@rookery/kernel';
import { below, stamped } from '../noteables/noteable-routes.dto';
import type { BelowCall, NoteableRoutes } from '../noteables/noteable-routes.dto';
import { ResourceEventsQueries } from './resource-events.queries';
import type { ResourceEvents } from './resource-events.shape';

class ListResourceEvents {}
class OneResourceEvent {
  @Int() event_id: number;
}

const SOURCE = 'requirements 1 §4; reference work-tracking 2.8';

/** The two routes of what things of a kind went through, of one sort. */
export function resourceEventsController(routes: NoteableRoutes, events: ResourceEvents) {
  const { kind, a } = routes;
  const thing = below(routes);
  const tail = `resource_${events.noun}_events`;
  const about = events.about(a);
  const answer = events.shape.presenter;
  const reads = { within: thing.within, may: thing.may.read, source: SOURCE } as const;

  @Controller()
  class ResourceEventsController {
    constructor(readonly queries: ResourceEventsQueries) {}

    @Endpoint('GET', `/${routes.path}/${tail}`, {
      ...reads,
      ...thing.aliases(tail),
      about: about.list,
      params: thing.params(ListResourceEvents),
      answers: page(answer),
    })
    list(call: BelowCall<NoParams, Viewer>): Promise<JsonPage> {
      return this.queries.page(call.viewer, thing.of(call), events, call.page);
    }

    @Endpoint('GET', `/${routes.path}/${tail}/:event_id`, {
      ...reads,
      ...thing.aliases(`${tail}/:event_id`),
      about: about.one,
      params: thing.params(OneResourceEvent),
      fails: [404],
      answers: one(answer),
    })
    async show(call: BelowCall<OneResourceEvent, Viewer>): Promise<JsonText> {
      return new JsonText(await this.queries.one(call.viewer, thing.of(call), events, call.params.event_id));
    }
  }
  const named = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
  return stamped(`${kind.type}${named(events.noun)}EventsController`, ResourceEventsController);
}
