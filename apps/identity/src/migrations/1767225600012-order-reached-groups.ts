import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Columns for lists of a user's groups, so that a page costs as much as it shows (ADR 0063), maintained by triggers
 * like an index: the name of a group next to each of its members and of its ancestors, in indexes; and the groups that
 * have ever had a subgroup or been invited. A membership in any other group gives access to that group only, which is
 * nearly always the case.
 */
export class OrderReachedGroups1767225600012 implements MigrationInterface {
  readonly name = 'OrderReachedGroups1767225600012';

  async up(queryRunner: QueryRunner): Promise<void> {
    await this.addColumns(queryRunner);
    await this.addTriggers(queryRunner);
    await queryRunner.query(
      `update namespace_ancestors a set name = n.name from namespaces n where n.id = a.namespace_id`,
    );
    await queryRunner.query(
      `update members m set source_name = n.name from namespaces n where n.id = m.source_id and m.source_type = 'namespace'`,
    );
    await queryRunner.query(
      `insert into leading_namespaces (namespace_id)
         select parent_id from namespaces where parent_id is not null union select group_id from shares`,
    );
    await queryRunner.query(
      `update members m set leads_further = true from leading_namespaces l
         where m.source_type = 'namespace' and m.source_id = l.namespace_id`,
    );
    await queryRunner.query(
      `create index ix_namespace_ancestors_name on namespace_ancestors (ancestor_id, name, namespace_id)`,
    );
    await queryRunner.query(
      `create index ix_members_user_id_source_name on members (user_id, source_name, source_id)
         include (access_level, expires_on) where source_type = 'namespace'`,
    );
    await queryRunner.query(
      `create index ix_members_leads_further on members (user_id, source_id) include (access_level, expires_on)
         where source_type = 'namespace' and leads_further`,
    );
    await queryRunner.query(`create index ix_namespaces_group_path on namespaces (path, id) where kind = 'group'`);
    // Deleting a group checks the parent of all other groups.
    await queryRunner.query(
      `create index ix_namespaces_parent_id on namespaces (parent_id) where parent_id is not null`,
    );
  }

  private async addColumns(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`alter table namespace_ancestors add column name text not null default ''`);
    await queryRunner.query(`alter table members add column source_name text not null default ''`);
    await queryRunner.query(`alter table members add column leads_further boolean not null default false`);
    await queryRunner.query(`
      create table leading_namespaces (
        namespace_id bigint not null,
        constraint pk_leading_namespaces primary key (namespace_id),
        constraint fk_leading_namespaces_namespace_id foreign key (namespace_id) references namespaces (id) on delete cascade
      )`);
  }

  private async addTriggers(queryRunner: QueryRunner): Promise<void> {
    // Set once and never cleared. The lock blocks concurrent additions of members, which cannot be seen yet. It is not
    // the lock of the row: transactions that create subgroups or shares hold that one together with others, and two of
    // them would deadlock.
    await queryRunner.query(`
      create function lead_further(group_id bigint) returns void language plpgsql as $$
      begin
        perform 1 from leading_namespaces l where l.namespace_id = group_id;
        if found then return; end if;
        perform pg_advisory_xact_lock(hashtextextended('leading_namespaces', group_id));
        insert into leading_namespaces (namespace_id) values (group_id) on conflict do nothing;
        update members set leads_further = true where source_type = 'namespace' and source_id = group_id;
      end $$`);
    await queryRunner.query(`
      create function keep_leading_namespaces() returns trigger language plpgsql as $$
      begin
        perform lead_further(new.group_id);
        return null;
      end $$`);
    await queryRunner.query(`
      create trigger tr_shares_leading_namespaces after insert on shares
        for each row execute function keep_leading_namespaces()`);
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
      create function spread_namespace_name() returns trigger language plpgsql as $$
      begin
        update namespace_ancestors set name = new.name where namespace_id = new.id;
        update members set source_name = new.name where source_type = 'namespace' and source_id = new.id;
        return null;
      end $$`);
    await queryRunner.query(`
      create trigger tr_namespaces_update_name after update of name on namespaces
        for each row when (old.name is distinct from new.name) execute function spread_namespace_name()`);
    await this.addMemberTrigger(queryRunner);
  }

  private async addMemberTrigger(queryRunner: QueryRunner): Promise<void> {
    // Additions of members share the lock with each other, but not with a change in progress, which could not see the
    // new row.
    await queryRunner.query(`
      create function take_source_facts() returns trigger language plpgsql as $$
      begin
        select n.name into new.source_name from namespaces n where n.id = new.source_id for share;
        new.source_name := coalesce(new.source_name, '');
        perform pg_advisory_xact_lock_shared(hashtextextended('leading_namespaces', new.source_id));
        new.leads_further := exists (select 1 from leading_namespaces l where l.namespace_id = new.source_id);
        return new;
      end $$`);
    await queryRunner.query(`
      create trigger tr_members_source_facts before insert or update of source_type, source_id on members
        for each row when (new.source_type = 'namespace') execute function take_source_facts()`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `drop index ix_namespaces_parent_id, ix_namespaces_group_path, ix_members_user_id_source_name, ix_members_leads_further`,
    );
    await queryRunner.query(`drop trigger tr_members_source_facts on members`);
    await queryRunner.query(`drop trigger tr_namespaces_update_name on namespaces`);
    await queryRunner.query(`drop trigger tr_shares_leading_namespaces on shares`);
    await queryRunner.query(`
      create or replace function keep_namespace_ancestors() returns trigger language plpgsql as $$
      begin
        if tg_op = 'UPDATE' then
          delete from namespace_ancestors where namespace_id = new.id;
        end if;
        insert into namespace_ancestors (ancestor_id, namespace_id)
          select distinct ancestor, new.id from unnest(new.traversal_ids) ancestor;
        return null;
      end $$`);
    await queryRunner.query(
      `drop function take_source_facts(), spread_namespace_name(), keep_leading_namespaces(), lead_further(bigint)`,
    );
    await queryRunner.query(`drop table leading_namespaces`);
    await queryRunner.query(`alter table members drop column source_name, drop column leads_further`);
    await queryRunner.query(`alter table namespace_ancestors drop column name`);
  }
}
