import { Int, OneOf } from '@rookery/api-v4';
import type { NothingBut } from '@rookery/kernel';
import { LIMITED_PLANS, PLAN_LIMITS } from './plan-limit.entity';
import type { LimitedPlan, PlanLimits } from './plan-limit.entity';

const { min, max } = PLAN_LIMITS.project_feature_flags;

export class ShowPlanLimits {
  @OneOf(LIMITED_PLANS, { default: 'default', about: '`default`: what holds where nothing was set for a plan.' })
  plan_name: LimitedPlan;
}

/** Source: reference packages-and-admin 10.5. */
export class UpdatePlanLimits implements NothingBut<PlanLimits, UpdatePlanLimits, 'plan_name'> {
  @OneOf(LIMITED_PLANS) plan_name: LimitedPlan;
  @Int({ min, max, about: 'Feature flags that a project may come to have.' }) project_feature_flags: number;
}
