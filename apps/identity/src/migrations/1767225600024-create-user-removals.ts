import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Users whose removal is in progress (ADR 0136), and two small indexes: the single ghost user, and the administrators,
 * of whom one must remain.
 */
export class CreateUserRemovals1767225600024 implements MigrationInterface {
  readonly name = 'CreateUserRemovals1767225600024';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create table user_removals (
        user_id bigint not null,
        hard_delete boolean not null,
        actor_id bigint,
        requested_at timestamptz(3) not null default now(),
        constraint pk_user_removals primary key (user_id),
        constraint fk_user_removals_user_id foreign key (user_id) references users (id) on delete cascade
      )`);
    await queryRunner.query(`create unique index uq_users_ghost on users (kind) where kind = 'ghost'`);
    await queryRunner.query(`create index ix_users_admin on users (id) where admin`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`drop index ix_users_admin`);
    await queryRunner.query(`drop index uq_users_ghost`);
    await queryRunner.query(`drop table user_removals`);
  }
}
