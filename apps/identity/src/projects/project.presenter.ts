import type { PresentContext } from '@rookery/api-v4';
import { any, bool, day, instant, int, list, nested, nullable, object, presenter, text } from '@rookery/api-v4';
import { absoluteUrl } from '@rookery/directory';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { sharedWithGroups } from '../invited-groups/shared-with-groups';
import { userSummary } from '../users/user.presenter';
import { descriptionHtml } from './description-html';
import { fieldsOf, onlyWhen } from '../presenting/field-sets';
import type { Feature, ProjectSettings } from './project-settings';
import { FEATURES, PROJECT_DEFAULTS } from './project-settings';
import type { FeatureAccess } from './project.entity';
import type { BasicProjectRow, ProjectRow } from './project-row';

const fullPath = (project: BasicProjectRow): string => `${project.namespace.full_path}/${project.path}`;
const host = (ctx: PresentContext): string => new URL(ctx.links.web('')).host;
const api = (project: ProjectRow, ctx: PresentContext, rest = ''): string =>
  ctx.links.api(`projects/${project.id}${rest}`);

function setting<K extends keyof ProjectSettings>(name: K): (project: ProjectRow) => ProjectSettings[K] {
  return (project) => (project.settings as ProjectSettings)[name] ?? PROJECT_DEFAULTS[name];
}
const isOn = (feature: Feature) => (project: ProjectRow) => setting(`${feature}_access_level`)(project) !== 'disabled';
const administers = (project: ProjectRow, _: undefined, { viewer }: PresentContext): boolean =>
  viewer.isAdmin || project.level >= ACCESS_LEVELS.maintainer;

function namespaceShape(project: BasicProjectRow, ctx: PresentContext) {
  const { id, name, path, kind, full_path, parent_id, avatar_url } = project.namespace;
  const web_url = ctx.links.web(kind === 'group' ? `groups/${full_path}` : full_path);
  return { id, name, path, kind, full_path, parent_id, avatar_url: absoluteUrl(avatar_url, ctx.links), web_url };
}

/** Source: reference identity-and-import 10.2, basic shape. */
const basic = fieldsOf<BasicProjectRow>()({
  id: [int, (project) => project.id],
  description: [nullable(text), (project) => project.description],
  name: [text, (project) => project.name],
  name_with_namespace: [text, (project) => `${project.namespace.full_name} / ${project.name}`],
  path: [text, (project) => project.path],
  path_with_namespace: [text, fullPath],
  created_at: [instant, (project) => project.created_at],
  default_branch: [nullable(text), (project) => project.default_branch],
  tag_list: [list(text), (project) => project.topics, { deprecated: 'topics' }],
  topics: [list(text), (project) => project.topics],
  ssh_url_to_repo: [text, (project, _, ctx) => `git@${host(ctx).replace(/:\d+$/, '')}:${fullPath(project)}.git`],
  http_url_to_repo: [text, (project, _, { links }) => links.web(`${fullPath(project)}.git`)],
  web_url: [text, (project, _, { links }) => links.web(fullPath(project))],
  readme_url: [nullable(text), () => null],
  forks_count: [int, (project) => project.forks_count],
  avatar_url: [nullable(text), (project, _, { links }) => absoluteUrl(project.avatar_url, links)],
  star_count: [int, (project) => project.star_count],
  last_activity_at: [instant, (project) => project.last_activity_at],
  visibility: [text, (project) => project.visibility],
  namespace: [
    object({
      id: int,
      name: text,
      path: text,
      kind: text,
      full_path: text,
      parent_id: nullable(int),
      avatar_url: nullable(text),
      web_url: text,
    }),
    (project, _, ctx) => namespaceShape(project, ctx),
  ],
  custom_attributes: [
    list(object({ key: text, value: text })),
    (project) => project.custom_attributes ?? [],
    { when: (project) => project.custom_attributes !== null && project.custom_attributes !== undefined },
  ],
});

/** Another project, shown within one. */
const basicProject = presenter<BasicProjectRow>('BasicProject').fields(basic);

