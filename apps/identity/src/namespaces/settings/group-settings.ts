import { plain } from '@rookery/kernel';
import type { PlainColumns, PlainInput, PlainSettings } from '@rookery/kernel';

/** Permissions for pushing to and merging into the default branch of new projects. */
export interface BranchProtection {
  allowed_to_push: { access_level: number }[];
  allow_force_push: boolean;
  allowed_to_merge: { access_level: number }[];
  developer_can_initial_push: boolean;
  code_owner_approval_required?: boolean;
}

/** Converts the legacy numbers 0..4. Source: reference identity-and-import 2.4. */
function fromLegacyProtectionLevel(level: number): BranchProtection {
  const push = level <= 1 ? 30 : 40;
  const merge = level === 0 || level === 3 ? 30 : 40;
  return {
    allowed_to_push: [{ access_level: push }],
    allow_force_push: level === 0,
    allowed_to_merge: [{ access_level: merge }],
    developer_can_initial_push: level === 4,
  };
}

const DEFAULT_PROTECTION = fromLegacyProtectionLevel(2);
const UNSET = { default: null, nullable: true } as const;
const LATER = { settable: 'later' } as const;
/** Shown only in the answer about a single group, to callers who administer it. */
const SECRET = { in: 'detail', shown: 'administering' } as const;
const DAY_SECONDS = 86_400;

/**
 * Plain fields of a group: stored as sent and shown as stored; no query depends on them. Defaults are the values of
 * groups that never set them. In the order of the parameters. Source: reference identity-and-import 2.3-2.6; ADR 0061,
 * 0162.
 */
export const GROUP_FIELDS = plain.table({
  auto_devops_enabled: plain.flag(UNSET),
  default_branch: plain.text({ ...UNSET, longest: 255 }),
  default_branch_protection: plain.int({
    min: 0,
    max: 4,
    default: 2,
    deprecated: 'default_branch_protection_defaults',
  }),
  default_branch_protection_defaults: plain.hash<BranchProtection, Partial<BranchProtection>>()({
    default: DEFAULT_PROTECTION,
  }),
  emails_disabled: plain.switch('emails_enabled', { on: false, off: true, shownAsDeprecated: true }),
  emails_enabled: plain.flag({ column: true }),
  enabled_git_access_protocol: plain.oneOf(['ssh', 'http', 'all', 'ssh_certificates'], { default: 'all', ...SECRET }),
  lfs_enabled: plain.flag({ default: true }),
  mentions_disabled: plain.flag(UNSET),
  project_creation_level: plain.oneOf(['noone', 'owner', 'maintainer', 'developer', 'administrator'], { column: true }),
  request_access_enabled: plain.flag({ column: true }),
  require_two_factor_authentication: plain.flag({ default: false }),
  share_with_group_lock: plain.flag({ default: false }),
  subgroup_creation_level: plain.oneOf(['owner', 'maintainer'], { column: true }),
  two_factor_grace_period: plain.int({ min: 0, default: 48 }),
  membership_lock: plain.flag({ default: false }),
  shared_runners_minutes_limit: plain.int({
    ...UNSET,
    min: 0,
    by: 'administrators',
    in: 'detail',
  }),
  extra_shared_runners_minutes_limit: plain.int({
    ...UNSET,
    min: 0,
    by: 'administrators',
    in: 'detail',
  }),
  wiki_access_level: plain.oneOf(['disabled', 'private', 'enabled'], { default: 'enabled' }),
  assistant_features_enabled: plain.flag({ default: true, alias: 'duo_features_enabled' }),
  lock_assistant_features_enabled: plain.flag({ default: false, alias: 'lock_duo_features_enabled' }),
  assistant_availability: plain.oneOf(['default_on', 'default_off', 'never_on'], {
    default: 'default_on',
    alias: 'duo_availability',
  }),
  experiment_features_enabled: plain.flag({ default: false }),
  shared_runners_setting: plain.oneOf(
    ['enabled', 'disabled_and_overridable', 'disabled_and_unoverridable', 'disabled_with_override'],
    { default: 'enabled', ...LATER },
  ),
  prevent_sharing_groups_outside_hierarchy: plain.flag({
    default: false,
    ...LATER,
    in: 'detail',
    shown: 'atTheTop',
    about: 'For top-level groups.',
  }),
  math_rendering_limits_enabled: plain.flag({ default: true, ...LATER }),
  lock_math_rendering_limits_enabled: plain.flag({ default: false, ...LATER }),
  file_template_project_id: plain.int({ ...UNSET, ...LATER }),
  prevent_forking_outside_group: plain.flag({ ...UNSET, ...LATER, in: 'detail' }),
  resource_access_token_creation_allowed: plain.flag({
    default: true,
    ...LATER,
    in: 'detail',
    shown: 'administeringAtTheTop',
    about: 'For top-level groups: applies to tokens of the group and of all groups below.',
  }),
  allowed_email_domains_list: plain.text({ ...UNSET, ...LATER, in: 'detail', shown: 'owners', longest: 4096 }),
  max_artifacts_size: plain.int({ ...UNSET, ...LATER, min: 0 }),
  unique_project_download_limit: plain.int({
    default: 0,
    nullable: true,
    ...LATER,
    ...SECRET,
    min: 0,
    max: 10_000,
  }),
  unique_project_download_limit_interval_in_seconds: plain.int({
    default: 0,
    nullable: true,
    ...LATER,
    ...SECRET,
    min: 0,
    max: 10 * DAY_SECONDS,
    about: 'In seconds.',
  }),
  unique_project_download_limit_allowlist: plain.texts({ default: [], ...LATER, ...SECRET, max: 100 }),
  unique_project_download_limit_alertlist: plain.ints({ default: [], ...LATER, ...SECRET, max: 100 }),
  auto_ban_user_on_excessive_projects_download: plain.flag({ default: false, ...LATER, ...SECRET }),
});

export type PlainGroupColumns = PlainColumns<typeof GROUP_FIELDS>;
export type GroupSettings = PlainSettings<typeof GROUP_FIELDS>;
/** Fields for creating a group. */
export type NewPlainGroup = PlainInput<typeof GROUP_FIELDS>;
/** Fields for updating a group. */
export type PlainGroupChange = PlainInput<typeof GROUP_FIELDS, 'always' | 'later'>;

/**
 * Expands settings that set several others, and maps a deprecated name to the new one. Source: reference
 * identity-and-import 2.4, 2.6.
 */
export function normalizeGroupSettings(sent: Partial<GroupSettings>): Partial<GroupSettings> {
  const settings = { ...sent };
  if (settings.default_branch_protection_defaults) {
    settings.default_branch_protection_defaults = {
      ...DEFAULT_PROTECTION,
      ...settings.default_branch_protection_defaults,
    };
  } else if (settings.default_branch_protection !== undefined) {
    settings.default_branch_protection_defaults = fromLegacyProtectionLevel(settings.default_branch_protection);
  }
  if (settings.shared_runners_setting === 'disabled_with_override') {
    settings.shared_runners_setting = 'disabled_and_overridable';
  }
  return settings;
}
