import { NO_OBJECT } from '@rookery/git';
import type { ObjectId, RefUpdate } from '@rookery/git';
import { statement } from '@rookery/persistence';
import type { MergeIntent, MergeRequestState } from '../merge-request.entity';

/**
 * A merge request whose source or target branch a push moved. It is open, or was closed after an attempt to merge it,
 * which may have moved the target branch.
 */
export interface AffectedRow {
  readonly id: number;
  readonly iid: number;
  readonly state: MergeRequestState;
  readonly closed_at: Date | null;
  readonly project_id: number;
  readonly source_project_id: number | null;
  readonly author_id: number;
  readonly created_at: Date;
  readonly source_branch: string;
  readonly target_branch: string;
  readonly head_sha: ObjectId | null;
  readonly base_sha: ObjectId | null;
  readonly start_sha: ObjectId | null;
  readonly auto_merge_user_id: number | null;
  readonly merge_intent: MergeIntent | null;
  /** Whether the pushed project is the source project, and whether it is the target project. */
  readonly is_source: boolean;
  readonly is_target: boolean;
}

/** Merge requests from or into branches of a project, the newest first. */
export const affectedBy = statement<{ project: number; branches: readonly string[] }, AffectedRow>(
  'merge_requests_affected',
  `select i.id, i.iid, i.state, i.closed_at, i.project_id, i.source_project_id, i.author_id, i.created_at, i.source_branch, i.target_branch, i.head_sha, i.base_sha,
     i.start_sha, i.auto_merge_user_id, i.merge_intent,
     i.source_project_id is not distinct from :project::bigint and i.source_branch = any(:branches::text[]) as is_source,
     i.project_id = :project::bigint and i.target_branch = any(:branches::text[]) as is_target
   from merge_requests i where i.id in (
     select s.id from merge_requests s
     where s.source_project_id = :project::bigint and s.source_branch = any(:branches::text[]) and s.state = 'opened'
     union select t.id from merge_requests t
     where t.project_id = :project::bigint and t.target_branch = any(:branches::text[]) and t.state = 'opened'
     union select c.id from merge_requests c
     where c.project_id = :project::bigint and c.target_branch = any(:branches::text[])
       and c.state = 'closed' and c.merge_intent is not null)
   order by i.id desc`,
);

/** Locks requests that are open, or closed after an attempt to merge them, in the order of their ids. */
export const lockAffected = statement<{ ids: readonly number[] }, AffectedRow & { readonly at: Date }>(
  'merge_requests_lock_affected',
  `select i.id, i.iid, i.state, i.closed_at, i.project_id, i.source_project_id, i.author_id, i.created_at, i.source_branch, i.target_branch, i.head_sha, i.base_sha,
     i.start_sha, i.auto_merge_user_id, i.merge_intent, true as is_source, true as is_target, now() as at
   from merge_requests i
   where i.id = any(:ids::bigint[]) and (i.state = 'opened' or (i.state = 'closed' and i.merge_intent is not null))
   order by i.id for no key update`,
);

/** The refs of a push that a later push moved again, and whose settlement came first. */
export const overtaken = statement<{ push: number; refs: readonly string[] }, { readonly ref: string }>(
  'merge_requests_overtaken',
  `select distinct u.ref from pushes own join pushes p on p.project_id = own.project_id and p.id > own.id
   join ref_updates u on u.push_id = p.id and u.state = 'done' and u.ref = any(:refs::text[])
   where own.id = :push::bigint`,
);

/** Marks the result of the mergeability check as outdated after a push to the target branch. `updated_at` stays. */
export const uncheck = statement<{ ids: readonly number[] }, never>(
  'merge_requests_uncheck',
  `update merge_requests set merge_status =
     case when merge_status = 'cannot_be_merged' then 'cannot_be_merged_recheck' else 'unchecked' end
   where id in (select i.id from merge_requests i where i.id = any(:ids::bigint[]) and i.state = 'opened'
     and i.merge_status in ('can_be_merged', 'cannot_be_merged') order by i.id for no key update)`,
);

/** Removes the attempts to merge requests that were closed a day ago, unless a push from before is not settled. */
export const dropOldAttempts = statement<{ ids: readonly number[] }, never>(
  'merge_requests_drop_old_attempts',
  `update merge_requests set merge_intent = null where id in (
     select i.id from merge_requests i
     where i.id = any(:ids::bigint[]) and i.state = 'closed' and i.closed_at < now() - interval '1 day'
       and not exists (select 1 from pushes p
         where p.project_id = i.project_id and p.settled_at is null and p.created_at < i.closed_at)
     for no key update skip locked)`,
);

const BRANCHES = 'refs/heads/';

/** Updates of branches by their short name. */
export function mapBranchUpdatesByName(updates: readonly RefUpdate[]): ReadonlyMap<string, RefUpdate> {
  const ofBranches = updates.filter(({ ref }) => ref.startsWith(BRANCHES));
  return new Map(ofBranches.map((update) => [update.ref.slice(BRANCHES.length), update]));
}

export function isDeletion({ newId }: RefUpdate): boolean {
  return newId === NO_OBJECT;
}
