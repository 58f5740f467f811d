/**
 * Plain settings of a group: stored as they are sent, shown as they are stored, asked for by no query.
 * Their defaults are what clients read of a group that never set them. Source: reference identity-and-import 2.3-2.6; ADR 0061.
 */
export interface BranchProtection {
  allowed_to_push: { access_level: number }[];
  allow_force_push: boolean;
  allowed_to_merge: { access_level: number }[];
  developer_can_initial_push: boolean;
}

export interface GroupSettings {
  share_with_group_lock: boolean;
  require_two_factor_authentication: boolean;
  two_factor_grace_period: number;
  auto_devops_enabled: boolean | null;
  mentions_disabled: boolean | null;
  lfs_enabled: boolean;
  math_rendering_limits_enabled: boolean;
  lock_math_rendering_limits_enabled: boolean;
  default_branch: string | null;
  default_branch_protection: number;
  default_branch_protection_defaults: BranchProtection;
  shared_runners_setting: string;
  max_artifacts_size: number | null;
  enabled_git_access_protocol: string;
  prevent_sharing_groups_outside_hierarchy: boolean;
  prevent_forking_outside_group: boolean | null;
  /** Of a top-level group: whether tokens of it and of all below may be made. */
  resource_access_token_creation_allowed: boolean;
  file_template_project_id: number | null;
  wiki_access_level: string;
  membership_lock: boolean;
  ip_restriction_ranges: string | null;
  allowed_email_domains_list: string | null;
  assistant_features_enabled: boolean;
  lock_assistant_features_enabled: boolean;
  assistant_availability: string;
  experiment_features_enabled: boolean;
  shared_runners_minutes_limit: number | null;
  extra_shared_runners_minutes_limit: number | null;
  unique_project_download_limit: number | null;
  unique_project_download_limit_interval_in_seconds: number | null;
  unique_project_download_limit_allowlist: string[];
  unique_project_download_limit_alertlist: number[];
  auto_ban_user_on_excessive_projects_download: boolean;
}

export const GROUP_DEFAULTS: GroupSettings = {
  share_with_group_lock: false,
  require_two_factor_authentication: false,
  two_factor_grace_period: 48,
  auto_devops_enabled: null,
  mentions_disabled: null,
  lfs_enabled: true,
  math_rendering_limits_enabled: true,
  lock_math_rendering_limits_enabled: false,
  default_branch: null,
  default_branch_protection: 2,
  default_branch_protection_defaults: branchProtection(2),
  shared_runners_setting: 'enabled',
  max_artifacts_size: null,
  enabled_git_access_protocol: 'all',
  prevent_sharing_groups_outside_hierarchy: false,
  prevent_forking_outside_group: null,
  resource_access_token_creation_allowed: true,
  file_template_project_id: null,
  wiki_access_level: 'enabled',
  membership_lock: false,
  ip_restriction_ranges: null,
  allowed_email_domains_list: null,
  assistant_features_enabled: true,
  lock_assistant_features_enabled: false,
  assistant_availability: 'default_on',
  experiment_features_enabled: false,
  shared_runners_minutes_limit: null,
  extra_shared_runners_minutes_limit: null,
  unique_project_download_limit: 0,
  unique_project_download_limit_interval_in_seconds: 0,
  unique_project_download_limit_allowlist: [],
  unique_project_download_limit_alertlist: [],
  auto_ban_user_on_excessive_projects_download: false,
};

/** What the old numbers 0..4 mean. Source: reference identity-and-import 2.4. */
export function branchProtection(level: number): BranchProtection {
  const push = level <= 1 ? 30 : 40;
  const merge = level === 0 || level === 3 ? 30 : 40;
  return {
    allowed_to_push: [{ access_level: push }],
    allow_force_push: level === 0,
    allowed_to_merge: [{ access_level: merge }],
    developer_can_initial_push: level === 4,
  };
}

/** The settings among the sent fields, ready to be merged over the stored ones. */
export function settingsFrom(sent: Readonly<Record<string, unknown>>): Partial<GroupSettings> {
  const chosen: Record<string, unknown> = {};
  for (const field of Object.keys(GROUP_DEFAULTS)) {
    if (sent[field] !== undefined) chosen[field] = sent[field];
  }
  const settings = chosen as Partial<GroupSettings>;
  if (settings.default_branch_protection_defaults) {
    settings.default_branch_protection_defaults = {
      ...GROUP_DEFAULTS.default_branch_protection_defaults,
      ...settings.default_branch_protection_defaults,
    };
  } else if (settings.default_branch_protection !== undefined) {
    settings.default_branch_protection_defaults = branchProtection(settings.default_branch_protection);
  }
  if (settings.shared_runners_setting === 'disabled_with_override') {
    settings.shared_runners_setting = 'disabled_and_overridable';
  }
  return settings;
}
