import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Publishes groups that have set a protection for default branches again, because earlier states of the log lack the
 * setting. All other groups have none, as copies assume.
 */
export class PublishBranchProtection1767225600410 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      with published as (
        select n.*, n.settings -> 'default_branch_protection_defaults' as protection from namespaces n
        where n.settings ? 'default_branch_protection_defaults'
      ), head as (
        update directory_head set version = version + 1 where exists (select 1 from published) returning version
      )
      insert into directory_changes (version, ordinal, kind, entity_id, state)
      select head.version, row_number() over (order by p.id), 'namespace', p.id, jsonb_build_object(
        'id', p.id, 'kind', p.kind, 'owner_id', p.owner_id, 'parent_id', p.parent_id, 'traversal_ids', p.traversal_ids,
        'name', p.name, 'path', p.path, 'full_name', p.full_name, 'full_path', p.full_path, 'visibility', p.visibility,
        'avatar_url', p.avatar_url, 'emails_enabled', p.emails_enabled,
        'mentions_disabled', (p.settings ->> 'mentions_disabled')::boolean, 'plan', p.plan,
        'archived', exists (select 1 from namespaces above
          where above.id = any(p.traversal_ids) and above.marked_for_deletion_on is not null),
        'default_branch_protection', jsonb_build_object(
          'push_levels', jsonb_path_query_array(p.protection, '$.allowed_to_push[*].access_level'),
          'merge_levels', jsonb_path_query_array(p.protection, '$.allowed_to_merge[*].access_level'),
          'allow_force_push', coalesce((p.protection ->> 'allow_force_push')::boolean, false),
          'developer_can_initial_push', coalesce((p.protection ->> 'developer_can_initial_push')::boolean, false)),
        'created_at', to_char(p.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
      from published p, head`);
  }

  async down(): Promise<void> {
    // The log entries stay valid.
  }
}
