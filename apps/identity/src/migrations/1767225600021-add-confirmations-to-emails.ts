import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Time of the last confirmation link of an address, and whether the address replaces the primary one once it is
 * confirmed. `email_confirmations` counts the links that a user has requested in an hour; it may be lost. Source:
 * reference identity-and-import 5, 10.5.
 */
export class AddConfirmationsToEmails1767225600021 implements MigrationInterface {
  readonly name = 'AddConfirmationsToEmails1767225600021';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      alter table emails add confirmation_requested_at timestamptz(3), add becomes_primary boolean not null default false,
        add constraint ck_emails_becomes_primary check (not becomes_primary or (not is_primary and confirmed_at is null))`);
    await queryRunner.query(
      `create unique index uq_emails_user_id_becomes_primary on emails (user_id) where becomes_primary`,
    );
    await queryRunner.query(`
      create unlogged table email_confirmations (
        actor_id bigint constraint pk_email_confirmations primary key,
        since timestamptz(3) not null,
        count integer not null
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`drop table email_confirmations`);
    await queryRunner.query(`drop index uq_emails_user_id_becomes_primary`);
    await queryRunner.query(`alter table emails drop confirmation_requested_at, drop becomes_primary`);
  }
}
