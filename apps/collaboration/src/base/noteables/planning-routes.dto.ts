import { ability, SCOPE_RESOLVER } from '@rookery/api-v4';
import type { Call, ProjectScope, RuleServices, ScopeResolver } from '@rookery/api-v4';
import type { SignedInViewer, Viewer } from '@rookery/kernel';
import { planningPolicy } from './planning.policy';
import type { PlanningSource } from './planning.policy';

/** Calls of the label and milestone routes. */
export type PlanningCall<P, V extends Viewer = SignedInViewer> = Call<P, PlanningSource, V>;
export type PromotionCall<P> = Call<P, ProjectScope, SignedInViewer>;

/** Permissions of the label and milestone routes. `noun` is the prefix of their names. */
export function planningAbilities<const N extends string>(noun: N) {
  return {
    mayRead: ability(`${noun}.read`, ({ viewer, within }: PlanningCall<unknown, Viewer>) =>
      planningPolicy.mayRead(viewer, within),
    ),
    mayManage: ability(
      `${noun}.manage`,
      ({ viewer, within }: PlanningCall<unknown>) => planningPolicy.mayManage(viewer, within),
      { signedIn: true },
    ),
    mayPromote: ability(`${noun}.promote`, mayPromoteLabelOrMilestone, { signedIn: true }),
  };
}

/** Whether the viewer may manage labels or milestones in both the project and its group. */
async function mayPromoteLabelOrMilestone(
  { viewer, within }: PromotionCall<unknown>,
  services: RuleServices,
): Promise<boolean> {
  if (!planningPolicy.mayManage(viewer, within)) return false;
  if (within.namespace.kind !== 'group') return true;
  const above = await services.get<ScopeResolver>(SCOPE_RESOLVER).findGroup(within.namespace.id, viewer);
  return above !== null && planningPolicy.mayManage(viewer, above);
}
