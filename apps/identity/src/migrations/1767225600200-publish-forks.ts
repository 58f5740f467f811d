import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Copies of the directory know from now on which project a fork was made of. Forks are written to the log again; for
 * all other projects null is right. Forks that exist already copy nothing: their source may be less visible today than
 * when they were made, so their branch is a name that no branch has. Source: ADR 0041.
 */
export class PublishForks1767225600200 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table projects add fork_network_id bigint, add forked_branch text');
    await runner.query(`
      with recursive origins as (
        select f.id, f.forked_from_project_id as origin from projects f where f.forked_from_project_id is not null
        union all
        select o.id, p.forked_from_project_id from origins o
          join projects p on p.id = o.origin and p.forked_from_project_id is not null
      ), first as (
        select o.id, o.origin from origins o join projects p on p.id = o.origin and p.forked_from_project_id is null
      )
      update projects p set fork_network_id = first.origin, forked_branch = '' from first where first.id = p.id`);
    await runner.query(`
      with chosen as (
        select p.*, (select jsonb_object_agg(s.key, s.value) from jsonb_each(p.settings) s
          where s.key = any('{merge_method,squash_option,only_allow_merge_if_pipeline_succeeds,
            allow_merge_on_skipped_pipeline,only_allow_merge_if_all_discussions_are_resolved,
            remove_source_branch_after_merge,merge_commit_template,squash_commit_template,suggestion_commit_message,
            resolve_outdated_diff_discussions,printing_merge_request_link_enabled,autoclose_referenced_issues,
            ci_config_path,builds_access_level}')
            and s.value <> 'null') as merge_settings
        from projects p where p.fork_network_id is not null
      ), head as (
        update directory_head set version = version + 1 where exists (select 1 from chosen) returning version
      )
      insert into directory_changes (version, ordinal, kind, entity_id, state)
      select head.version, row_number() over (order by p.id), 'project', p.id, jsonb_build_object(
        'id', p.id, 'namespace_id', p.namespace_id, 'creator_id', p.creator_id, 'name', p.name, 'path', p.path,
        'description', p.description, 'visibility', p.visibility,
        'archived', p.archived or p.marked_for_deletion_on is not null or exists (
          select 1 from namespaces home join namespaces above on above.id = any(home.traversal_ids)
          where home.id = p.namespace_id and above.marked_for_deletion_on is not null),
        'issues_access_level', p.issues_access_level, 'snippets_access_level', p.snippets_access_level,
        'merge_requests_access_level', p.merge_requests_access_level,
        'repository_access_level', p.settings ->> 'repository_access_level',
        'feature_flags_access_level', p.settings ->> 'feature_flags_access_level',
        'merge_settings', p.merge_settings, 'fork', jsonb_build_object(
          'project_id', p.forked_from_project_id, 'network_id', p.fork_network_id, 'branch', p.forked_branch),
        'packages_enabled', p.packages_enabled,
        'emails_enabled', p.emails_enabled, 'default_branch', p.default_branch, 'avatar_url', p.avatar_url,
        'created_at', to_char(p.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
      from chosen p, head`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table projects drop fork_network_id, drop forked_branch');
  }
}
