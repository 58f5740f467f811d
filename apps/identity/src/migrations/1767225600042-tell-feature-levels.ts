import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Copies of the directory contain the access levels of the repository and the feature flags of a project from now on.
 * Projects that have set one are written to the log again; for all others null is right. Source: ADR 0041.
 */
export class TellFeatureLevels1767225600042 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      with told as (
        select p.* from projects p
        where p.settings ? 'repository_access_level' or p.settings ? 'feature_flags_access_level'
      ), head as (
        update directory_head set version = version + 1 where exists (select 1 from told) returning version
      )
      insert into directory_changes (version, ordinal, kind, entity_id, state)
      select head.version, row_number() over (order by told.id), 'project', told.id, jsonb_build_object(
        'id', told.id, 'namespace_id', told.namespace_id, 'creator_id', told.creator_id, 'name', told.name,
        'path', told.path, 'description', told.description, 'visibility', told.visibility,
        'archived', told.archived, 'issues_access_level', told.issues_access_level,
        'snippets_access_level', told.snippets_access_level,
        'merge_requests_access_level', told.merge_requests_access_level,
        'repository_access_level', told.settings ->> 'repository_access_level',
        'feature_flags_access_level', told.settings ->> 'feature_flags_access_level',
        'packages_enabled', told.packages_enabled, 'emails_enabled', told.emails_enabled,
        'default_branch', told.default_branch, 'avatar_url', told.avatar_url,
        'created_at', to_char(told.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
      from told, head`);
  }

  async down(): Promise<void> {
    // The log entries stay valid.
  }
}
