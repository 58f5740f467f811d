import type { ObjectId } from '@rookery/git';
import { statement } from '@rookery/persistence';
import type { MergeRequestState, StoredMergeStatus } from '../merge-request.entity';
import { UNAPPROVED_SQL } from '../approvals/approval-sql';
import { HEAD_STATUS_SQL } from '../pipelines/head-pipeline-sql';
import type { RequestBranches } from '../versions/source-branches';
import type { MergeWishes } from './merge-wishes';
import { UNRESOLVED_SQL } from './merge-rules';

/** A merge request as merges and rebases need it. */
export interface MergingRow {
  readonly id: number;
  readonly iid: number;
  readonly project_id: number;
  readonly source_project_id: number | null;
  readonly author_id: number;
  readonly created_at: Date;
  readonly title: string;
  readonly state: MergeRequestState;
  readonly draft: boolean;
  readonly merge_status: StoredMergeStatus;
  readonly is_too_early: boolean;
  readonly source_branch: string;
  readonly target_branch: string;
  readonly head_sha: ObjectId | null;
  readonly commits_count: number;
  readonly squash: boolean;
  readonly description: string | null;
  readonly is_behind: boolean;
  readonly has_unresolved_threads: boolean;
  readonly lacks_approvals: boolean;
  /** Null without a pipeline of the head. */
  readonly head_status: string | null;
  readonly auto_merge_wishes: Pick<MergeWishes, 'mergeMessage' | 'squashMessage' | 'squash'> | null;
  readonly force_remove_source_branch: boolean | null;
  readonly should_remove_source_branch: boolean | null;
  readonly auto_merge_user_id: number | null;
}

export const mergingRow = statement<{ project: number; iid: number }, MergingRow>(
  'merge_requests_merging',
  `select i.id, i.iid, i.project_id, i.source_project_id, i.author_id, i.created_at, i.title, i.description, i.state, i.draft, i.merge_status, i.is_behind,
     coalesce(i.merge_after > now(), false) as is_too_early, ${UNRESOLVED_SQL} as has_unresolved_threads,
     ${UNAPPROVED_SQL} as lacks_approvals,
     ${HEAD_STATUS_SQL} as head_status, i.auto_merge_wishes, i.source_branch,
     i.target_branch, i.head_sha, i.commits_count, i.squash, i.force_remove_source_branch,
     i.should_remove_source_branch, i.auto_merge_user_id
   from merge_requests i where i.project_id = :project::bigint and i.iid = :iid::bigint`,
);

/** Branches of a row. */
export function toRequestBranches(
  row: Pick<MergingRow, 'project_id' | 'source_project_id' | 'source_branch' | 'target_branch'>,
): RequestBranches {
  return {
    ...{ projectId: row.project_id, sourceProjectId: row.source_project_id },
    ...{ sourceBranch: row.source_branch, targetBranch: row.target_branch },
  };
}

interface MergeIntentParams {
  readonly id: number;
  readonly head: string;
  readonly intent: string;
  readonly removes: boolean | null;
  readonly squashes: boolean;
}

const MAX_EARLIER_ATTEMPTS = 20;

/**
 * Stores an attempt to merge before the target branch moves, and keeps the earlier ones. No row: the request was closed,
 * merged or pushed to meanwhile.
 */
export const intendMerge = statement<MergeIntentParams, { readonly id: number }>(
  'merge_requests_intend_merge',
  `update merge_requests set merge_intent = :intent::jsonb || case when merge_intent is null then '{}' else
       jsonb_build_object('earlier', jsonb_path_query_array(
         jsonb_build_array(merge_intent - 'earlier') || coalesce(merge_intent -> 'earlier', '[]'),
         '$[0 to ${MAX_EARLIER_ATTEMPTS - 1}]')) end,
     squash = squash or :squashes::boolean,
     should_remove_source_branch = coalesce(:removes::boolean, should_remove_source_branch)
   where id = :id::bigint and state = 'opened' and head_sha = :head returning id`,
);

/** Stores the reason of a failed merge. Keeps the attempts: another process may still execute one of them. */
export const failMerge = statement<{ id: number; why: string | null }, never>(
  'merge_requests_fail_merge',
  `update merge_requests set merge_error = :why where id = :id::bigint and state = 'opened'`,
);

/**
 * Stores or removes the request to merge as soon as all checks pass. Returns no row if that changes nothing, or if it would
 * be stored for another head than the one that was checked.
 */
export const setAutoMerge = statement<
  { id: number; user: number | null; removes: boolean | null; wishes: string | null; head: string | null },
  { readonly at: Date }
>(
  'merge_requests_set_auto_merge',
  `update merge_requests set auto_merge_user_id = :user::bigint, auto_merge_wishes = :wishes::jsonb,
     should_remove_source_branch = coalesce(:removes::boolean, should_remove_source_branch), updated_at = now()
   where id = :id::bigint and state = 'opened' and auto_merge_user_id is distinct from :user::bigint
     and (:user::bigint is null or head_sha = :head::text)
   returning updated_at as at`,
);
