import { AtLeastOneOf, Flag, Int, ListOf, OneOf, Text } from '@rookery/api-v4';
import { IdentifyMergeRequest } from '../merge-requests.dto';
import { APPROVAL_RULE_TYPES, MOST_APPROVALS } from './approval.entity';
import type { ApprovalRuleType } from './approval.entity';
import type { ApprovalRuleInput } from './approval-rules.service';

const REQUIRED = { min: 0, max: MOST_APPROVALS } as const;

export class ApproveMergeRequest extends IdentifyMergeRequest {
  @Text({ optional: true, nullable: true, about: 'Head of the source branch that the caller knows.' })
  sha?: string | null;
  @Flag({ default: false, about: 'Publishes the drafts of the caller after the approval.' }) publish_review: boolean;
}

export class SetRequiredApprovals extends IdentifyMergeRequest {
  @Int({ ...REQUIRED, about: 'Approvals that any approvers must give.' }) approvals_required: number;
}

@AtLeastOneOf(
  'approvals_before_merge',
  'reset_approvals_on_push',
  'disable_overriding_approvers_per_merge_request',
  'merge_requests_author_approval',
  'merge_requests_disable_committers_approval',
)
export class UpdateApprovalSettings {
  @Int({ ...REQUIRED, optional: true, about: 'Approvals that any approvers must give.' })
  approvals_before_merge?: number;
  @Flag({ optional: true, about: 'A push to the source branch withdraws approvals.' })
  reset_approvals_on_push?: boolean;
  @Flag({ optional: true, about: 'Merge requests have no rules of their own.' })
  disable_overriding_approvers_per_merge_request?: boolean;
  @Flag({ optional: true, about: 'Authors may approve their merge requests.' })
  merge_requests_author_approval?: boolean;
  @Flag({ optional: true, about: 'Authors of commits may not approve them.' })
  merge_requests_disable_committers_approval?: boolean;
}

/** People of a rule. Users who cannot read the merge requests, and hidden groups, are dropped. */
class ApprovalRulePeople {
  @ListOf('int', { optional: true }) user_ids?: readonly number[];
  @ListOf('text', { optional: true, splitItems: true, about: 'Names of users who approve.' })
  usernames?: readonly string[];
  @ListOf('int', { optional: true, about: 'Groups whose direct members approve.' }) group_ids?: readonly number[];
}

export class CreateApprovalRule extends ApprovalRulePeople {
  @Text({ blank: 'refused', max: 255 }) name: string;
  @Int({ ...REQUIRED, about: 'Approvals that the rule requires.' }) approvals_required: number;
  @OneOf(APPROVAL_RULE_TYPES, { optional: true }) rule_type?: ApprovalRuleType;
}

export class IdentifyApprovalRule {
  @Int({ in: 'path', about: 'Id of the rule.' }) approval_rule_id: number;
}

export class UpdateApprovalRule extends ApprovalRulePeople {
  @Int({ in: 'path', about: 'Id of the rule.' }) approval_rule_id: number;
  @Text({ optional: true, blank: 'refused', max: 255 }) name?: string;
  @Int({ ...REQUIRED, optional: true, about: 'Approvals that the rule requires.' }) approvals_required?: number;
}

export class CreateMergeRequestApprovalRule extends CreateApprovalRule {
  @Int() merge_request_iid: number;
}

export class IdentifyMergeRequestApprovalRule extends IdentifyApprovalRule {
  @Int() merge_request_iid: number;
}

export class UpdateMergeRequestApprovalRule extends UpdateApprovalRule {
  @Int() merge_request_iid: number;
}

/** Maps the parameters to the fields of a rule. */
export function toRuleInput(params: CreateApprovalRule | UpdateApprovalRule): ApprovalRuleInput {
  return {
    name: params.name,
    ruleType: 'rule_type' in params ? params.rule_type : undefined,
    approvalsRequired: params.approvals_required,
    userIds: params.user_ids,
    usernames: params.usernames,
    groupIds: params.group_ids,
  };
}
