import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * In addition to the name of a group (since OrderReachedGroups) its path, and whether it is at the top level, are
 * stored next to its members, and the path next to its ancestors, in indexes (ADR 0063). Rows and indexes are built
 * concurrently with writes, after the triggers, so that no change is missed; an interrupted run starts again.
 */
export class KeepPathsBesideMembers1767225600053 implements MigrationInterface {
  readonly name = 'KeepPathsBesideMembers1767225600053';
  /** PostgreSQL builds no index concurrently within a transaction, and the rows are written group by group. */
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`alter table members add column if not exists source_path text not null default '',
      add column if not exists source_at_top boolean not null default false`);
    await queryRunner.query(`alter table namespace_ancestors add column if not exists path text not null default ''`);
    await this.keepFacts(queryRunner);
    await this.fill(queryRunner);
    // An index of an interrupted run is invalid.
    await this.dropIndexes(queryRunner);
    await queryRunner.query(
      `create index concurrently ix_namespace_ancestors_path on namespace_ancestors (ancestor_id, path, namespace_id)`,
    );
    await queryRunner.query(
      `create index concurrently ix_members_user_id_source_path on members (user_id, source_path, source_id)
         include (access_level, expires_on) where source_type = 'namespace'`,
    );
    await queryRunner.query(
      `create index concurrently ix_members_source_at_top on members (user_id, source_name, source_id)
         include (access_level, expires_on) where source_type = 'namespace' and source_at_top`,
    );
  }

  private async keepFacts(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create or replace function keep_namespace_ancestors() returns trigger language plpgsql as $$
      begin
        if tg_op = 'UPDATE' then
          delete from namespace_ancestors where namespace_id = new.id;
        end if;
        insert into namespace_ancestors (ancestor_id, namespace_id, name, path)
          select distinct ancestor, new.id, new.name, new.path from unnest(new.traversal_ids) ancestor;
        if new.parent_id is not null then
          perform lead_further(new.parent_id);
        end if;
        return null;
      end $$`);
    await queryRunner.query(`
      create or replace function spread_namespace_facts() returns trigger language plpgsql as $$
      begin
        if (old.name, old.path) is distinct from (new.name, new.path) then
          update namespace_ancestors set name = new.name, path = new.path where namespace_id = new.id;
        end if;
        update members set source_name = new.name, source_path = new.path, source_at_top = new.parent_id is null
          where source_type = 'namespace' and source_id = new.id;
        return null;
      end $$`);
    await queryRunner.query(`
      create or replace function take_source_facts() returns trigger language plpgsql as $$
      begin
        select n.name, n.path, n.parent_id is null into new.source_name, new.source_path, new.source_at_top
          from namespaces n where n.id = new.source_id for share;
        new.source_name := coalesce(new.source_name, '');
        new.source_path := coalesce(new.source_path, '');
        new.source_at_top := coalesce(new.source_at_top, false);
        perform pg_advisory_xact_lock_shared(hashtextextended('leading_namespaces', new.source_id));
        new.leads_further := exists (select 1 from leading_namespaces l where l.namespace_id = new.source_id);
        return new;
      end $$`);
    await queryRunner.query(`
      create or replace trigger tr_namespaces_update_name after update of name, path, parent_id on namespaces
        for each row when ((old.name, old.path, old.parent_id) is distinct from (new.name, new.path, new.parent_id))
        execute function spread_namespace_facts()`);
    await queryRunner.query(`drop function if exists spread_namespace_name()`);
  }

  /**
   * Each group is locked briefly like for a new member, so the written values are current. Two groups are never locked
   * at once, so moves of trees cannot deadlock.
   */
  private async fill(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      do $$
      declare
        one bigint;
        at record;
      begin
        for one in select n.id from namespaces n order by n.id loop
          select n.path, n.parent_id is null as is_at_top into at from namespaces n where n.id = one for share;
          update namespace_ancestors set path = at.path where namespace_id = one and path <> at.path;
          update members set source_path = at.path, source_at_top = at.is_at_top
            where source_type = 'namespace' and source_id = one
              and (source_path, source_at_top) is distinct from (at.path, at.is_at_top);
          commit;
        end loop;
      end $$`);
  }

  private async dropIndexes(queryRunner: QueryRunner): Promise<void> {
    for (const index of ['namespace_ancestors_path', 'members_user_id_source_path', 'members_source_at_top']) {
      await queryRunner.query(`drop index concurrently if exists ix_${index}`);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await this.dropIndexes(queryRunner);
    await queryRunner.query(`
      create function spread_namespace_name() returns trigger language plpgsql as $$
      begin
        update namespace_ancestors set name = new.name where namespace_id = new.id;
        update members set source_name = new.name where source_type = 'namespace' and source_id = new.id;
        return null;
      end $$`);
    await queryRunner.query(`
      create or replace trigger tr_namespaces_update_name after update of name on namespaces
        for each row when (old.name is distinct from new.name) execute function spread_namespace_name()`);
    await queryRunner.query(`drop function spread_namespace_facts()`);
    await this.forgetFacts(queryRunner);
    await queryRunner.query(`alter table members drop column source_path, drop column source_at_top`);
    await queryRunner.query(`alter table namespace_ancestors drop column path`);
  }

  private async forgetFacts(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create or replace function keep_namespace_ancestors() returns trigger language plpgsql as $$
      begin
        if tg_op = 'UPDATE' then
          delete from namespace_ancestors where namespace_id = new.id;
        end if;
        insert into namespace_ancestors (ancestor_id, namespace_id, name)
          select distinct ancestor, new.id, new.name from unnest(new.traversal_ids) ancestor;
        if new.parent_id is not null then
          perform lead_further(new.parent_id);
        end if;
        return null;
      end $$`);
    await queryRunner.query(`
      create or replace function take_source_facts() returns trigger language plpgsql as $$
      begin
        select n.name into new.source_name from namespaces n where n.id = new.source_id for share;
        new.source_name := coalesce(new.source_name, '');
        perform pg_advisory_xact_lock_shared(hashtextextended('leading_namespaces', new.source_id));
        new.leads_further := exists (select 1 from leading_namespaces l where l.namespace_id = new.source_id);
        return new;
      end $$`);
  }
}