/** Private features are there for members. Source: reference identity-and-import 10.2. */
function isOpenTo(viewer: Viewer, project: ProjectRow, access: FeatureAccess): boolean {
  return access === 'enabled' || (access === 'private' && (viewer.isAdmin || project.level >= ACCESS_LEVELS.guest));
}

function links(project: ProjectRow, ctx: PresentContext): Record<string, string> {
  return {
    self: api(project, ctx),
    ...(isOpenTo(ctx.viewer, project, project.issues_access_level) ? { issues: api(project, ctx, '/issues') } : {}),
    ...(isOpenTo(ctx.viewer, project, project.merge_requests_access_level)
      ? { merge_requests: api(project, ctx, '/merge_requests') }
      : {}),
    repo_branches: api(project, ctx, '/repository/branches'),
    labels: api(project, ctx, '/labels'),
    events: api(project, ctx, '/events'),
    members: api(project, ctx, '/members'),
    cluster_agents: api(project, ctx, '/cluster_agents'),
  };
}

/** Level and the notification level that holds unless the person chose another. */
function access(level: number | null) {
  return level === null || level === 0 ? null : { access_level: level, notification_level: 3 };
}

const featureLevels = fieldsOf<ProjectRow>()<Record<`${Feature}_access_level`, string>>(
  Object.fromEntries(
    FEATURES.map((feature) => [`${feature}_access_level`, [text, setting(`${feature}_access_level`)] as const]),
  ) as never,
);

