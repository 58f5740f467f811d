import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Accounts that own what users of other hosts wrote. Source: reference identity-and-import 6.7. */
export class CreatePlaceholderUsers1767225600300 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table placeholder_users (
        user_id bigint constraint pk_placeholder_users primary key
          constraint fk_placeholder_users_user_id references users (id) on delete cascade,
        namespace_id bigint constraint fk_placeholder_users_namespace_id references namespaces (id) on delete cascade,
        source text,
        host text,
        upstream_id bigint,
        constraint ck_placeholder_users_import_user check ((namespace_id is null) = (upstream_id is null))
      )`);
    await runner.query(`create unique index uq_placeholder_users_person
      on placeholder_users (namespace_id, source, host, upstream_id) where namespace_id is not null`);
    await runner.query(`create unique index uq_placeholder_users_import_user
      on placeholder_users ((namespace_id is null)) where namespace_id is null`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table placeholder_users`);
  }
}
