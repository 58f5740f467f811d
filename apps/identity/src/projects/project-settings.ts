/**
 * Plain settings of a project: stored as they are sent, shown as they are stored, asked for by no query.
 * Source: reference identity-and-import 10.2; ADR 0061.
 */
export const FEATURES = [
  'repository',
  'forking',
  'wiki',
  'builds',
  'pages',
  'analytics',
  'container_registry',
  'security_and_compliance',
  'releases',
  'environments',
  'feature_flags',
  'infrastructure',
  'monitor',
  'model_experiments',
  'model_registry',
  'requirements',
] as const;
export type Feature = (typeof FEATURES)[number];
export type FeatureLevel = 'disabled' | 'private' | 'enabled' | 'public';

export interface ProjectSettings extends Record<`${Feature}_access_level`, FeatureLevel> {
  service_desk_enabled: boolean;
  shared_runners_enabled: boolean;
  group_runners_enabled: boolean;
  lfs_enabled: boolean;
  request_access_enabled: boolean;
  resolve_outdated_diff_discussions: boolean;
  public_jobs: boolean;
  ci_config_path: string | null;
  build_git_strategy: string;
  build_timeout: number;
  auto_cancel_pending_pipelines: string;
  ci_default_git_depth: number;
  ci_forward_deployment_enabled: boolean;
  ci_job_token_scope_enabled: boolean;
  ci_separated_caches: boolean;
  auto_devops_enabled: boolean;
  auto_devops_deploy_strategy: string;
  keep_latest_artifact: boolean;
  max_artifacts_size: number | null;
  merge_method: string;
  squash_option: string;
  only_allow_merge_if_pipeline_succeeds: boolean;
  allow_merge_on_skipped_pipeline: boolean | null;
  only_allow_merge_if_all_discussions_are_resolved: boolean;
  remove_source_branch_after_merge: boolean;
  printing_merge_request_link_enabled: boolean;
  suggestion_commit_message: string | null;
  merge_commit_template: string | null;
  squash_commit_template: string | null;
  issue_branch_template: string | null;
  autoclose_referenced_issues: boolean;
  enforce_auth_checks_on_uploads: boolean;
  warn_about_potentially_unwanted_characters: boolean;
  repository_object_format: string;
}

const FEATURE_DEFAULTS = Object.fromEntries(
  FEATURES.map((feature) => [
    `${feature}_access_level`,
    feature === 'pages' || feature === 'security_and_compliance' ? 'private' : 'enabled',
  ]),
) as Record<`${Feature}_access_level`, FeatureLevel>;

export const PROJECT_DEFAULTS: ProjectSettings = {
  ...FEATURE_DEFAULTS,
  service_desk_enabled: false,
  shared_runners_enabled: true,
  group_runners_enabled: true,
  lfs_enabled: true,
  request_access_enabled: true,
  resolve_outdated_diff_discussions: false,
  public_jobs: true,
  ci_config_path: null,
  build_git_strategy: 'fetch',
  build_timeout: 3600,
  auto_cancel_pending_pipelines: 'enabled',
  ci_default_git_depth: 20,
  ci_forward_deployment_enabled: true,
  ci_job_token_scope_enabled: false,
  ci_separated_caches: true,
  auto_devops_enabled: false,
  auto_devops_deploy_strategy: 'continuous',
  keep_latest_artifact: true,
  max_artifacts_size: null,
  merge_method: 'merge',
  squash_option: 'default_off',
  only_allow_merge_if_pipeline_succeeds: false,
  allow_merge_on_skipped_pipeline: null,
  only_allow_merge_if_all_discussions_are_resolved: false,
  remove_source_branch_after_merge: true,
  printing_merge_request_link_enabled: true,
  suggestion_commit_message: null,
  merge_commit_template: null,
  squash_commit_template: null,
  issue_branch_template: null,
  autoclose_referenced_issues: true,
  enforce_auth_checks_on_uploads: true,
  warn_about_potentially_unwanted_characters: true,
  repository_object_format: 'sha1',
};

/** Old on/off switches and the access level that each stands for. */
export const LEGACY_SWITCHES: Readonly<Record<string, string>> = {
  issues_enabled: 'issues_access_level',
  merge_requests_enabled: 'merge_requests_access_level',
  snippets_enabled: 'snippets_access_level',
  wiki_enabled: 'wiki_access_level',
  jobs_enabled: 'builds_access_level',
  container_registry_enabled: 'container_registry_access_level',
};

/** Folds the old switches into access levels; an access level that is sent as well wins. */
export function withoutSwitches(sent: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const folded: Record<string, unknown> = { ...sent };
  for (const [old, level] of Object.entries(LEGACY_SWITCHES)) {
    if (typeof sent[old] === 'boolean' && sent[level] === undefined) folded[level] = sent[old] ? 'enabled' : 'disabled';
    delete folded[old];
  }
  return folded;
}

/** The settings among the sent fields, ready to be merged over the stored ones. */
export function settingsFrom(sent: Readonly<Record<string, unknown>>): Partial<ProjectSettings> {
  const chosen: Record<string, unknown> = {};
  for (const field of Object.keys(PROJECT_DEFAULTS)) {
    if (sent[field] !== undefined) chosen[field] = sent[field];
  }
  return chosen as Partial<ProjectSettings>;
}
