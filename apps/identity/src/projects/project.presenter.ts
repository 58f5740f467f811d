import type { PresentContext } from '@rookery/api-v4';
import {
  bool,
  day,
  instant,
  int,
  list,
  nested,
  alwaysNull,
  nullable,
  object,
  onlyWhen,
  pickFields,
  presenter,
  definePresenterFields,
  createPlainPresenterFields,
  text,
  choice,
} from '@rookery/api-v4';
import { absoluteUrl } from '@rookery/directory';
import { ACCESS_LEVELS, isSignedIn, VISIBILITIES } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import MarkdownIt from 'markdown-it';
import { sharedWithGroups } from '../members/sharing/share.presenter';
import { PROJECT_STATISTICS } from '../statistics/statistics-sql';
import { userSummary } from '../users/user.presenter';
import { FEATURE_FIELDS, PROJECT_FIELDS } from './project-settings';
import type { FeatureAccess } from './project.entity';
import type { BasicProjectRow, ProjectRow } from './project-row';

// HTML in descriptions is shown as text, because users write them.
const markdown = new MarkdownIt({ html: false, linkify: true, breaks: false });

/** Renders the description as HTML; empty when there is none. */
function renderProjectDescriptionHtml(description: string | null): string {
  return description ? markdown.render(description).trimEnd() : '';
}

const fullPath = (project: BasicProjectRow): string => `${project.namespace.full_path}/${project.path}`;
const instanceWebHost = (ctx: PresentContext): string => new URL(ctx.links.webUrl('')).host;
const projectApiUrl = (project: ProjectRow, ctx: PresentContext, subPath = ''): string =>
  ctx.links.apiUrl(`projects/${project.id}${subPath}`);
const createProjectApiLinkField = (subPath: string) =>
  [text, (project: ProjectRow, _: undefined, ctx: PresentContext) => projectApiUrl(project, ctx, subPath)] as const;

const hasMaintainerAccess = (project: ProjectRow, _: undefined, { viewer }: PresentContext): boolean =>
  viewer.isAdmin || project.level >= ACCESS_LEVELS.maintainer;

function toNamespaceJson(project: BasicProjectRow, ctx: PresentContext) {
  const { id, name, path, kind, full_path, parent_id, avatar_url } = project.namespace;
  const web_url = ctx.links.webUrl(kind === 'group' ? `groups/${full_path}` : full_path);
  return { id, name, path, kind, full_path, parent_id, avatar_url: absoluteUrl(avatar_url, ctx.links), web_url };
}

/** Source: reference identity-and-import 10.2 (basic shape). */
const basic = definePresenterFields<BasicProjectRow>()({
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
  ssh_url_to_repo: [
    text,
    (project, _, ctx) => `git@${instanceWebHost(ctx).replace(/:\d+$/, '')}:${fullPath(project)}.git`,
  ],
  http_url_to_repo: [text, (project, _, { links }) => links.webUrl(`${fullPath(project)}.git`)],
  web_url: [text, (project, _, { links }) => links.webUrl(fullPath(project))],
  readme_url: [nullable(text), () => null],
  forks_count: [int, (project) => project.forks_count],
  avatar_url: [nullable(text), (project, _, { links }) => absoluteUrl(project.avatar_url, links)],
  star_count: [int, (project) => project.star_count],
  last_activity_at: [instant, (project) => project.last_activity_at],
  visibility: [choice(...VISIBILITIES), (project) => project.visibility],
  namespace: [
    object({
      id: int,
      name: text,
      path: text,
      kind: choice('group', 'user'),
      full_path: text,
      parent_id: nullable(int),
      avatar_url: nullable(text),
      web_url: text,
    }),
    (project, _, ctx) => toNamespaceJson(project, ctx),
  ],
  custom_attributes: [
    list(object({ key: text, value: text })),
    (project) => project.custom_attributes ?? [],
    { when: (project) => project.custom_attributes !== null && project.custom_attributes !== undefined },
  ],
});

/** Another project within a project's answer. */
const basicProject = presenter<BasicProjectRow>('BasicProject').fields(basic);

/**
 * Whether the viewer may use a feature. With the level `private` only members may. Source: reference
 * identity-and-import 10.2.
 */
function isFeatureOpenTo(viewer: Viewer, project: ProjectRow, access: FeatureAccess): boolean {
  return access === 'enabled' || (access === 'private' && (viewer.isAdmin || project.level >= ACCESS_LEVELS.guest));
}

const canUseIssues = (project: ProjectRow, _: undefined, { viewer }: PresentContext): boolean =>
  isFeatureOpenTo(viewer, project, project.issues_access_level);
const canUseMergeRequests = (project: ProjectRow, _: undefined, { viewer }: PresentContext): boolean =>
  isFeatureOpenTo(viewer, project, project.merge_requests_access_level);

const links = presenter<ProjectRow>('ProjectLinks').fields({
  self: createProjectApiLinkField(''),
  issues: [...createProjectApiLinkField('/issues'), { when: canUseIssues }],
  merge_requests: [...createProjectApiLinkField('/merge_requests'), { when: canUseMergeRequests }],
  repo_branches: createProjectApiLinkField('/repository/branches'),
  labels: createProjectApiLinkField('/labels'),
  events: createProjectApiLinkField('/events'),
  members: createProjectApiLinkField('/members'),
  cluster_agents: createProjectApiLinkField('/cluster_agents'),
});

const ofLevel = nullable(object({ access_level: int, notification_level: int }));
const sizes = Object.fromEntries(PROJECT_STATISTICS.map((name) => [name, int]));

/** Access level with the notification level that applies unless the user has chosen another. */
function toAccessLevelJson(level: number | null) {
  return level === null || level === 0 ? null : { access_level: level, notification_level: 3 };
}

