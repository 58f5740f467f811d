import { Int, OneOf } from '@rookery/api-v4';
import type { NothingBut } from '@rookery/kernel';
import { LIMITED_PLANS, PLAN_LIMITS } from './plan-limit.entity';
import type { LimitedPlan, PlanLimits } from './plan-limit.entity';

const { min, max } = PLAN_LIMITS.project_feature_flags;

export class ShowPlanLimits {
  @OneOf(LIMITED_PLANS, { default: 'default', about: '`default` applies to plans without limits of their own.' })
  plan_name: LimitedPlan;
}

/** Source: reference packages-and-admin 10.5. */
export class UpdatePlanLimits implements NothingBut<PlanLimits, UpdatePlanLimits, 'plan_name'> {
  @OneOf(LIMITED_PLANS) plan_name: LimitedPlan;
  @Int({ min, max, about: 'Maximum number of feature flags of a project.' }) project_feature_flags: number;
}
