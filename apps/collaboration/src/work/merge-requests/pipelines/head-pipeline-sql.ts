/**
 * Condition on a pipeline `c`: it ran for a ref of the merge request `i`, which is the source branch in the source project,
 * or the ref of the merge request in its own project.
 */
export const OF_REFS_SQL = `c.project_id in (i.project_id, i.source_project_id) and not c.is_deleted and not c.is_tag
  and (c.ref = i.source_branch and c.project_id = coalesce(i.source_project_id, i.project_id)
    or c.ref = 'refs/merge-requests/' || i.iid || '/head' and c.project_id = i.project_id)`;

/** FROM and further clauses for the newest pipeline `c` of the head of `i`. One of the own ref goes before others. */
export const HEAD_PIPELINE_SQL = `from ci_pipelines c where c.sha = i.head_sha and ${OF_REFS_SQL}
  order by c.ref = i.source_branch, c.id desc limit 1`;

/**
 * Condition on a pipeline `c` for showing it with the merge request `i`. Readers of the merge request may not read the
 * pipelines of a fork. Source: reference repositories 8.18.
 */
export const SHOWN_SQL = 'c.project_id = i.project_id';

/** Does the same as HEAD_PIPELINE_SQL, for the pipelines that answers show (SHOWN_SQL). */
export const SHOWN_HEAD_PIPELINE_SQL = `from ci_pipelines c where c.sha = i.head_sha and ${OF_REFS_SQL} and ${SHOWN_SQL}
  order by c.ref = i.source_branch, c.id desc limit 1`;

/** SQL over `i`: status of the head pipeline; null without one. */
export const HEAD_STATUS_SQL = `(select c.status ${HEAD_PIPELINE_SQL})`;

/** Statuses of pipelines that go on. */
export const ACTIVE_STATUSES: readonly string[] = ['created', 'pending', 'running'];
const ACTIVE = ACTIVE_STATUSES.map((status) => `'${status}'`).join(', ');

/**
 * SQL over `i` and `rules`: `ci_still_running` or `ci_must_pass` if the project requires a pipeline that succeeded and
 * the head has none; null otherwise.
 */
export const CI_STATUS_SQL = `case when (rules.set -> 'only_allow_merge_if_pipeline_succeeds')::boolean then (
    select case when found.status in (${ACTIVE}) then 'ci_still_running'
      when found.status = 'success' or (found.status = 'skipped'
        and coalesce((rules.set -> 'allow_merge_on_skipped_pipeline')::boolean, false)) then null
      else 'ci_must_pass' end
    from (select ${HEAD_STATUS_SQL} as status) found) end`;
