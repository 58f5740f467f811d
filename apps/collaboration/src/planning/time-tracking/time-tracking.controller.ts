import { Controller } from '@nestjs/common';
import { ability, anyone, created, Endpoint, JsonText, one } from '@rookery/api-v4';
import type { SignedInViewer, Viewer } from '@rookery/kernel';
import { below, OneThing, stamped } from '../../base/noteables/noteable-routes.dto';
import type { BelowCall, NoteableRoutes } from '../../base/noteables/noteable-routes.dto';
import { planningPolicy } from '../../base/noteables/planning.policy';
import { timeStatsShape } from './time-stats.shape';
import { EstimateTime, SpendTime } from './time-tracking.dto';
import { TimeTrackingService } from './time-tracking.service';

const SOURCE = 'reference work-tracking 9.1';
const stats = timeStatsShape.presenter;

type WriteCall<P> = BelowCall<P, SignedInViewer>;

/** What is estimated for things of a kind, and what was spent on them. */
export function timeTrackingController(routes: NoteableRoutes) {
  const { kind, a } = routes;
  const thing = below(routes);
  const at = (tail: string) => ({ within: thing.within, source: SOURCE, ...thing.aliases(tail) });
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
      about: `Shows what is estimated for ${a} and what was spent on it, in seconds.`,
      may: anyone(),
      params: thing.params(OneThing),
      answers: one(stats),
    })
    async show(call: BelowCall<OneThing, Viewer>): Promise<JsonText> {
      return new JsonText(await this.times.show(call.viewer, thing.of(call)));
    }

    @Endpoint('POST', path('time_estimate'), {
      ...at('time_estimate'),
      about: `Says how long ${a} is going to take.`,
      may: mayTrack,
      params: thing.params(EstimateTime),
      answers: one(stats),
      fails: [429],
    })
    async estimate(call: WriteCall<EstimateTime>): Promise<JsonText> {
      return new JsonText(await this.times.estimate(call.viewer, thing.of(call), call.params.duration));
    }

    @Endpoint('POST', path('reset_time_estimate'), {
      ...at('reset_time_estimate'),
      about: `Takes the estimate of ${a} away.`,
      may: mayTrack,
      params: thing.params(OneThing),
      answers: one(stats),
      fails: [429],
    })
    async resetEstimate(call: WriteCall<OneThing>): Promise<JsonText> {
      return new JsonText(await this.times.resetEstimate(call.viewer, thing.of(call)));
    }

    @Endpoint('POST', path('add_spent_time'), {
      ...at('add_spent_time'),
      about: `Adds time that was spent on ${a}.`,
      may: mayTrack,
      params: thing.params(SpendTime),
      answers: created(stats),
      fails: [429],
    })
    async spend(call: WriteCall<SpendTime>): Promise<JsonText> {
      return new JsonText(await this.times.spend(call.viewer, thing.of(call), call.params.duration));
    }

    @Endpoint('POST', path('reset_spent_time'), {
      ...at('reset_spent_time'),
      about: `Takes away all time that was spent on ${a}.`,
      may: mayTrack,
      params: thing.params(OneThing),
      answers: one(stats),
      fails: [429],
    })
    async resetSpent(call: WriteCall<OneThing>): Promise<JsonText> {
      return new JsonText(await this.times.resetSpent(call.viewer, thing.of(call)));
    }
  }
  return stamped(`${kind.type}TimeTrackingController`, TimeTrackingController);
}
