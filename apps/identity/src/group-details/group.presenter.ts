import type { PresentContext } from '@rookery/api-v4';
import { any, bool, day, instant, int, list, nested, nullable, object, presenter, text } from '@rookery/api-v4';
import { absoluteUrl } from '@rookery/directory';
import { sharedWithGroups } from '../invited-groups/shared-with-groups';
import { project } from '../projects/project.presenter';
import { GROUP_DEFAULTS } from '../group-settings/group-settings';
import type { GroupSettings } from '../group-settings/group-settings';
import type { GroupDetailRow, GroupRow } from './group-row';

function setting<K extends keyof GroupSettings>(name: K): (group: GroupRow) => GroupSettings[K] {
  return (group) => (group.settings as GroupSettings)[name] ?? GROUP_DEFAULTS[name];
}

const isAdministrator = (_: GroupRow, __: undefined, { viewer }: PresentContext): boolean => viewer.isAdmin;

/** A list item. Source: reference identity-and-import 2.3. */
export const group = presenter<GroupRow>('Group').fields({
  id: [int, (one) => one.id],
  web_url: [text, (one, _, { links }) => links.web(`groups/${one.full_path}`)],
  name: [text, (one) => one.name],
  path: [text, (one) => one.path],
  description: [text, (one) => one.description],
  visibility: [text, (one) => one.visibility],
  share_with_group_lock: [bool, setting('share_with_group_lock')],
  require_two_factor_authentication: [bool, setting('require_two_factor_authentication')],
  two_factor_grace_period: [int, setting('two_factor_grace_period')],
  project_creation_level: [text, (one) => one.project_creation_level],
  auto_devops_enabled: [nullable(bool), setting('auto_devops_enabled')],
  subgroup_creation_level: [text, (one) => one.subgroup_creation_level],
  emails_disabled: [bool, (one) => !one.emails_enabled, { deprecated: 'emails_enabled' }],
  emails_enabled: [bool, (one) => one.emails_enabled],
  mentions_disabled: [nullable(bool), setting('mentions_disabled')],
  lfs_enabled: [bool, setting('lfs_enabled')],
  math_rendering_limits_enabled: [bool, setting('math_rendering_limits_enabled')],
  lock_math_rendering_limits_enabled: [bool, setting('lock_math_rendering_limits_enabled')],
  default_branch: [nullable(text), setting('default_branch')],
  default_branch_protection: [
    int,
    setting('default_branch_protection'),
    { deprecated: 'default_branch_protection_defaults' },
  ],
  default_branch_protection_defaults: [any, setting('default_branch_protection_defaults')],
  avatar_url: [nullable(text), (one, _, { links }) => absoluteUrl(one.avatar_url, links)],
  request_access_enabled: [bool, (one) => one.request_access_enabled],
  full_name: [text, (one) => one.full_name],
  full_path: [text, (one) => one.full_path],
  created_at: [instant, (one) => one.created_at],
  parent_id: [nullable(int), (one) => one.parent_id],
  organization_id: [int, () => 1],
  shared_runners_setting: [text, setting('shared_runners_setting')],
  max_artifacts_size: [nullable(int), setting('max_artifacts_size')],
  custom_attributes: [
    list(object({ key: text, value: text })),
    (one) => one.custom_attributes ?? [],
    { when: (one) => one.custom_attributes !== undefined },
  ],
  ldap_cn: [nullable(text), () => null],
  ldap_access: [nullable(int), () => null],
  file_template_project_id: [nullable(int), setting('file_template_project_id')],
  marked_for_deletion_on: [nullable(day), (one) => one.marked_for_deletion_on],
  repository_storage: [text, () => 'default', { when: isAdministrator }],
  wiki_access_level: [text, setting('wiki_access_level')],
  assistant_features_enabled: [bool, setting('assistant_features_enabled')],
  lock_assistant_features_enabled: [bool, setting('lock_assistant_features_enabled')],
  assistant_availability: [text, setting('assistant_availability')],
  experiment_features_enabled: [bool, setting('experiment_features_enabled')],
  membership_lock: [bool, setting('membership_lock')],
  ip_restriction_ranges: [nullable(text), setting('ip_restriction_ranges')],
});

const secret = { when: (one: GroupDetailRow): boolean => one.shows_secrets };

/** One group. */
export const groupDetail = group.extend<GroupDetailRow>('GroupDetail').fields({
  shared_with_groups: [sharedWithGroups, (one) => one.shared_with_groups],
  runners_token: [nullable(text), (one) => one.runners_token, secret],
  enabled_git_access_protocol: [text, setting('enabled_git_access_protocol'), secret],
  prevent_sharing_groups_outside_hierarchy: [
    bool,
    setting('prevent_sharing_groups_outside_hierarchy'),
    { when: (one) => one.parent_id === null },
  ],
  resource_access_token_creation_allowed: [
    bool,
    setting('resource_access_token_creation_allowed'),
    { when: (one) => one.shows_secrets && one.parent_id === null },
  ],
  prevent_forking_outside_group: [nullable(bool), setting('prevent_forking_outside_group')],
  allowed_email_domains_list: [nullable(text), setting('allowed_email_domains_list')],
  shared_runners_minutes_limit: [nullable(int), setting('shared_runners_minutes_limit')],
  extra_shared_runners_minutes_limit: [nullable(int), setting('extra_shared_runners_minutes_limit')],
  unique_project_download_limit: [nullable(int), setting('unique_project_download_limit'), secret],
  unique_project_download_limit_interval_in_seconds: [
    nullable(int),
    setting('unique_project_download_limit_interval_in_seconds'),
    secret,
  ],
  unique_project_download_limit_allowlist: [list(text), setting('unique_project_download_limit_allowlist'), secret],
  unique_project_download_limit_alertlist: [list(int), setting('unique_project_download_limit_alertlist'), secret],
  auto_ban_user_on_excessive_projects_download: [bool, setting('auto_ban_user_on_excessive_projects_download'), secret],
  projects: [list(nested(project)), (one) => one.projects ?? [], { when: (one) => one.projects !== undefined }],
  shared_projects: [
    list(nested(project)),
    (one) => one.shared_projects ?? [],
    { when: (one) => one.shared_projects !== undefined },
  ],
});
