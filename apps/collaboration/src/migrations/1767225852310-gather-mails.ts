import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Turns of those who get many e-mails, and e-mails of several. Source: ADR 0082; reference work-tracking 8.7. */
export class GatherMails1767225852310 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table mails add column allowed_at timestamptz(3), add column gathered_into bigint,
        drop constraint ck_mails_state,
        add constraint ck_mails_state check (state in ('queued', 'sent', 'failed', 'dropped', 'gathered'));
      alter table account_mails add column allowed_at timestamptz(3);
      create index ix_mails_put_off on mails (recipient_id, noteable_id, noteable_type, allowed_at)
        where state = 'queued' and claim is null and allowed_at is not null;
      create index ix_mails_gathered_into on mails (gathered_into) where gathered_into is not null;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      delete from mails where template like '%\\_gathered';
      update mails set state = 'sent' where state = 'gathered';
      drop index ix_mails_put_off;
      drop index ix_mails_gathered_into;
      alter table mails drop column allowed_at, drop column gathered_into, drop constraint ck_mails_state,
        add constraint ck_mails_state check (state in ('queued', 'sent', 'failed', 'dropped'));
      alter table account_mails drop column allowed_at;
    `);
  }
}
