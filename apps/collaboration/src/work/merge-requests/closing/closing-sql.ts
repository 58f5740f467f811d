/**
 * Boolean SQL: does a merge request target the default branch of its project? Only then does merging it close issues.
 * True while the default branch is not known. Shape: `row` is an alias with `project_id` and `target_branch`.
 */
export function intoDefaultBranchSql(row: string): string {
  return `${row}.target_branch = coalesce(
    (select own.default_branch from directory_projects own where own.id = ${row}.project_id), ${row}.target_branch)`;
}
