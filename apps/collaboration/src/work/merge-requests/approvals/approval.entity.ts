import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { MergeRequest } from '../merge-request.entity';

export const APPROVAL_RULE_TYPES = ['regular', 'any_approver'] as const;
export type ApprovalRuleType = (typeof APPROVAL_RULE_TYPES)[number];

/** Largest number of approvals that a rule can require. */
export const MOST_APPROVALS = 100;

/** Settings of a project for approvals. A project without a row has the defaults. Source: reference repositories 8.14. */
@Entity('approval_settings')
export class ApprovalSettings {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_approval_settings' }) projectId: number;
  @Column({ type: 'boolean', default: false }) resetApprovalsOnPush: boolean;
  @Column({ type: 'boolean', default: false }) disableOverridingApproversPerMergeRequest: boolean;
  @Column({ type: 'boolean', default: true }) mergeRequestsAuthorApproval: boolean;
  @Column({ type: 'boolean', default: false }) mergeRequestsDisableCommittersApproval: boolean;
}

/**
 * A number of approvals that users, or members of groups, must give. A rule without `mergeRequestId` belongs to the
 * project. `sourceRuleId` is the rule of the project from which a rule of a merge request was copied.
 */
@Entity('approval_rules')
@Check('ck_approval_rules_name', 'char_length(name) between 1 and 255')
@Check('ck_approval_rules_rule_type', `rule_type in ('regular', 'any_approver')`)
@Check('ck_approval_rules_approvals_required', 'approvals_required between 0 and 100')
@Index('ix_approval_rules_place', { synchronize: false })
@Index('ix_approval_rules_merge_request_id', ['mergeRequestId'], { where: 'merge_request_id is not null' })
@Index('uq_approval_rules_name', { synchronize: false })
@Index('uq_approval_rules_any_approver', { synchronize: false })
export class ApprovalRule {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_approval_rules',
  })
  id: number;
  @Column({ type: 'bigint' }) projectId: number;
  @ForeignKey(() => MergeRequest, { name: 'fk_approval_rules_merge_request_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint', nullable: true })
  mergeRequestId: number | null;
  @Column({ type: 'bigint', nullable: true }) sourceRuleId: number | null;
  @Column({ type: 'text' }) name: string;
  @Column({ type: 'text', default: 'regular' }) ruleType: ApprovalRuleType;
  @Column({ type: 'integer' }) approvalsRequired: number;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
}

@Entity('approval_rule_users')
@Index('ix_approval_rule_users_user_id', ['userId'])
export class ApprovalRuleUser {
  @ForeignKey(() => ApprovalRule, { name: 'fk_approval_rule_users_rule_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_approval_rule_users' })
  ruleId: number;
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_approval_rule_users' }) userId: number;
}

@Entity('approval_rule_groups')
@Index('ix_approval_rule_groups_group_id', ['groupId'])
export class ApprovalRuleGroup {
  @ForeignKey(() => ApprovalRule, { name: 'fk_approval_rule_groups_rule_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_approval_rule_groups' })
  ruleId: number;
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_approval_rule_groups' }) groupId: number;
}

/** An approval of a merge request by a user. */
@Entity('merge_request_approvals')
@Index('ix_merge_request_approvals_user_id', ['userId'])
export class MergeRequestApproval {
  @ForeignKey(() => MergeRequest, { name: 'fk_merge_request_approvals_merge_request_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_merge_request_approvals' })
  mergeRequestId: number;
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_merge_request_approvals' }) userId: number;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) approvedAt: Date;
}
