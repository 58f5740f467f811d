import { Controller } from '@nestjs/common';
import { administrator, Endpoint, one } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { below, OneThing, stamped } from './noteable-routes.dto';
import type { BelowCall, NoteableRoutes } from './noteable-routes.dto';
import { OriginsQueries } from './origins.queries';
import { userAgentDetail } from './origin.presenter';
import type { ToldOrigin } from './written-from';

/** With what and from where things of a kind were made; the kind keeps it in its rows. Shape: `source` promises the route. */
export function originsController(routes: NoteableRoutes, source: string) {
  const { kind, a } = routes;
  const thing = below(routes);
  const tail = 'user_agent_detail';

  @Controller()
  class OriginsController {
    constructor(readonly queries: OriginsQueries) {}

    @Endpoint('GET', `/${routes.path}/${tail}`, {
      ...thing.aliases(tail),
      source,
      within: thing.within,
      may: administrator(),
      about: `With what and from where ${a} was made.`,
      params: thing.params(OneThing),
      answers: one(userAgentDetail),
    })
    show(call: BelowCall<object, SignedInViewer>): Promise<ToldOrigin> {
      return this.queries.of(call.viewer, thing.of(call));
    }
  }
  return stamped(`${kind.type}OriginsController`, OriginsController);
}
