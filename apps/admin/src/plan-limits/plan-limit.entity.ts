import { APPLICATION_BOUNDS } from '@rookery/instance';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What limits can be set for: a plan, or all that nobody set one for. */
export const LIMITED_PLANS = ['default', ...APPLICATION_BOUNDS.default_plan] as const;
export type LimitedPlan = (typeof LIMITED_PLANS)[number];

/** The limits that act, as they are until somebody sets them. Source: reference packages-and-admin 10.5. */
export const PLAN_LIMITS = {
  /** Feature flags that a project may come to have. Its clients fetch all of them, again and again. */
  project_feature_flags: { default: 200, min: 1, max: 1000 },
} as const;
export type PlanLimitName = keyof typeof PLAN_LIMITS;
export type PlanLimits = Readonly<Record<PlanLimitName, number>>;

/** A limit that somebody has set. Source: reference packages-and-admin 10.5. */
@Entity('plan_limits')
export class PlanLimit {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_plan_limits' }) plan: LimitedPlan;
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_plan_limits' }) name: PlanLimitName;
  @Column({ type: 'integer' }) value: number;
}
