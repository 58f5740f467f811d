import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Pairs of namespaces and their ancestors: `traversal_ids` inverted, maintained by triggers like an index. "Everything
 * below these thousand groups" is an ordinary join here, with statistics that the planner can use; over the arrays it
 * misestimates by orders of magnitude (measured, ADR 0063).
 */
export class CreateNamespaceAncestors1767225600005 implements MigrationInterface {
  readonly name = 'CreateNamespaceAncestors1767225600005';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create table namespace_ancestors (
        ancestor_id bigint not null,
        namespace_id bigint not null,
        constraint pk_namespace_ancestors primary key (ancestor_id, namespace_id),
        constraint fk_namespace_ancestors_namespace_id foreign key (namespace_id) references namespaces (id) on delete cascade
      )`);
    await queryRunner.query(
      `create index ix_namespace_ancestors_namespace_id on namespace_ancestors (namespace_id, ancestor_id)`,
    );
    await queryRunner.query(`
      create function keep_namespace_ancestors() returns trigger language plpgsql as $$
      begin
        if tg_op = 'UPDATE' then
          delete from namespace_ancestors where namespace_id = new.id;
        end if;
        insert into namespace_ancestors (ancestor_id, namespace_id)
          select distinct ancestor, new.id from unnest(new.traversal_ids) ancestor;
        return null;
      end $$`);
    await queryRunner.query(`
      create trigger tr_namespaces_insert_ancestors after insert on namespaces
        for each row execute function keep_namespace_ancestors()`);
    await queryRunner.query(`
      create trigger tr_namespaces_update_ancestors after update of traversal_ids on namespaces
        for each row when (old.traversal_ids is distinct from new.traversal_ids) execute function keep_namespace_ancestors()`);
    await queryRunner.query(`
      insert into namespace_ancestors (ancestor_id, namespace_id)
        select distinct ancestor, n.id from namespaces n, unnest(n.traversal_ids) ancestor`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`drop trigger tr_namespaces_insert_ancestors on namespaces`);
    await queryRunner.query(`drop trigger tr_namespaces_update_ancestors on namespaces`);
    await queryRunner.query(`drop function keep_namespace_ancestors()`);
    await queryRunner.query(`drop table namespace_ancestors`);
  }
}
