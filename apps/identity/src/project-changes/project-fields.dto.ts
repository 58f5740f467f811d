import type { UploadedFile } from '@rookery/api-v4';
import { AtLeastOneOf, Flag, IdOrPath, Int, ListOf, OneOf, Text } from '@rookery/api-v4';
import type { Visibility } from '@rookery/kernel';
import { VISIBILITIES } from '@rookery/kernel';
import { AvatarUpload } from '../avatars/avatars.dto';
import type { FeatureLevel } from '../projects/project-settings';
import type { ProjectChange } from './project-input';

const ACCESS = ['disabled', 'private', 'enabled'] as const;
type Access = (typeof ACCESS)[number];

/** What create and update have in common. */
export class ProjectFields implements ProjectChange {
  @Text({ optional: true }) name?: string;
  @Text({ optional: true }) path?: string;
  @Text({ optional: true, nullable: true }) description?: string | null;
  @OneOf(VISIBILITIES, { optional: true }) visibility?: Visibility;
  @Text({ optional: true }) default_branch?: string;
  @ListOf('text', { optional: true, alias: 'tag_list', about: 'Names; missing topics are made.' }) topics?: string[];
  @AvatarUpload() avatar?: UploadedFile | null;
  @Text({ optional: true, nullable: true, about: 'Refused: nothing is imported by URL.' }) import_url?: string | null;
  @Text({ optional: true, nullable: true, about: 'Refused: there are no templates.' }) template_name?: string | null;
  @OneOf(ACCESS, { optional: true }) issues_access_level?: Access;
  @OneOf(ACCESS, { optional: true }) snippets_access_level?: Access;
  @OneOf(ACCESS, { optional: true }) merge_requests_access_level?: Access;
  @OneOf(ACCESS, { optional: true }) repository_access_level?: FeatureLevel;
  @OneOf(ACCESS, { optional: true }) forking_access_level?: FeatureLevel;
  @OneOf(ACCESS, { optional: true }) wiki_access_level?: FeatureLevel;
  @OneOf(ACCESS, { optional: true }) builds_access_level?: FeatureLevel;
  @OneOf([...ACCESS, 'public'], { optional: true }) pages_access_level?: FeatureLevel;
  @OneOf(ACCESS, { optional: true }) analytics_access_level?: FeatureLevel;
  @OneOf(ACCESS, { optional: true }) container_registry_access_level?: FeatureLevel;
  @OneOf(ACCESS, { optional: true }) security_and_compliance_access_level?: FeatureLevel;
  @OneOf(ACCESS, { optional: true }) releases_access_level?: FeatureLevel;
  @OneOf(ACCESS, { optional: true }) environments_access_level?: FeatureLevel;
  @OneOf(ACCESS, { optional: true }) feature_flags_access_level?: FeatureLevel;
  @OneOf(ACCESS, { optional: true }) infrastructure_access_level?: FeatureLevel;
  @OneOf(ACCESS, { optional: true }) monitor_access_level?: FeatureLevel;
  @OneOf(ACCESS, { optional: true }) model_experiments_access_level?: FeatureLevel;
  @OneOf(ACCESS, { optional: true }) model_registry_access_level?: FeatureLevel;
  @OneOf(ACCESS, { optional: true }) requirements_access_level?: FeatureLevel;
  @Flag({ optional: true, deprecated: 'issues_access_level' }) issues_enabled?: boolean;
  @Flag({ optional: true, deprecated: 'merge_requests_access_level' }) merge_requests_enabled?: boolean;
  @Flag({ optional: true, deprecated: 'snippets_access_level' }) snippets_enabled?: boolean;
  @Flag({ optional: true, deprecated: 'wiki_access_level' }) wiki_enabled?: boolean;
  @Flag({ optional: true, deprecated: 'builds_access_level' }) jobs_enabled?: boolean;
  @Flag({ optional: true, deprecated: 'container_registry_access_level' }) container_registry_enabled?: boolean;
  @Flag({ optional: true }) packages_enabled?: boolean;
  @Flag({ optional: true, deprecated: 'emails_enabled' }) emails_disabled?: boolean;
  @Flag({ optional: true }) emails_enabled?: boolean;
  @Flag({ optional: true }) service_desk_enabled?: boolean;
  @Flag({ optional: true }) shared_runners_enabled?: boolean;
  @Flag({ optional: true }) group_runners_enabled?: boolean;
  @Flag({ optional: true }) lfs_enabled?: boolean;
  @Flag({ optional: true }) request_access_enabled?: boolean;
  @Flag({ optional: true }) resolve_outdated_diff_discussions?: boolean;
  @Flag({ optional: true, alias: 'public_builds' }) public_jobs?: boolean;
  @Text({ optional: true, nullable: true }) ci_config_path?: string | null;
  @OneOf(['fetch', 'clone'], { optional: true }) build_git_strategy?: string;
  @Int({ optional: true, min: 600, max: 2_592_000 }) build_timeout?: number;
  @OneOf(['enabled', 'disabled'], { optional: true }) auto_cancel_pending_pipelines?: string;
  @Int({ optional: true, min: 0, max: 1000 }) ci_default_git_depth?: number;
  @Flag({ optional: true }) ci_forward_deployment_enabled?: boolean;
  @Flag({ optional: true }) ci_separated_caches?: boolean;
  @Flag({ optional: true }) auto_devops_enabled?: boolean;
  @OneOf(['continuous', 'manual', 'timed_incremental'], { optional: true }) auto_devops_deploy_strategy?: string;
  @Flag({ optional: true }) keep_latest_artifact?: boolean;
  @Int({ optional: true, nullable: true }) max_artifacts_size?: number | null;
  @OneOf(['merge', 'rebase_merge', 'ff'], { optional: true }) merge_method?: string;
  @OneOf(['never', 'always', 'default_on', 'default_off'], { optional: true }) squash_option?: string;
  @Flag({ optional: true }) only_allow_merge_if_pipeline_succeeds?: boolean;
  @Flag({ optional: true, nullable: true }) allow_merge_on_skipped_pipeline?: boolean | null;
  @Flag({ optional: true }) only_allow_merge_if_all_discussions_are_resolved?: boolean;
  @Flag({ optional: true }) remove_source_branch_after_merge?: boolean;
  @Flag({ optional: true }) printing_merge_request_link_enabled?: boolean;
  @Text({ optional: true, nullable: true }) suggestion_commit_message?: string | null;
  @Text({ optional: true, nullable: true }) merge_commit_template?: string | null;
  @Text({ optional: true, nullable: true }) squash_commit_template?: string | null;
  @Text({ optional: true, nullable: true }) issue_branch_template?: string | null;
  @Flag({ optional: true }) autoclose_referenced_issues?: boolean;
  @Flag({ optional: true }) enforce_auth_checks_on_uploads?: boolean;
  @Flag({ optional: true }) warn_about_potentially_unwanted_characters?: boolean;
}

@AtLeastOneOf('name', 'path')
export class CreateProjectParams extends ProjectFields {
  @Int({ optional: true, nullable: true }) namespace_id?: number | null;
  @Int({ optional: true, nullable: true }) organization_id?: number | null;
  @Flag({ optional: true, about: 'Told to the service of repositories.' }) initialize_with_readme?: boolean;
}

export class CreateUserProjectParams extends CreateProjectParams {
  @Int({ in: 'path' }) user_id: number;
}

export class UpdateProjectParams extends ProjectFields {
  @IdOrPath({ in: 'path' }) id: number | string;
}
