import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What people asked to follow, or not to: one row a person and thing, which counts more than taking part does.
 * Source: reference work-tracking 9.7.
 */
export class CreateSubscriptions1767225830202 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table subscriptions (
        noteable_type text not null,
        noteable_id bigint not null,
        user_id bigint not null,
        project_id bigint,
        subscribed boolean not null,
        created_at timestamptz(3) not null default now(),
        constraint pk_subscriptions primary key (noteable_id, noteable_type, user_id)
      )`);
    await runner.query(`create index ix_subscriptions_user_id on subscriptions (user_id)`);
    await runner.query(`
      create index ix_subscriptions_project_id on subscriptions (project_id) where project_id is not null`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table subscriptions`);
  }
}
