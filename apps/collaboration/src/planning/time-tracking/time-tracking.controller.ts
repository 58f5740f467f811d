import { Controller } from '@nestjs/common';
import { ability, anyone, created, Endpoint, JsonText, one } from '@rookery/api-v4';
import type { SignedInViewer, Viewer } from '@rookery/kernel';
import { createNoteableRouteOptions, IdentifyNoteable, nameClass } from '../../base/noteables/noteable-routes.dto';
import type { BelowCall, NoteableRoutes } from '../../base/noteables/noteable-routes.dto';
import { planningPolicy } from '../../base/noteables/planning.policy';
import { timeStatsShape } from './time-stats.shape';
import { EstimateTime, SpendTime } from './time-tracking.dto';
import { TimeTrackingService } from './time-tracking.service';

const SOURCE = 'reference work-tracking 9.1';
const stats = timeStatsShape.presenter;

type WriteCall<P> = BelowCall<P, SignedInViewer>;

/** Creates the controller with the time tracking routes of one kind of noteable. */
export function timeTrackingController(routes: NoteableRoutes) {
  const { kind, a } = routes;
  const noteable = createNoteableRouteOptions(routes);
  const at = (tail: string) => ({ within: noteable.within, source: SOURCE, ...noteable.aliases(tail) });
  const path = (tail: string): string => `/${routes.path}/${tail}`;
  const mayTrack = ability(
    `${kind.noun}.track_time`,
    ({ viewer, within }: WriteCall<unknown>) => planningPolicy.mayManage(viewer, within),
    { signedIn: true },
  );

  @Controller()
  class TimeTrackingController {
    constructor(readonly times: TimeTrackingService) {}

    @Endpoint('GET', path('time_stats'), {
      ...at('time_stats'),
      about: `Shows the time estimate of ${a} and the time spent on it, in seconds.`,
      may: anyone(),
      params: noteable.params(IdentifyNoteable),
      answers: one(stats),
    })
    async show(call: BelowCall<IdentifyNoteable, Viewer>): Promise<JsonText> {
      return new JsonText(await this.times.show(call.viewer, noteable.referenceOf(call)));
    }

    @Endpoint('POST', path('time_estimate'), {
      ...at('time_estimate'),
      about: `Sets the time estimate of ${a}.`,
      may: mayTrack,
      params: noteable.params(EstimateTime),
      answers: one(stats),
      fails: [429],
    })
    async estimate(call: WriteCall<EstimateTime>): Promise<JsonText> {
      return new JsonText(await this.times.estimate(call.viewer, noteable.referenceOf(call), call.params.duration));
    }

    @Endpoint('POST', path('reset_time_estimate'), {
      ...at('reset_time_estimate'),
      about: `Removes the time estimate of ${a}.`,
      may: mayTrack,
      params: noteable.params(IdentifyNoteable),
      answers: one(stats),
      fails: [429],
    })
    async resetEstimate(call: WriteCall<IdentifyNoteable>): Promise<JsonText> {
      return new JsonText(await this.times.resetEstimate(call.viewer, noteable.referenceOf(call)));
    }

    @Endpoint('POST', path('add_spent_time'), {
      ...at('add_spent_time'),
      about: `Adds time spent on ${a}.`,
      may: mayTrack,
      params: noteable.params(SpendTime),
      answers: created(stats),
      fails: [429],
    })
    async spend(call: WriteCall<SpendTime>): Promise<JsonText> {
      return new JsonText(await this.times.spend(call.viewer, noteable.referenceOf(call), call.params.duration));
    }

    @Endpoint('POST', path('reset_spent_time'), {
      ...at('reset_spent_time'),
      about: `Removes all time spent on ${a}.`,
      may: mayTrack,
      params: noteable.params(IdentifyNoteable),
      answers: one(stats),
      fails: [429],
    })
    async resetSpent(call: WriteCall<IdentifyNoteable>): Promise<JsonText> {
      return new JsonText(await this.times.resetSpent(call.viewer, noteable.referenceOf(call)));
    }
  }
  return nameClass(`${kind.type}TimeTrackingController`, TimeTrackingController);
}
