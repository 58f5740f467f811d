import { alwaysNull, bool, choice, instant, int, list, nested, nullable, presenter, text } from '@rookery/api-v4';
import type { GroupScope } from '@rookery/api-v4';
import { absoluteUrl, userSummary } from '@rookery/directory';
import type { DirectoryUserRow } from '@rookery/directory';
import { MERGE_REQUEST_STATES } from '../merge-request.entity';
import { APPROVAL_RULE_TYPES } from './approval.entity';
import { approvalsLeft } from './approval-rules.queries';
import type { ApprovalRuleView } from './approval-rules.queries';
import type { ApprovalSettingsRow } from './approval-settings';
import type { ApprovalsView } from './approvals.queries';

const approver = presenter<ApprovalsView['approvals'][number]>('Approver').fields({
  user: [nested(userSummary), ({ user }) => user],
  approved_at: [instant, ({ approvedAt }) => approvedAt.toISOString(), { about: 'Time of the approval.' }],
});

const ruleLeft = presenter<ApprovalRuleView>('ApprovalRuleLeft').fields({
  id: [int, (rule) => rule.id],
  name: [text, (rule) => rule.name],
  rule_type: [choice<string>(...APPROVAL_RULE_TYPES), (rule) => rule.ruleType],
});

const none = list(alwaysNull);

/** Source: reference repositories 8.14. */
export const approvalsPresenter = presenter<ApprovalsView>('MergeRequestApprovals').fields({
  id: [int, ({ mergeRequest }) => mergeRequest.id],
  iid: [int, ({ mergeRequest }) => mergeRequest.iid],
  project_id: [int, ({ mergeRequest }) => mergeRequest.projectId],
  title: [text, ({ mergeRequest }) => mergeRequest.title],
  description: [nullable(text), ({ mergeRequest }) => mergeRequest.description],
  state: [choice<string>(...MERGE_REQUEST_STATES), ({ mergeRequest }) => mergeRequest.state],
  created_at: [instant, ({ mergeRequest }) => mergeRequest.createdAt.toISOString()],
  updated_at: [instant, ({ mergeRequest }) => mergeRequest.updatedAt.toISOString()],
  merge_status: [text, ({ mergeRequest }) => mergeRequest.mergeStatus, { about: 'Stored result of the merge check.' }],
  approved: [bool, isApproved, { about: 'All rules are fulfilled; without a requirement, at least one approval.' }],
  approvals_required: [int, countRequiredApprovals, { about: 'Sum of the approvals that the rules require.' }],
  approvals_left: [int, countMissingApprovals, { about: 'Sum of the approvals that the rules lack.' }],
  require_password_to_approve: [bool, () => false, { about: 'Always false: approvals need no password.' }],
  approved_by: [list(nested(approver)), ({ approvals }) => [...approvals], { about: 'Approvals, the oldest first.' }],
  suggested_approvers: [
    list(nested(userSummary)),
    suggestApprovers,
    { about: 'Approvers of rules who have not approved.' },
  ],
  approvers: [none, () => [], { about: 'Always empty: rules name approvers.' }],
  approver_groups: [none, () => [], { about: 'Always empty: rules name groups.' }],
  user_has_approved: [bool, ({ hasApproved }) => hasApproved, { about: 'The caller has approved the merge request.' }],
  user_can_approve: [bool, ({ canApprove }) => canApprove, { about: 'The caller can approve the merge request now.' }],
  approval_rules_left: [
    list(nested(ruleLeft)),
    ({ rules }) => rules.filter((rule) => approvalsLeft(rule) > 0),
    { about: 'Rules that lack approvals.' },
  ],
  has_approval_rules: [bool, ({ rules }) => rules.length > 0, { about: 'The merge request has rules to fulfil.' }],
  merge_request_approvers_available: [bool, ({ hasPaidPlan }) => hasPaidPlan, { about: 'The plan includes rules.' }],
  multiple_approval_rules_available: [bool, ({ hasPaidPlan }) => hasPaidPlan, { about: 'The plan includes rules.' }],
  invalid_approvers_rules: [
    list(nested(ruleLeft)),
    ({ rules }) => rules.filter(({ isValid, approvalsRequired }) => !isValid && approvalsRequired > 0),
    { about: 'Rules that no user can fulfil; they count as fulfilled.' },
  ],
});

const approverGroup = presenter<GroupScope>('ApproverGroup').fields({
  id: [int, (group) => group.id],
  name: [text, (group) => group.name],
  path: [text, (group) => group.path],
  full_name: [text, (group) => group.fullName],
  full_path: [text, (group) => group.fullPath],
  visibility: [text, (group) => group.visibility],
  avatar_url: [nullable(text), (group, _, { links }) => absoluteUrl(group.avatarUrl, links)],
  web_url: [text, (group, _, { links }) => links.webUrl(`groups/${group.fullPath}`)],
});

const RULE = {
  id: [int, (rule: ApprovalRuleView) => rule.id],
  name: [text, (rule: ApprovalRuleView) => rule.name],
  rule_type: [choice<string>(...APPROVAL_RULE_TYPES), (rule: ApprovalRuleView) => rule.ruleType],
  report_type: [alwaysNull, () => null, { about: 'Always null: rules do not depend on reports.' }],
  eligible_approvers: [
    list(nested(userSummary)),
    (rule: ApprovalRuleView): DirectoryUserRow[] => [...rule.eligible],
    { about: 'Users and members of the groups, at most 500. Only the users if a group is hidden.' },
  ],
  approvals_required: [
    int,
    (rule: ApprovalRuleView) => rule.approvalsRequired,
    { about: 'Approvals that the rule requires.' },
  ],
  users: [
    list(nested(userSummary)),
    (rule: ApprovalRuleView): DirectoryUserRow[] => [...rule.users],
    { about: 'Users whom the rule names.' },
  ],
  groups: [
    list(nested(approverGroup)),
    (rule: ApprovalRuleView): GroupScope[] => [...rule.groups],
    { about: 'Groups whose direct members can fulfil the rule.' },
  ],
  contains_hidden_groups: [
    bool,
    (rule: ApprovalRuleView) => rule.hasHiddenGroups,
    { about: 'The rule has groups that the caller may not see.' },
  ],
} as const;