const plain = createPlainPresenterFields<ProjectRow>()(PROJECT_FIELDS, 'list', { maintainers: hasMaintainerAccess });

const full = definePresenterFields<ProjectRow>()({
  container_registry_image_prefix: [
    text,
    (project, _, ctx) => `${instanceWebHost(ctx)}/${fullPath(project).toLowerCase()}`,
  ],
  _links: [nested(links), (project) => project],
  ...pickFields(plain, 'packages_enabled'),
  empty_repo: [bool, ({ counts }) => (counts?.commits ?? 0) === 0],
  archived: [bool, (project) => project.archived],
  owner: [nullable(userSummary.asField()), (project) => project.owner, { when: (project) => project.owner !== null }],
  ...pickFields(plain, 'resolve_outdated_diff_discussions', 'repository_object_format', 'issues_enabled'),
  ...pickFields(plain, 'merge_requests_enabled', 'wiki_enabled', 'jobs_enabled', 'snippets_enabled'),
  ...pickFields(plain, 'container_registry_enabled', 'service_desk_enabled'),
  can_create_merge_request_in: [bool, (project, _, { viewer }) => mayOpenMergeRequests(project, viewer)],
  ...pickFields(plain, 'issues_access_level', 'merge_requests_access_level', ...FEATURE_FIELDS),
  ...pickFields(
    plain,
    'emails_disabled',
    'emails_enabled',
    'shared_runners_enabled',
    'group_runners_enabled',
    'lfs_enabled',
  ),
  creator_id: [nullable(int), (project) => project.creator_id],
  import_url: [nullable(text), (project) => project.import_url, { when: hasMaintainerAccess }],
  import_type: [nullable(text), (project) => project.import_type, { when: hasMaintainerAccess }],
  import_status: [text, (project) => project.import_status],
  import_error: [
    nullable(text),
    (project) => project.import_error,
    { when: (project, _, ctx) => project.is_single && hasMaintainerAccess(project, _, ctx) },
  ],
  forked_from_project: [
    nullable(nested(basicProject)),
    (project) => project.forked_from_project,
    { when: (project) => project.forked_from_project !== null },
  ],
  open_issues_count: [int, countOpenIssues, { when: canUseIssues }],
  description_html: [text, (project) => renderProjectDescriptionHtml(project.description)],
  updated_at: [instant, (project) => project.updated_at],
  ...pickFields(plain, 'request_access_enabled', 'public_jobs'),
  shared_with_groups: [sharedWithGroups, (project) => project.shared_with_groups],
  ...pickFields(plain, 'only_allow_merge_if_pipeline_succeeds', 'allow_merge_on_skipped_pipeline'),
  ...pickFields(plain, 'only_allow_merge_if_all_discussions_are_resolved', 'remove_source_branch_after_merge'),
  ...pickFields(plain, 'printing_merge_request_link_enabled', 'merge_method', 'squash_option'),
  ...pickFields(plain, 'enforce_auth_checks_on_uploads', 'suggestion_commit_message', 'merge_commit_template'),
  ...pickFields(plain, 'squash_commit_template', 'issue_branch_template', 'warn_about_potentially_unwanted_characters'),
  ...pickFields(plain, 'autoclose_referenced_issues', 'max_artifacts_size', 'ci_config_path', 'ci_default_git_depth'),
  ...pickFields(plain, 'ci_forward_deployment_enabled', 'ci_job_token_scope_enabled', 'ci_separated_caches'),
  // Plain fields without a fixed position.
  ...plain,
  runners_token: [nullable(text), (project) => project.runners_token, { when: hasMaintainerAccess }],
  marked_for_deletion_at: [nullable(day), (project) => project.marked_for_deletion_on],
  marked_for_deletion_on: [nullable(day), (project) => project.marked_for_deletion_on],
  // Without a repository there is no licence.
  license_url: [nullable(text), () => null, { when: (project) => project.with_license }],
  license: [alwaysNull, () => null, { when: (project) => project.with_license }],
  statistics: [object(sizes), (project) => project.statistics!, { when: showsStatistics }],
  permissions: [
    object({ project_access: ofLevel, group_access: ofLevel }),
    (project) => ({
      project_access: toAccessLevelJson(project.project_level),
      group_access: toAccessLevelJson(project.group_level),
    }),
    { when: (_, __, { viewer }) => viewer.userId !== null },
  ],
});

/** Confidential issues count only for viewers who may read all of them. Source: reference identity-and-import 10.2. */
function countOpenIssues({ counts, level }: ProjectRow, _: undefined, { viewer }: PresentContext): number {
  const readsConfidential = viewer.isAdmin || level >= ACCESS_LEVELS.planner;
  return counts?.[readsConfidential ? 'all' : 'public'] ?? 0;
}

/** Statistics are visible to members from reporter. Source: reference identity-and-import 10.2. */
function showsStatistics(project: ProjectRow, _: undefined, { viewer }: PresentContext): boolean {
  return project.statistics !== null && (viewer.isAdmin || project.level >= ACCESS_LEVELS.reporter);
}

/** Whether the caller may open merge requests into the project, from itself or a fork. */
function mayOpenMergeRequests(project: ProjectRow, viewer: Viewer): boolean {
  const { merge_requests_access_level: access, visibility, level } = project;
  if (access === 'disabled' || !isSignedIn(viewer)) return false;
  if (viewer.isAdmin || level >= ACCESS_LEVELS.reporter) return true;
  return visibility !== 'private' && (access === 'enabled' || level >= ACCESS_LEVELS.guest);
}

const hasFullShape = (project: ProjectRow): boolean => project.shape === 'full';

/** A project, in the shape of its row. */
export const project = presenter<ProjectRow>('Project').fields({ ...basic, ...onlyWhen(hasFullShape, full) });
