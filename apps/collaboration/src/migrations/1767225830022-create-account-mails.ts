import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The queue of e-mails about accounts: ids only, whatever they say is asked of identity when they are sent.
 * Source: reference reliability 2.7; reference work-tracking 8.6; ADR 0082.
 */
export class CreateAccountMails1767225830022 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table account_mails (
        id bigint generated always as identity constraint pk_account_mails primary key,
        source_event_id uuid not null,
        recipient_id bigint not null,
        template text not null,
        subject_id bigint not null,
        state text not null default 'queued'
          constraint ck_account_mails_state check (state in ('queued', 'sent', 'failed', 'dropped')),
        attempts integer not null default 0,
        next_attempt_at timestamptz(3) not null default now(),
        smtp_reply text,
        message_id text,
        created_at timestamptz(3) not null default now(),
        sent_at timestamptz(3)
      ) with (fillfactor = 85)`);
    await runner.query(`
      create unique index uq_account_mails_source_event_id on account_mails (source_event_id, recipient_id, template)`);
    await runner.query(`
      create index ix_account_mails_queued on account_mails (next_attempt_at, id) where state = 'queued'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table account_mails`);
  }
}
