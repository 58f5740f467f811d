import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { MergeRequest } from '../merge-request.entity';
import type { MeasuredVersion } from '../versions/measure-version';

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

const latestPatch = statement<{ id: number }, { readonly patch_id_sha: string | null }>(
  'merge_requests_latest_patch',
  `select v.patch_id_sha from merge_request_versions v where v.merge_request_id = :id::bigint
   order by v.created_at desc, v.id desc limit 1`,
);

/**
 * Whether approvals of the latest version cover a new one that is not recorded yet: both have the same head and the same
 * diff. With another target, the diff of a head may contain changes that the approvers have not seen.
 */
export async function doApprovalsCover(
  tx: Tx,
  { id, headSha }: Pick<MergeRequest, 'id' | 'headSha'>,
  version: MeasuredVersion,
): Promise<boolean> {
  if (version.headSha !== headSha || version.patchId === null) return false;
  const [latest] = await tx.run(latestPatch, { id });
  return latest?.patch_id_sha === version.patchId;
}