const full = fieldsOf<ProjectRow>()({
  container_registry_image_prefix: [text, (project, _, ctx) => `${host(ctx)}/${fullPath(project).toLowerCase()}`],
  _links: [any, (project, _, ctx) => links(project, ctx)],
  packages_enabled: [bool, (project) => project.packages_enabled],
  // Repositories come with their own room of the collaboration service.
  empty_repo: [bool, () => true],
  archived: [bool, (project) => project.archived],
  owner: [nullable(userSummary.asField()), (project) => project.owner, { when: (project) => project.owner !== null }],
  resolve_outdated_diff_discussions: [bool, setting('resolve_outdated_diff_discussions')],
  repository_object_format: [text, setting('repository_object_format')],
  issues_enabled: [bool, (project) => project.issues_access_level !== 'disabled'],
  merge_requests_enabled: [bool, (project) => project.merge_requests_access_level !== 'disabled'],
  wiki_enabled: [bool, isOn('wiki')],
  jobs_enabled: [bool, isOn('builds')],
  snippets_enabled: [bool, (project) => project.snippets_access_level !== 'disabled'],
  container_registry_enabled: [bool, isOn('container_registry')],
  service_desk_enabled: [bool, setting('service_desk_enabled')],
  can_create_merge_request_in: [bool, (project, _, { viewer }) => mayOpenMergeRequests(project, viewer.isAdmin)],
  issues_access_level: [text, (project) => project.issues_access_level],
  merge_requests_access_level: [text, (project) => project.merge_requests_access_level],
  snippets_access_level: [text, (project) => project.snippets_access_level],
  ...featureLevels,
  emails_disabled: [bool, (project) => !project.emails_enabled, { deprecated: 'emails_enabled' }],
  emails_enabled: [bool, (project) => project.emails_enabled],
  shared_runners_enabled: [bool, setting('shared_runners_enabled')],
  group_runners_enabled: [bool, setting('group_runners_enabled')],
  lfs_enabled: [bool, setting('lfs_enabled')],
  creator_id: [nullable(int), (project) => project.creator_id],
  import_url: [nullable(text), (project) => project.import_url, { when: administers }],
  import_type: [nullable(text), (project) => project.import_type, { when: administers }],
  import_status: [text, (project) => project.import_status],
  import_error: [
    nullable(text),
    (project) => project.import_error,
    { when: (project, _, ctx) => project.is_single && administers(project, _, ctx) },
  ],
  forked_from_project: [
    nullable(nested(basicProject)),
    (project) => project.forked_from_project,
    { when: (project) => project.forked_from_project !== null },
  ],
  open_issues_count: [
    int,
    (project) => project.open_issues_count ?? 0,
    { when: (project, _, { viewer }) => isOpenTo(viewer, project, project.issues_access_level) },
  ],
  description_html: [text, (project) => descriptionHtml(project.description)],
  updated_at: [instant, (project) => project.updated_at],
  request_access_enabled: [bool, setting('request_access_enabled')],
  public_jobs: [bool, setting('public_jobs')],
  shared_with_groups: [sharedWithGroups, (project) => project.shared_with_groups],
  only_allow_merge_if_pipeline_succeeds: [bool, setting('only_allow_merge_if_pipeline_succeeds')],
  allow_merge_on_skipped_pipeline: [nullable(bool), setting('allow_merge_on_skipped_pipeline')],
  only_allow_merge_if_all_discussions_are_resolved: [bool, setting('only_allow_merge_if_all_discussions_are_resolved')],
  remove_source_branch_after_merge: [bool, setting('remove_source_branch_after_merge')],
  printing_merge_request_link_enabled: [bool, setting('printing_merge_request_link_enabled')],
  merge_method: [text, setting('merge_method')],
  squash_option: [text, setting('squash_option')],
  enforce_auth_checks_on_uploads: [bool, setting('enforce_auth_checks_on_uploads')],
  suggestion_commit_message: [nullable(text), setting('suggestion_commit_message')],
  merge_commit_template: [nullable(text), setting('merge_commit_template')],
  squash_commit_template: [nullable(text), setting('squash_commit_template')],
  issue_branch_template: [nullable(text), setting('issue_branch_template')],
  warn_about_potentially_unwanted_characters: [bool, setting('warn_about_potentially_unwanted_characters')],
  autoclose_referenced_issues: [bool, setting('autoclose_referenced_issues')],
  max_artifacts_size: [nullable(int), setting('max_artifacts_size')],
  ci_config_path: [nullable(text), setting('ci_config_path')],
  ci_default_git_depth: [int, setting('ci_default_git_depth'), { when: administers }],
  ci_forward_deployment_enabled: [bool, setting('ci_forward_deployment_enabled'), { when: administers }],
  ci_job_token_scope_enabled: [bool, setting('ci_job_token_scope_enabled'), { when: administers }],
  ci_separated_caches: [bool, setting('ci_separated_caches'), { when: administers }],
  build_git_strategy: [text, setting('build_git_strategy'), { when: administers }],
  build_timeout: [int, setting('build_timeout'), { when: administers }],
  auto_cancel_pending_pipelines: [text, setting('auto_cancel_pending_pipelines'), { when: administers }],
  auto_devops_enabled: [bool, setting('auto_devops_enabled'), { when: administers }],
  auto_devops_deploy_strategy: [text, setting('auto_devops_deploy_strategy'), { when: administers }],
  keep_latest_artifact: [bool, setting('keep_latest_artifact'), { when: administers }],
  runners_token: [nullable(text), (project) => project.runners_token, { when: administers }],
  marked_for_deletion_at: [nullable(day), (project) => project.marked_for_deletion_on],
  marked_for_deletion_on: [nullable(day), (project) => project.marked_for_deletion_on],
  // No repository, no licence.
  license_url: [nullable(text), () => null, { when: (project) => project.with_license }],
  license: [any, () => null, { when: (project) => project.with_license }],
  statistics: [any, (project) => project.statistics, { when: showsStatistics }],
  permissions: [
    object({ project_access: any, group_access: any }),
    (project) => ({ project_access: access(project.project_level), group_access: access(project.group_level) }),
    { when: (_, __, { viewer }) => viewer.userId !== null },
  ],
});

/** Sizes are for people who work there. Source: ADR 0121. */
function showsStatistics(project: ProjectRow, _: undefined, { viewer }: PresentContext): boolean {
  return project.statistics !== null && (viewer.isAdmin || project.level >= ACCESS_LEVELS.reporter);
}

function mayOpenMergeRequests(project: ProjectRow, isAdmin: boolean): boolean {
  if (project.merge_requests_access_level === 'disabled') return false;
  return isAdmin || project.level >= ACCESS_LEVELS.developer;
}

const inFullShape = (project: ProjectRow): boolean => project.shape === 'full';

/** A project, in the shape that its row says. */
export const project = presenter<ProjectRow>('Project').fields({ ...basic, ...onlyWhen(inFullShape, full) });
