import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The top-level group of a service account; null = the instance. All other data of an account are those of its user.
 * Source: reference identity-and-import 5.
 */
export class CreateServiceAccounts1767225600022 implements MigrationInterface {
  readonly name = 'CreateServiceAccounts1767225600022';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create table service_accounts (
        user_id bigint not null,
        group_id bigint,
        constraint pk_service_accounts primary key (user_id),
        constraint fk_service_accounts_user_id foreign key (user_id) references users (id) on delete cascade,
        constraint fk_service_accounts_group_id foreign key (group_id) references namespaces (id) on delete set null
      )`);
    await queryRunner.query(`create index ix_service_accounts_group_id on service_accounts (group_id, user_id)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`drop table service_accounts`);
  }
}
