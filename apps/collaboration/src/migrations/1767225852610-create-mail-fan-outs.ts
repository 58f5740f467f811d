import type { MigrationInterface, QueryRunner } from 'typeorm';

/** E-mails for users who watch a project or group; those beyond the first ones are queued by a job. Source: ADR 0082. */
export class CreateMailFanOuts1767225852610 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table mails add column is_watching boolean not null default false;
      create table mail_fan_outs (
        id bigint generated always as identity constraint pk_mail_fan_outs primary key,
        noteable_type text not null,
        notices jsonb not null,
        after_user_id bigint not null
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table mail_fan_outs;
      alter table mails drop column is_watching`);
  }
}
