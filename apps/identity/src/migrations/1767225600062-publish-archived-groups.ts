import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Copies of the directory know from now on which groups take no writes. Groups at or below a mark for deletion are written
 * to the log again; all others take writes, as copies assume.
 */
export class PublishArchivedGroups1767225600062 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      with published as (
        select n.* from namespaces n where exists (
          select 1 from namespaces above where above.id = any(n.traversal_ids) and above.marked_for_deletion_on is not null)
      ), head as (
        update directory_head set version = version + 1 where exists (select 1 from published) returning version
      )
      insert into directory_changes (version, ordinal, kind, entity_id, state)
      select head.version, row_number() over (order by p.id), 'namespace', p.id, jsonb_build_object(
        'id', p.id, 'kind', p.kind, 'owner_id', p.owner_id, 'parent_id', p.parent_id, 'traversal_ids', p.traversal_ids,
        'name', p.name, 'path', p.path, 'full_name', p.full_name, 'full_path', p.full_path, 'visibility', p.visibility,
        'avatar_url', p.avatar_url, 'emails_enabled', p.emails_enabled,
        'mentions_disabled', (p.settings ->> 'mentions_disabled')::boolean, 'plan', p.plan, 'archived', true,
        'created_at', to_char(p.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
      from published p, head`);
  }

  async down(): Promise<void> {
    // The log entries stay valid.
  }
}
