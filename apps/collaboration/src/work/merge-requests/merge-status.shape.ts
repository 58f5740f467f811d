import { json } from '../../base/noteables/json.shape';
import type { SqlType } from '../../base/noteables/json.shape';
import { UNAPPROVED_SQL } from './approvals/approval-sql';
import { BLOCKED_BY_THREADS_SQL, NEEDS_REBASE_SQL } from './merging/merge-rules';
import { CI_STATUS_SQL } from './pipelines/head-pipeline-sql';

/** Values of `detailed_merge_status` that Rookery sends. Source: reference repositories 8.3. */
const DETAILED = [
  'checking',
  'unchecked',
  'not_open',
  'merge_time',
  'draft_status',
  'commits_status',
  'discussions_not_resolved',
  'not_approved',
  'conflict',
  'need_rebase',
  'ci_still_running',
  'ci_must_pass',
  'mergeable',
] as const;

/** The stored status of the merge check of the row `i`. */
export const mergeStatus: readonly [SqlType<string>, () => string] = [
  json.choice<string>('unchecked', 'can_be_merged', 'cannot_be_merged', 'cannot_be_merged_recheck') as SqlType<string>,
  () => 'i.merge_status',
];

/** SQL over `i` and `rules` for the first reason why a merge request cannot be merged; `mergeable` if there is none. */
export const detailedMergeStatus: readonly [SqlType<string>, () => string] = [
  json.choice<string>(...DETAILED) as SqlType<string>,
  () => `case when i.state <> 'opened' then 'not_open'
    when i.merge_status in ('unchecked', 'cannot_be_merged_recheck') then 'unchecked'
    when i.merge_after > now() then 'merge_time'
    when i.draft then 'draft_status'
    when i.commits_count = 0 then 'commits_status'
    when ${BLOCKED_BY_THREADS_SQL} then 'discussions_not_resolved'
    when ${UNAPPROVED_SQL} then 'not_approved'
    when i.merge_status = 'cannot_be_merged' then 'conflict'
    when ${NEEDS_REBASE_SQL} then 'need_rebase'
    else coalesce(${CI_STATUS_SQL}, 'mergeable') end`,
];
