import { Controller } from '@nestjs/common';
import type { Call } from '@rookery/api-v4';
import { administrator, Endpoint, one } from '@rookery/api-v4';
import type { PlanLimits } from './plan-limit.entity';
import { ShowPlanLimits, UpdatePlanLimits } from './plan-limits.dto';
import { planLimitsPresenter } from './plan-limits.presenter';
import { PlanLimitsService } from './plan-limits.service';

const SHARED = {
  source: 'reference packages-and-admin 10.5',
  may: administrator(),
  answers: one(planLimitsPresenter),
} as const;

@Controller()
export class PlanLimitsController {
  constructor(private readonly limits: PlanLimitsService) {}

  @Endpoint('GET', '/application/plan_limits', {
    ...SHARED,
    about: 'Returns the limits of a plan.',
    params: ShowPlanLimits,
  })
  show({ params }: Call<ShowPlanLimits>): Promise<PlanLimits> {
    return this.limits.show(params.plan_name);
  }

  @Endpoint('PUT', '/application/plan_limits', {
    ...SHARED,
    about: 'Changes the limits of a plan.',
    params: UpdatePlanLimits,
  })
  update({ params: { plan_name: plan, ...sent } }: Call<UpdatePlanLimits>): Promise<PlanLimits> {
    return this.limits.change(plan, sent);
  }
}
