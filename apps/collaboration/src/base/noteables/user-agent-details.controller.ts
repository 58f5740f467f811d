import { Controller } from '@nestjs/common';
import { administrator, Endpoint, one } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { createNoteableRouteOptions, IdentifyNoteable, nameClass } from './noteable-routes.dto';
import type { BelowCall, NoteableRoutes } from './noteable-routes.dto';
import { UserAgentDetailsQueries } from './user-agent-details.queries';
import { userAgentDetail } from './user-agent-detail.presenter';
import type { UserAgentDetail } from './user-agent-detail';

/**
 * Builds the route for the user agent and IP address that a noteable was created with. `source` cites the requirement.
 */
export function userAgentDetailsController(routes: NoteableRoutes, source: string) {
  const { kind, a } = routes;
  const noteable = createNoteableRouteOptions(routes);
  const tail = 'user_agent_detail';

  @Controller()
  class OriginsController {
    constructor(readonly queries: UserAgentDetailsQueries) {}

    @Endpoint('GET', `/${routes.path}/${tail}`, {
      ...noteable.aliases(tail),
      source,
      within: noteable.within,
      may: administrator(),
      about: `Shows the user agent and the IP address that ${a} was created with.`,
      params: noteable.params(IdentifyNoteable),
      answers: one(userAgentDetail),
    })
    show(call: BelowCall<object, SignedInViewer>): Promise<UserAgentDetail> {
      return this.queries.find(call.viewer, noteable.referenceOf(call));
    }
  }
  return nameClass(`${kind.type}OriginsController`, OriginsController);
}
