/**
 * Statistics as SQL expressions over `project_statistics`: JSON objects in the order of the API, complete also where
 * nothing was measured yet. Arguments are SQL expressions of an id. Source: requirements 2 §2 Group; reference
 * identity-and-import 2.2, 10.2; ADR 0110.
 */

/** Sizes that make up `storage_size`, in bytes. */
const SIZES = [
  'repository_size',
  'wiki_size',
  'lfs_objects_size',
  'job_artifacts_size',
  'pipeline_artifacts_size',
  'packages_size',
  'snippets_size',
  'uploads_size',
] as const;

/** Names of the statistics of a project. */
export const PROJECT_STATISTICS = ['commit_count', 'storage_size', ...SIZES, 'container_registry_size'] as const;

/** Output names of the storage of a whole tree, with the column that is summed up. */
const ROOT_SIZES = {
  dependency_proxy_size: '0',
  lfs_objects_size: 'lfs_objects_size',
  packages_size: 'packages_size',
  pipeline_artifacts_size: 'pipeline_artifacts_size',
  repository_size: 'repository_size',
  snippets_size: 'snippets_size',
  storage_size: 'storage_size + measured.container_registry_size',
  uploads_size: 'uploads_size',
  wiki_size: 'wiki_size',
} as const;

const jsonPairsSql = (names: readonly string[], valueOf: (name: string) => string): string =>
  names.map((name) => `'${name}', ${valueOf(name)}`).join(', ');
const sumOfMeasuredColumnSql = (column: string): string =>
  column === '0' ? '0' : `coalesce(sum(measured.${column}), 0)`;

/** SQL: `statistics` of a project. */
export function projectStatisticsSql(projectIdSql: string): string {
  const shown = jsonPairsSql(PROJECT_STATISTICS, (name) => `coalesce(measured.${name}, 0)`);
  return `(select json_build_object(${shown})
    from (select ${projectIdSql} as id) wanted left join project_statistics measured on measured.project_id = wanted.id)`;
}

/**
 * SQL: counts of a project as a JSON object with open issues (`all`, and `public` without confidential ones) and
 * `commits` of the default branch. It is null for a project without counts. One read of the row serves all of them.
 */
export function projectIssueAndCommitCountsSql(projectIdSql: string): string {
  return `(select json_build_object('all', measured.open_issues_count, 'public', measured.open_public_issues_count,
      'commits', measured.commit_count)
    from project_statistics measured where measured.project_id = ${projectIdSql})`;
}

/** SQL: `statistics` of a group: its direct projects. */
export function groupStatisticsSql(namespaceIdSql: string): string {
  return `(select json_build_object(${jsonPairsSql(['storage_size', ...SIZES], sumOfMeasuredColumnSql)})
    from projects counted join project_statistics measured on measured.project_id = counted.id
    where counted.namespace_id = ${namespaceIdSql})`;
}

/** SQL: `root_storage_statistics` of a top-level group: all projects in its tree. */
export function rootStorageStatisticsSql(namespaceIdSql: string): string {
  const sizes = jsonPairsSql(Object.keys(ROOT_SIZES), (name) =>
    sumOfMeasuredColumnSql(ROOT_SIZES[name as keyof typeof ROOT_SIZES]),
  );
  return `(select json_build_object('build_artifacts_size', ${sumOfMeasuredColumnSql('job_artifacts_size')},
      'container_registry_size', ${sumOfMeasuredColumnSql('container_registry_size')}, 'container_registry_size_is_estimated', false,
      ${sizes})
    from namespace_ancestors tree
    join projects counted on counted.namespace_id = tree.namespace_id
    join project_statistics measured on measured.project_id = counted.id
    where tree.ancestor_id = ${namespaceIdSql})`;
}
