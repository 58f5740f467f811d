import type { UploadedFile } from '@rookery/api-v4';
import { Flag, HashOf, IdOrPath, Int, ListOf, ListOfHashes, OneOf, Text } from '@rookery/api-v4';
import type { Visibility } from '@rookery/kernel';
import { VISIBILITIES } from '@rookery/kernel';
import { AvatarUpload } from '../avatars/avatars.dto';

export class GroupParams {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Flag({ default: true, deprecated: 'GET /groups/:id/projects' }) with_projects: boolean;
  @Flag({ default: false, about: 'Administrators.' }) with_custom_attributes: boolean;
}

class AccessLevelEntry {
  @OneOf([0, 30, 40]) access_level: number;
}

class BranchProtectionParams {
  @ListOfHashes(() => AccessLevelEntry, { optional: true }) allowed_to_push?: AccessLevelEntry[];
  @Flag({ optional: true }) allow_force_push?: boolean;
  @ListOfHashes(() => AccessLevelEntry, { optional: true }) allowed_to_merge?: AccessLevelEntry[];
  @Flag({ optional: true }) developer_can_initial_push?: boolean;
  @Flag({ optional: true }) code_owner_approval_required?: boolean;
}

/** What create and update have in common. Source: reference identity-and-import 2.4-2.6. */
export class GroupFields {
  @AvatarUpload() avatar?: UploadedFile | null;
  @Text({ optional: true, nullable: true }) description?: string | null;
  @OneOf(VISIBILITIES, { optional: true }) visibility?: Visibility;
  @Flag({ optional: true, nullable: true }) auto_devops_enabled?: boolean | null;
  @Text({ optional: true, nullable: true }) default_branch?: string | null;
  @Int({ optional: true, min: 0, max: 4, deprecated: 'default_branch_protection_defaults' })
  default_branch_protection?: number;
  @HashOf(() => BranchProtectionParams, { optional: true }) default_branch_protection_defaults?: BranchProtectionParams;
  @Flag({ optional: true, deprecated: 'emails_enabled' }) emails_disabled?: boolean;
  @Flag({ optional: true }) emails_enabled?: boolean;
  @OneOf(['ssh', 'http', 'all', 'ssh_certificates'], { optional: true }) enabled_git_access_protocol?: string;
  @Flag({ optional: true }) lfs_enabled?: boolean;
  @Flag({ optional: true, nullable: true }) mentions_disabled?: boolean | null;
  @OneOf(['noone', 'owner', 'maintainer', 'developer', 'administrator'], { optional: true })
  project_creation_level?: string;
  @Flag({ optional: true }) request_access_enabled?: boolean;
  @Flag({ optional: true }) require_two_factor_authentication?: boolean;
  @Flag({ optional: true }) share_with_group_lock?: boolean;
  @OneOf(['owner', 'maintainer'], { optional: true }) subgroup_creation_level?: string;
  @Int({ optional: true, min: 0 }) two_factor_grace_period?: number;
  @Flag({ optional: true }) membership_lock?: boolean;
  @Int({ optional: true, nullable: true, min: 0, about: 'Administrators.' }) shared_runners_minutes_limit?:
    number | null;
  @Int({ optional: true, nullable: true, min: 0, about: 'Administrators.' })
  extra_shared_runners_minutes_limit?: number | null;
  @OneOf(['disabled', 'private', 'enabled'], { optional: true }) wiki_access_level?: string;
  @Flag({ optional: true, alias: 'duo_features_enabled' }) assistant_features_enabled?: boolean;
  @Flag({ optional: true, alias: 'lock_duo_features_enabled' }) lock_assistant_features_enabled?: boolean;
  @OneOf(['default_on', 'default_off', 'never_on'], { optional: true, alias: 'duo_availability' })
  assistant_availability?: string;
  @Flag({ optional: true }) experiment_features_enabled?: boolean;
}

export class CreateGroupParams extends GroupFields {
  @Text() name: string;
  @Text() path: string;
  @Int({ optional: true }) parent_id?: number;
  @Int({ optional: true }) organization_id?: number;
}

export class UpdateGroupParams extends GroupFields {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Text({ optional: true }) name?: string;
  @Text({ optional: true }) path?: string;
  @OneOf(['enabled', 'disabled_and_overridable', 'disabled_and_unoverridable', 'disabled_with_override'], {
    optional: true,
  })
  shared_runners_setting?: string;
  @Flag({ optional: true, about: 'Top-level groups.' }) prevent_sharing_groups_outside_hierarchy?: boolean;
  @Flag({ optional: true }) math_rendering_limits_enabled?: boolean;
  @Flag({ optional: true }) lock_math_rendering_limits_enabled?: boolean;
  @Int({ optional: true, nullable: true }) file_template_project_id?: number | null;
  @Flag({ optional: true, nullable: true }) prevent_forking_outside_group?: boolean | null;
  @Flag({ optional: true, about: 'Top-level groups: tokens of the group and of all below.' })
  resource_access_token_creation_allowed?: boolean;
  @Text({ optional: true, nullable: true }) ip_restriction_ranges?: string | null;
  @Text({ optional: true, nullable: true }) allowed_email_domains_list?: string | null;
  @Int({ optional: true, nullable: true, min: 0 }) max_artifacts_size?: number | null;
  @Int({ optional: true, nullable: true, min: 0, max: 10_000 }) unique_project_download_limit?: number | null;
  @Int({ optional: true, nullable: true, min: 0, max: 864_000, about: 'Seconds.' })
  unique_project_download_limit_interval_in_seconds?: number | null;
  @ListOf('text', { optional: true, max: 100 }) unique_project_download_limit_allowlist?: string[];
  @ListOf('int', { optional: true, max: 100 }) unique_project_download_limit_alertlist?: number[];
  @Flag({ optional: true }) auto_ban_user_on_excessive_projects_download?: boolean;
}
