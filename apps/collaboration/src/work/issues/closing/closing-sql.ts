import { projectAccessRowSql } from '../../../base/noteables/access-sql';
import type { PersonSql } from '../../../base/noteables/access-sql';

/**
 * Boolean SQL: does a merge request target the default branch of its project? Only then does merging it close issues.
 * True while the default branch is not known. `row` is an alias with `project_id` and `target_branch`.
 */
export function targetsDefaultBranchSql(row: string): string {
  return `${row}.target_branch = coalesce(
    (select own.default_branch from directory_projects own where own.id = ${row}.project_id), ${row}.target_branch)`;
}

/**
 * Number of merge requests that close the issue `i` when they are merged, as far as a person reads them. The access is
 * computed once for each project, and for no issue without merge requests. Source: reference repositories 8.17.
 */
export function closingMergeRequestsCountSql(person: PersonSql): string {
  return `(select coalesce(sum(of_project.count), 0) from (
    select m.project_id, count(distinct m.id) as count from merge_request_issues r
    join merge_requests m on m.id = r.merge_request_id
    where r.issue_id = i.id and r.closes and ${targetsDefaultBranchSql('m')} group by m.project_id) of_project
  cross join lateral ${projectAccessRowSql('of_project.project_id', person)} seen_merging where seen_merging.reads_merge_requests)`;
}
