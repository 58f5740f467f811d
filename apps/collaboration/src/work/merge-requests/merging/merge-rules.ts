import type { ProjectScope } from '@rookery/api-v4';
import type { DirectoryMergeSettings } from '@rookery/contracts';

/** Settings of a project for merges, with the defaults of those that it has not set. Source: reference repositories 8.10. */
export interface MergeRules {
  readonly method: NonNullable<DirectoryMergeSettings['merge_method']>;
  readonly squash: NonNullable<DirectoryMergeSettings['squash_option']>;
  readonly needsResolvedThreads: boolean;
  readonly needsPipeline: boolean;
  readonly allowsSkippedPipeline: boolean;
  readonly mergeTemplate: string | null;
  readonly squashTemplate: string | null;
  /** Wish of new merge requests; null for projects that have not set it. */
  readonly removesSource: true | null;
}

export function mergeRulesOf({ mergeSettings: set }: Pick<ProjectScope, 'mergeSettings'>): MergeRules {
  return {
    method: set.merge_method ?? 'merge',
    squash: set.squash_option ?? 'default_off',
    needsResolvedThreads: set.only_allow_merge_if_all_discussions_are_resolved ?? false,
    needsPipeline: set.only_allow_merge_if_pipeline_succeeds ?? false,
    allowsSkippedPipeline: set.allow_merge_on_skipped_pipeline ?? false,
    mergeTemplate: set.merge_commit_template ?? null,
    squashTemplate: set.squash_commit_template ?? null,
    removesSource: set.remove_source_branch_after_merge === true ? true : null,
  };
}

/** Whether new merge requests are squashed without a wish of their author. */
export function squashesByDefault({ squash }: MergeRules): boolean {
  return squash === 'always' || squash === 'default_on';
}

/** Whether the status of the head pipeline allows a merge. `status` is null without a pipeline. */
export function isPipelineStatusMergeable(
  { needsPipeline, allowsSkippedPipeline }: MergeRules,
  status: string | null,
): boolean {
  return !needsPipeline || status === 'success' || (allowsSkippedPipeline && status === 'skipped');
}

/** Whether a merge squashes. `wish` is true if the merge request or the merge call asks for it. */
export function squashesOnMerge({ squash }: MergeRules, wish: boolean): boolean {
  return squash === 'always' || (wish && squash !== 'never');
}

/**
 * FROM item `rules` with the column `set`: the settings for merges of the project of the row `i`, null for none. The
 * offset keeps PostgreSQL from repeating the lookup for each use.
 */
export const MERGE_RULES_SQL = `(select
  (select p.merge_settings from directory_projects p where p.id = i.project_id) as set offset 0) rules`;

/** Boolean SQL over `i` and `rules`: `squashesOnMerge`. */
export const SQUASH_ON_MERGE_SQL = `case rules.set ->> 'squash_option'
  when 'always' then true when 'never' then false else i.squash end`;

/** Boolean SQL over `i`: a thread of the merge request is not resolved. */
export const UNRESOLVED_SQL = `exists (select 1 from notes n where n.noteable_id = i.id
  and n.noteable_type = 'MergeRequest' and n.thread_id is not null and n.resolved_at is null
  and not n.system)`;

/** Boolean SQL over `i` and `rules`: the project requires resolved threads, and one is not. */
export const BLOCKED_BY_THREADS_SQL = `(coalesce((rules.set -> 'only_allow_merge_if_all_discussions_are_resolved')::boolean, false)
  and ${UNRESOLVED_SQL})`;

/** Boolean SQL over `i` and `rules`: the merge method needs a source branch that contains the target, and it does not. */
export const NEEDS_REBASE_SQL = `(i.is_behind and rules.set ->> 'merge_method' in ('ff', 'rebase_merge'))`;
