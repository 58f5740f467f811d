import { plain } from '@rookery/kernel';
import type { PlainInput, PlainSettings } from '@rookery/kernel';

const ACCESS = ['disabled', 'private', 'enabled'] as const;
const ENABLED = { default: 'enabled' } as const;
/** Shown to callers who administer the project. */
const shown = 'maintainers';
const TEXT = { default: null, nullable: true } as const;

/**
 * Plain fields of a project: stored as sent and shown as stored; no query depends on them. In the order of the
 * parameters. Source: reference identity-and-import 10.2; ADR 0061, 0162.
 */
export const PROJECT_FIELDS = plain.table({
  issues_access_level: plain.oneOf(ACCESS, { column: true }),
  snippets_access_level: plain.oneOf(ACCESS, { column: true }),
  merge_requests_access_level: plain.oneOf(ACCESS, { column: true }),
  repository_access_level: plain.oneOf(ACCESS, ENABLED),
  forking_access_level: plain.oneOf(ACCESS, ENABLED),
  wiki_access_level: plain.oneOf(ACCESS, ENABLED),
  builds_access_level: plain.oneOf(ACCESS, ENABLED),
  pages_access_level: plain.oneOf([...ACCESS, 'public'], { default: 'private' }),
  analytics_access_level: plain.oneOf(ACCESS, ENABLED),
  container_registry_access_level: plain.oneOf(ACCESS, ENABLED),
  security_and_compliance_access_level: plain.oneOf(ACCESS, { default: 'private' }),
  releases_access_level: plain.oneOf(ACCESS, ENABLED),
  environments_access_level: plain.oneOf(ACCESS, ENABLED),
  feature_flags_access_level: plain.oneOf(ACCESS, ENABLED),
  infrastructure_access_level: plain.oneOf(ACCESS, ENABLED),
  monitor_access_level: plain.oneOf(ACCESS, ENABLED),
  model_experiments_access_level: plain.oneOf(ACCESS, ENABLED),
  model_registry_access_level: plain.oneOf(ACCESS, ENABLED),
  requirements_access_level: plain.oneOf(ACCESS, ENABLED),
  issues_enabled: plain.switch('issues_access_level', { on: 'enabled', off: 'disabled' }),
  merge_requests_enabled: plain.switch('merge_requests_access_level', { on: 'enabled', off: 'disabled' }),
  snippets_enabled: plain.switch('snippets_access_level', { on: 'enabled', off: 'disabled' }),
  wiki_enabled: plain.switch('wiki_access_level', { on: 'enabled', off: 'disabled' }),
  jobs_enabled: plain.switch('builds_access_level', { on: 'enabled', off: 'disabled' }),
  container_registry_enabled: plain.switch('container_registry_access_level', { on: 'enabled', off: 'disabled' }),
  packages_enabled: plain.flag({ column: true }),
  emails_disabled: plain.switch('emails_enabled', { on: false, off: true, shownAsDeprecated: true }),
  emails_enabled: plain.flag({ column: true }),
  service_desk_enabled: plain.flag({ default: false }),
  shared_runners_enabled: plain.flag({ default: true }),
  group_runners_enabled: plain.flag({ default: true }),
  lfs_enabled: plain.flag({ default: true }),
  request_access_enabled: plain.flag({ default: true }),
  resolve_outdated_diff_discussions: plain.flag({ default: false }),
  public_jobs: plain.flag({ default: true, alias: 'public_builds' }),
  ci_config_path: plain.text({ ...TEXT, longest: 255 }),
  build_git_strategy: plain.oneOf(['fetch', 'clone'], { default: 'fetch', shown }),
  build_timeout: plain.int({ min: 600, max: 2_592_000, default: 3600, shown }),
  auto_cancel_pending_pipelines: plain.oneOf(['enabled', 'disabled'], { default: 'enabled', shown }),
  ci_default_git_depth: plain.int({ min: 0, max: 1000, default: 20, shown }),
  ci_forward_deployment_enabled: plain.flag({ default: true, shown }),
  ci_job_token_scope_enabled: plain.flag({ default: false, settable: 'never', shown }),
  ci_separated_caches: plain.flag({ default: true, shown }),
  auto_devops_enabled: plain.flag({ default: false, shown }),
  auto_devops_deploy_strategy: plain.oneOf(['continuous', 'manual', 'timed_incremental'], {
    default: 'continuous',
    shown,
  }),
  keep_latest_artifact: plain.flag({ default: true, shown }),
  max_artifacts_size: plain.int({ default: null, nullable: true }),
  merge_method: plain.oneOf(['merge', 'rebase_merge', 'ff'], { default: 'merge' }),
  squash_option: plain.oneOf(['never', 'always', 'default_on', 'default_off'], { default: 'default_off' }),
  only_allow_merge_if_pipeline_succeeds: plain.flag({ default: false }),
  allow_merge_on_skipped_pipeline: plain.flag({ default: null, nullable: true }),
  only_allow_merge_if_all_discussions_are_resolved: plain.flag({ default: false }),
  remove_source_branch_after_merge: plain.flag({ default: true }),
  printing_merge_request_link_enabled: plain.flag({ default: true }),
  suggestion_commit_message: plain.text({ ...TEXT, longest: 255 }),
  merge_commit_template: plain.text({ ...TEXT, longest: 500 }),
  squash_commit_template: plain.text({ ...TEXT, longest: 500 }),
  issue_branch_template: plain.text({ ...TEXT, longest: 255 }),
  autoclose_referenced_issues: plain.flag({ default: true }),
  enforce_auth_checks_on_uploads: plain.flag({ default: true }),
  warn_about_potentially_unwanted_characters: plain.flag({ default: true }),
  repository_object_format: plain.oneOf(['sha1', 'sha256'], { default: 'sha1', settable: 'never' }),
});

export type ProjectSettings = PlainSettings<typeof PROJECT_FIELDS>;
export type PlainProjectInput = PlainInput<typeof PROJECT_FIELDS>;

type FeatureField = Extract<keyof typeof PROJECT_FIELDS, `${string}_access_level`>;
/** Fields with the access level of a feature. */
export const FEATURE_FIELDS = Object.keys(PROJECT_FIELDS).filter((name): name is FeatureField =>
  name.endsWith('_access_level'),
);
