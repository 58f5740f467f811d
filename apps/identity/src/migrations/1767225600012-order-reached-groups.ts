import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What lists of somebody's groups need so that a page costs what it shows (ADR 0111): the name of a group stands in the
 * indexes by which the group is reached, beside each of its members and of its ancestors, and groups that ever had a
 * subgroup are known, since most have none. All of it is kept by the database itself, like an index.
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
      `insert into subgroup_parents (namespace_id) select distinct parent_id from namespaces where parent_id is not null`,
    );
    await queryRunner.query(
      `create index ix_namespace_ancestors_name on namespace_ancestors (ancestor_id, name, namespace_id)`,
    );
    await queryRunner.query(
      `create index ix_members_user_id_source_name on members (user_id, source_name, source_id)
         include (access_level, expires_on) where source_type = 'namespace'`,
    );
    await queryRunner.query(`create index ix_namespaces_group_path on namespaces (path, id) where kind = 'group'`);
  }

  private async addColumns(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`alter table namespace_ancestors add column name text not null default ''`);
    await queryRunner.query(`alter table members add column source_name text not null default ''`);
    await queryRunner.query(`
      create table subgroup_parents (
        namespace_id bigint not null,
        constraint pk_subgroup_parents primary key (namespace_id),
        constraint fk_subgroup_parents_namespace_id foreign key (namespace_id) references namespaces (id) on delete cascade
      )`);
  }

  private async addTriggers(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create or replace function keep_namespace_ancestors() returns trigger language plpgsql as $$
      begin
        if tg_op = 'UPDATE' then
          delete from namespace_ancestors where namespace_id = new.id;
        end if;
        insert into namespace_ancestors (ancestor_id, namespace_id, name)
          select distinct ancestor, new.id, new.name from unnest(new.traversal_ids) ancestor;
        if new.parent_id is not null then
          insert into subgroup_parents (namespace_id) values (new.parent_id) on conflict do nothing;
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
    // Shared with each other, but not with a renaming that is under way: that one could not see the new row.
    await queryRunner.query(`
      create function take_source_name() returns trigger language plpgsql as $$
      begin
        select n.name into new.source_name from namespaces n where n.id = new.source_id for share;
        new.source_name := coalesce(new.source_name, '');
        return new;
      end $$`);
    await queryRunner.query(`
      create trigger tr_members_source_name before insert or update of source_type, source_id on members
        for each row when (new.source_type = 'namespace') execute function take_source_name()`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`drop index ix_namespaces_group_path, ix_members_user_id_source_name`);
    await queryRunner.query(`drop trigger tr_members_source_name on members`);
    await queryRunner.query(`drop trigger tr_namespaces_update_name on namespaces`);
    await queryRunner.query(`drop function take_source_name(), spread_namespace_name()`);
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
    await queryRunner.query(`drop table subgroup_parents`);
    await queryRunner.query(`alter table members drop column source_name`);
    await queryRunner.query(`alter table namespace_ancestors drop column name`);
  }
}
