import { Injectable } from '@nestjs/common';
import { PLAN_LIMITS, findPlanLimit } from '@rookery/instance';
import type { Plan, PlanLimitName, SetPlanLimits } from '@rookery/instance';
import { Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { InstanceConfigService } from '../instance/instance.service';
import { PlanLimit } from './plan-limit.entity';
import type { LimitedPlan, PlanLimits } from './plan-limit.entity';

const PLAN_OF_PROJECT = `select n.plan from directory_projects p
  join directory_namespaces n on n.id = p.namespace_id where p.id = $1`;

/** Limits of plans. Source: reference packages-and-admin 10.5. */
@Injectable()
export class PlanLimitsService {
  constructor(
    private readonly work: Work,
    private readonly instance: InstanceConfigService,
  ) {}

  show(plan: LimitedPlan): Promise<PlanLimits> {
    return this.work.run((tx) => readEffectiveLimits(tx, plan));
  }

  /** Changes the sent limits, here and in all other services. */
  change(plan: LimitedPlan, sent: Partial<PlanLimits>): Promise<PlanLimits> {
    return this.work.run(async (tx) => {
      await this.instance.change(tx);
      const rows = Object.entries(sent).flatMap(([name, value]) =>
        value === undefined ? [] : [{ plan, name: name as PlanLimitName, value }],
      );
      await tx.manager.upsert(PlanLimit, rows, ['plan', 'name']);
      return readEffectiveLimits(tx, plan);
    });
  }
}

/** Returns a limit of a project, by the plan of its top-level group or user namespace. */
export async function planLimitOfProject(tx: Tx, projectId: number, name: PlanLimitName): Promise<number> {
  const [project] = await tx.query<{ plan: Plan }>(PLAN_OF_PROJECT, [projectId]);
  const plan = project?.plan ?? 'default';
  return findPlanLimit(await readExplicitLimits(tx, plan), plan, name);
}

async function readEffectiveLimits(tx: Tx, plan: LimitedPlan): Promise<PlanLimits> {
  const set = await readExplicitLimits(tx, plan);
  const names = Object.keys(PLAN_LIMITS) as PlanLimitName[];
  return Object.fromEntries(names.map((name) => [name, findPlanLimit(set, plan, name)])) as PlanLimits;
}

/** Limits that were set for a plan and for `default`. */
async function readExplicitLimits(tx: Tx, plan: LimitedPlan): Promise<SetPlanLimits> {
  const rows = await tx.manager.findBy(PlanLimit, [{ plan }, { plan: 'default' }]);
  const ofPlan = (wanted: string) => rows.filter((row) => row.plan === wanted).map(({ name, value }) => [name, value]);
  return Object.fromEntries([plan, 'default'].map((wanted) => [wanted, Object.fromEntries(ofPlan(wanted))]));
}