/** A rule of a project. */
export const projectRulePresenter = presenter<ApprovalRuleView>('ProjectApprovalRule').fields({
  ...RULE,
  protected_branches: [none, () => [], { about: 'Always empty: rules apply to all branches.' }],
  applies_to_all_protected_branches: [bool, () => false, { about: 'Always false: rules apply to all branches.' }],
});

const sourceRule = nullable(
  nested(
    presenter<number>('SourceApprovalRule').fields({
      approvals_required: [int, (required) => required, { about: 'Approvals that the rule of the project requires.' }],
    }),
  ),
);
const approvalsRequiredBySourceRule = ({ sourceRequired }: ApprovalRuleView): number | null => sourceRequired;
const isSourceRuleOverridden = ({ sourceRequired, approvalsRequired }: ApprovalRuleView): boolean =>
  sourceRequired !== null && sourceRequired !== approvalsRequired;

/** A rule of a merge request. */
export const mergeRequestRulePresenter = presenter<ApprovalRuleView>('MergeRequestApprovalRule').fields({
  ...RULE,
  source_rule: [
    sourceRule,
    approvalsRequiredBySourceRule,
    { about: 'The rule of the project from which it was copied.' },
  ],
  section: [alwaysNull, () => null, { about: 'Always null: code owners are not supported.' }],
  overridden: [bool, isSourceRuleOverridden, { about: 'It requires another number than the rule of the project.' }],
});

const ruleState = presenter<ApprovalRuleView>('ApprovalRuleState').fields({
  ...RULE,
  source_rule: [
    sourceRule,
    approvalsRequiredBySourceRule,
    { about: 'The rule of the project from which it was copied.' },
  ],
  section: [alwaysNull, () => null, { about: 'Always null: code owners are not supported.' }],
  overridden: [bool, isSourceRuleOverridden, { about: 'It requires another number than the rule of the project.' }],
  code_owner: [bool, () => false, { about: 'Always false: code owners are not supported.' }],
  approved_by: [
    list(nested(userSummary)),
    (rule): DirectoryUserRow[] => [...rule.approvedBy],
    { about: 'Users whose approvals count for the rule.' },
  ],
  approved: [bool, (rule) => approvalsLeft(rule) === 0, { about: 'The rule is fulfilled.' }],
});

export const approvalStatePresenter = presenter<ApprovalsView>('ApprovalState').fields({
  approval_rules_overwritten: [
    bool,
    ({ mergeRequest }) => mergeRequest.approvalRulesOverwritten,
    { about: 'The merge request has rules of its own.' },
  ],
  rules: [list(nested(ruleState)), ({ rules }) => [...rules], { about: 'Rules that the merge request must fulfil.' }],
});

/** Settings of a project for approvals. */
export const approvalSettingsPresenter = presenter<ApprovalSettingsRow>('ApprovalSettings').fields({
  approvers: [none, () => [], { about: 'Always empty: rules name approvers.' }],
  approver_groups: [none, () => [], { about: 'Always empty: rules name groups.' }],
  approvals_before_merge: [int, (row) => row.approvals_before_merge, { about: 'Approvals by any approvers.' }],
  reset_approvals_on_push: [
    bool,
    (row) => row.reset_approvals_on_push,
    { about: 'A push to the source branch withdraws approvals.' },
  ],
  selective_code_owner_removals: [bool, () => false, { about: 'Always false: code owners are not supported.' }],
  disable_overriding_approvers_per_merge_request: [
    bool,
    (row) => row.disable_overriding_approvers_per_merge_request,
    { about: 'Merge requests have no rules of their own.' },
  ],
  merge_requests_author_approval: [
    bool,
    (row) => row.merge_requests_author_approval,
    { about: 'Authors may approve their merge requests.' },
  ],
  merge_requests_disable_committers_approval: [
    bool,
    (row) => row.merge_requests_disable_committers_approval,
    { about: 'Authors of commits may not approve them.' },
  ],
  require_password_to_approve: [bool, () => false, { about: 'Always false: approvals need no password.' }],
  require_reauthentication_to_approve: [bool, () => false, { about: 'Always false: approvals need no password.' }],
});

function countRequiredApprovals({ rules }: ApprovalsView): number {
  return rules.reduce((sum, rule) => sum + rule.approvalsRequired, 0);
}

function countMissingApprovals({ rules }: ApprovalsView): number {
  return rules.reduce((sum, rule) => sum + approvalsLeft(rule), 0);
}

function isApproved(shown: ApprovalsView): boolean {
  return countRequiredApprovals(shown) > 0 ? countMissingApprovals(shown) === 0 : shown.approvals.length > 0;
}

function suggestApprovers({ rules, approvals }: ApprovalsView): DirectoryUserRow[] {
  const approved = new Set(approvals.map(({ user }) => user.id));
  const eligible = rules.flatMap((rule) => rule.eligible).filter(({ id }) => !approved.has(id));
  return [...new Map(eligible.map((user) => [user.id, user])).values()];
}
