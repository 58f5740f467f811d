import { Controller } from '@nestjs/common';
import { created, Endpoint, JsonText, page } from '@rookery/api-v4';
import type { JsonPage } from '@rookery/api-v4';
import type { SignedInViewer, Viewer } from '@rookery/kernel';
import { below, OneThing, stamped } from '../../base/noteables/noteable-routes.dto';
import type { BelowCall, NoteableRoutes } from '../../base/noteables/noteable-routes.dto';
import { personShape } from '../../base/noteables/person.shape';
import { ParticipantsQueries } from './participants.queries';
import { SubscriptionsService } from './subscriptions.service';

const SOURCE = 'reference work-tracking 9.7';

type FollowCall = BelowCall<OneThing, SignedInViewer>;

/** Following things of a kind, and who takes part in them. */
export function subscriptionsController(routes: NoteableRoutes) {
  const { kind, a } = routes;
  const thing = below(routes);
  const at = (tail: string) => ({ within: thing.within, params: thing.params(OneThing), ...thing.aliases(tail) });
  const path = (tail: string): string => `/${routes.path}/${tail}`;
  const answers = created(kind.detailed.presenter);

  @Controller()
  class SubscriptionsController {
    constructor(
      readonly subscriptions: SubscriptionsService,
      readonly participants: ParticipantsQueries,
    ) {}

    @Endpoint('POST', path('subscribe'), {
      ...at('subscribe'),
      about: `Follows ${a}: the caller gets e-mail of what happens there.`,
      source: SOURCE,
      may: thing.may.write,
      answers,
      fails: [304],
    })
    async subscribe(call: FollowCall): Promise<JsonText> {
      return new JsonText(await this.subscriptions.follow(call.viewer, thing.of(call), true));
    }

    @Endpoint('POST', path('unsubscribe'), {
      ...at('unsubscribe'),
      about: `Follows ${a} no more, whatever part the caller takes in it.`,
      source: SOURCE,
      may: thing.may.write,
      answers,
      fails: [304],
    })
    async unsubscribe(call: FollowCall): Promise<JsonText> {
      return new JsonText(await this.subscriptions.follow(call.viewer, thing.of(call), false));
    }

    @Endpoint('GET', path('participants'), {
      ...at('participants'),
      about: `Lists who takes part in ${a}.`,
      source: 'reference work-tracking 9.1, 9.7',
      may: thing.may.read,
      answers: page(personShape.presenter),
    })
    listParticipants(call: BelowCall<OneThing, Viewer>): Promise<JsonPage> {
      return this.participants.page(call.viewer, thing.of(call), call.page);
    }
  }
  return stamped(`${kind.type}SubscriptionsController`, SubscriptionsController);
}
