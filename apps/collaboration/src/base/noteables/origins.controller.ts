import { Controller } from '@nestjs/common';
import { administrator, Endpoint, one } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { routesBelow, OneNoteable, nameClass } from './noteable-routes.dto';
import type { BelowCall, NoteableRoutes } from './noteable-routes.dto';
import { OriginsQueries } from './origins.queries';
import { userAgentDetail } from './origin.presenter';
import type { OriginAnswer } from './origin';

/** Builds the route for the user agent and IP address that a noteable was created with. Shape: `source` cites the requirement. */
export function originsController(routes: NoteableRoutes, source: string) {
  const { kind, a } = routes;
  const noteable = routesBelow(routes);
  const tail = 'user_agent_detail';

  @Controller()
  class OriginsController {
    constructor(readonly queries: OriginsQueries) {}

    @Endpoint('GET', `/${routes.path}/${tail}`, {
      ...noteable.aliases(tail),
      source,
      within: noteable.within,
      may: administrator(),
      about: `Shows the user agent and the IP address that ${a} was created with.`,
      params: noteable.params(OneNoteable),
      answers: one(userAgentDetail),
    })
    show(call: BelowCall<object, SignedInViewer>): Promise<OriginAnswer> {
      return this.queries.of(call.viewer, noteable.of(call));
    }
  }
  return nameClass(`${kind.type}OriginsController`, OriginsController);
}
