import { Injectable } from '@nestjs/common';
import { Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { PLAN_LIMITS, PlanLimit } from './plan-limit.entity';
import type { LimitedPlan, PlanLimitName, PlanLimits } from './plan-limit.entity';

const OF_PROJECT = `select l.plan, l.value from plan_limits l
  where l.name = $2 and (l.plan = 'default' or l.plan = (
    select n.plan from directory_projects p join directory_namespaces n on n.id = p.namespace_id where p.id = $1))`;

/**
 * Limits of plans. A plan without limits of its own has those of `default`. Source: reference packages-and-admin 10.5.
 */
@Injectable()
export class PlanLimitsService {
  constructor(private readonly work: Work) {}

  show(plan: LimitedPlan): Promise<PlanLimits> {
    return this.work.run((tx) => allOf(tx, plan));
  }

  /** Changes the sent limits. */
  change(plan: LimitedPlan, sent: Partial<PlanLimits>): Promise<PlanLimits> {
    return this.work.run(async (tx) => {
      const rows = Object.entries(sent).map(([name, value]) => ({ plan, name: name as PlanLimitName, value }));
      await tx.manager.upsert(PlanLimit, rows, ['plan', 'name']);
      return allOf(tx, plan);
    });
  }
}

/** Returns a limit of a project, by the plan of its top-level group or user namespace. */
export async function planLimitIn(tx: Tx, projectId: number, name: PlanLimitName): Promise<number> {
  return chosen(await tx.query<Pick<PlanLimit, 'plan' | 'value'>>(OF_PROJECT, [projectId, name]), name);
}

async function allOf(tx: Tx, plan: LimitedPlan): Promise<PlanLimits> {
  const set = await tx.manager.findBy(PlanLimit, [{ plan }, { plan: 'default' }]);
  const names = Object.keys(PLAN_LIMITS) as PlanLimitName[];
  const limits = names.map((name) => [
    name,
    chosen(
      set.filter((limit) => limit.name === name),
      name,
    ),
  ]);
  return Object.fromEntries(limits) as PlanLimits;
}

/** Picks the limit of the plan itself, else that of `default`. */
function chosen(set: readonly Pick<PlanLimit, 'plan' | 'value'>[], name: PlanLimitName): number {
  const own = set.find(({ plan }) => plan !== 'default') ?? set[0];
  return own?.value ?? PLAN_LIMITS[name].default;
}
