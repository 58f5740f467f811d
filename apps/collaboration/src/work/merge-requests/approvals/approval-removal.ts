import { declareAttachedTable } from '@rookery/persistence';

/** Parts of approvals that are removed with their project, group or users. The rest goes by foreign keys. */
export const attachedApprovalSettings = declareAttachedTable({
  table: 'approval_settings',
  key: 'project_id',
  project: 'project_id',
});
export const attachedApprovalRules = declareAttachedTable({
  table: 'approval_rules',
  project: 'project_id',
  stays: {
    merge_request_id: 'a foreign key removes the rule with its merge request',
    source_rule_id: 'says which rule of the project was copied; the copy outlives it',
  },
});
export const attachedApprovalRuleUsers = declareAttachedTable({
  table: 'approval_rule_users',
  key: 'ctid',
  users: [{ column: 'user_id', onRemoval: 'delete' }],
  stays: { rule_id: 'a foreign key removes the row with its rule' },
});
export const attachedApprovalRuleGroups = declareAttachedTable({
  table: 'approval_rule_groups',
  key: 'ctid',
  group: 'group_id',
  stays: { rule_id: 'a foreign key removes the row with its rule' },
});
export const attachedMergeRequestApprovals = declareAttachedTable({
  table: 'merge_request_approvals',
  key: 'ctid',
  users: [{ column: 'user_id', onRemoval: 'delete' }],
  stays: { merge_request_id: 'a foreign key removes the approval with its merge request' },
});
