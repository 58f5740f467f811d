import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Copies of the directory contain the settings of projects for pipelines from now on. Projects that have set one are
 * written to the log again; for all others nothing changes. Source: ADR 0041.
 */
export class PublishCiSettings1767225600070 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      with chosen as (
        select p.*, (select jsonb_object_agg(s.key, s.value) from jsonb_each(p.settings) s
          where s.key = any('{merge_method,squash_option,only_allow_merge_if_pipeline_succeeds,
            allow_merge_on_skipped_pipeline,only_allow_merge_if_all_discussions_are_resolved,
            remove_source_branch_after_merge,merge_commit_template,squash_commit_template,suggestion_commit_message,
            resolve_outdated_diff_discussions,printing_merge_request_link_enabled,autoclose_referenced_issues,
            ci_config_path,builds_access_level}')
            and s.value <> 'null') as merge_settings
        from projects p
      ), published as (
        select * from chosen where merge_settings ?| '{ci_config_path,builds_access_level}'
      ), head as (
        update directory_head set version = version + 1 where exists (select 1 from published) returning version
      )
      insert into directory_changes (version, ordinal, kind, entity_id, state)
      select head.version, row_number() over (order by p.id), 'project', p.id, jsonb_build_object(
        'id', p.id, 'namespace_id', p.namespace_id, 'creator_id', p.creator_id, 'name', p.name, 'path', p.path,
        'description', p.description, 'visibility', p.visibility, 'archived', p.archived,
        'issues_access_level', p.issues_access_level, 'snippets_access_level', p.snippets_access_level,
        'merge_requests_access_level', p.merge_requests_access_level,
        'repository_access_level', p.settings ->> 'repository_access_level',
        'feature_flags_access_level', p.settings ->> 'feature_flags_access_level',
        'merge_settings', p.merge_settings, 'packages_enabled', p.packages_enabled,
        'emails_enabled', p.emails_enabled, 'default_branch', p.default_branch, 'avatar_url', p.avatar_url,
        'created_at', to_char(p.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
      from published p, head`);
  }

  async down(): Promise<void> {
    // The log entries stay valid.
  }
}
