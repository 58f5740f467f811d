import { statement } from '@rookery/persistence';

/**
 * Withdraws all approvals of a merge request. With `only_if_set`, it does so only if the project resets approvals on
 * pushes.
 */
export const resetApprovals = statement<{ id: number; only_if_set: boolean }, never>(
  'merge_request_approvals_reset',
  `with gone as (
     delete from merge_request_approvals a where a.merge_request_id = :id::bigint
       and (not :only_if_set::boolean or exists (select 1 from merge_requests i
         join approval_settings s on s.project_id = i.project_id and s.reset_approvals_on_push where i.id = :id::bigint))
     returning a.user_id
   )
   update merge_request_reviewers r set state = 'unreviewed' from gone
   where r.merge_request_id = :id::bigint and r.user_id = gone.user_id and r.state = 'approved'`,
);
