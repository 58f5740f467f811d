import { Controller } from '@nestjs/common';
import { created, Endpoint, JsonText, page } from '@rookery/api-v4';
import type { JsonPage } from '@rookery/api-v4';
import type { SignedInViewer, Viewer } from '@rookery/kernel';
import { createNoteableRouteOptions, IdentifyNoteable, nameClass } from '../../base/noteables/noteable-routes.dto';
import type { BelowCall, NoteableRoutes } from '../../base/noteables/noteable-routes.dto';
import { personShape } from '../../base/noteables/person.shape';
import { ParticipantsQueries } from './participants.queries';
import { SubscriptionsService } from './subscriptions.service';

const SOURCE = 'reference work-tracking 9.7';

type SubscriptionCall = BelowCall<IdentifyNoteable, SignedInViewer>;

/** Controller of subscriptions and participants of noteables of one kind. */
export function subscriptionsController(routes: NoteableRoutes) {
  const { kind, a } = routes;
  const noteable = createNoteableRouteOptions(routes);
  const at = (tail: string) => ({
    within: noteable.within,
    params: noteable.params(IdentifyNoteable),
    ...noteable.aliases(tail),
  });
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
      about: `Subscribes the caller to ${a}: they get e-mails about its changes and comments.`,
      source: SOURCE,
      may: noteable.may.write,
      answers,
      fails: [304],
    })
    async subscribe(call: SubscriptionCall): Promise<JsonText> {
      return new JsonText(await this.subscriptions.setSubscription(call.viewer, noteable.referenceOf(call), true));
    }

    @Endpoint('POST', path('unsubscribe'), {
      ...at('unsubscribe'),
      about: `Unsubscribes the caller from ${a}, even if they participate in it.`,
      source: SOURCE,
      may: noteable.may.write,
      answers,
      fails: [304],
    })
    async unsubscribe(call: SubscriptionCall): Promise<JsonText> {
      return new JsonText(await this.subscriptions.setSubscription(call.viewer, noteable.referenceOf(call), false));
    }

    @Endpoint('GET', path('participants'), {
      ...at('participants'),
      about: `Lists the participants of ${a}.`,
      source: 'reference work-tracking 9.1, 9.7',
      may: noteable.may.read,
      answers: page(personShape.presenter),
    })
    listParticipants(call: BelowCall<IdentifyNoteable, Viewer>): Promise<JsonPage> {
      return this.participants.list(call.viewer, noteable.referenceOf(call), call.page);
    }
  }
  return nameClass(`${kind.type}SubscriptionsController`, SubscriptionsController);
}
