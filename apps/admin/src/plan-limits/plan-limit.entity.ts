import { APPLICATION_BOUNDS } from '@rookery/instance';
import type { PlanLimitName } from '@rookery/instance';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Plans that limits can be set for. `default` applies to plans without limits of their own. */
export const LIMITED_PLANS = ['default', ...APPLICATION_BOUNDS.default_plan] as const;
export type LimitedPlan = (typeof LIMITED_PLANS)[number];

export type PlanLimits = Readonly<Record<PlanLimitName, number>>;

/** A limit that an administrator has set. Source: reference packages-and-admin 10.5. */
@Entity('plan_limits')
export class PlanLimit {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_plan_limits' }) plan: LimitedPlan;
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_plan_limits' }) name: PlanLimitName;
  @Column({ type: 'bigint' }) value: number;
}
