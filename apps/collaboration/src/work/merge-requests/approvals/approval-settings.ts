import { statement } from '@rookery/persistence';

/** Settings of a project for approvals. Source: reference repositories 8.14. */
export interface ApprovalSettingsRow {
  readonly approvals_before_merge: number;
  readonly reset_approvals_on_push: boolean;
  readonly disable_overriding_approvers_per_merge_request: boolean;
  readonly merge_requests_author_approval: boolean;
  readonly merge_requests_disable_committers_approval: boolean;
}

/** Settings that a request changes. Null keeps the value. */
export interface ApprovalSettingsChange {
  readonly project: number;
  readonly resets: boolean | null;
  readonly no_overriding: boolean | null;
  readonly by_author: boolean | null;
  readonly no_committers: boolean | null;
}

export const approvalSettingsOf = statement<{ project: number }, ApprovalSettingsRow>(
  'approval_settings_of',
  `select coalesce((select r.approvals_required from approval_rules r where r.project_id = :project::bigint
       and coalesce(r.merge_request_id, 0) = 0 and r.rule_type = 'any_approver'), 0) as approvals_before_merge,
     coalesce(s.reset_approvals_on_push, false) as reset_approvals_on_push,
     coalesce(s.disable_overriding_approvers_per_merge_request, false) as disable_overriding_approvers_per_merge_request,
     coalesce(s.merge_requests_author_approval, true) as merge_requests_author_approval,
     coalesce(s.merge_requests_disable_committers_approval, false) as merge_requests_disable_committers_approval
   from (values (1)) one left join approval_settings s on s.project_id = :project::bigint`,
);

export const changeApprovalSettings = statement<ApprovalSettingsChange, never>(
  'approval_settings_change',
  `insert into approval_settings as s (project_id, reset_approvals_on_push, disable_overriding_approvers_per_merge_request,
     merge_requests_author_approval, merge_requests_disable_committers_approval)
   values (:project::bigint, coalesce(:resets::boolean, false), coalesce(:no_overriding::boolean, false),
     coalesce(:by_author::boolean, true), coalesce(:no_committers::boolean, false))
   on conflict (project_id) do update set
     reset_approvals_on_push = coalesce(:resets::boolean, s.reset_approvals_on_push),
     disable_overriding_approvers_per_merge_request =
       coalesce(:no_overriding::boolean, s.disable_overriding_approvers_per_merge_request),
     merge_requests_author_approval = coalesce(:by_author::boolean, s.merge_requests_author_approval),
     merge_requests_disable_committers_approval =
       coalesce(:no_committers::boolean, s.merge_requests_disable_committers_approval)`,
);
