import { int, presenter } from '@rookery/api-v4';
import type { PlanLimits } from './plan-limit.entity';

/** Source: reference packages-and-admin 10.5. */
export const planLimitsPresenter = presenter<PlanLimits>('PlanLimits').fields({
  project_feature_flags: [int, (limits) => limits.project_feature_flags],
});
