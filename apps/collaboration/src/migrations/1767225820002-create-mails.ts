import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Who takes part in what, the queue of e-mails, the allowance of each recipient, and what people want to be told.
 * Only waiting mails are indexed by time, so the queue stays small however many were sent.
 * Source: reference reliability 2.7; reference work-tracking 8.4; ADR 0082.
 */
export class CreateMails1767225820002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table participants (
        noteable_type text not null,
        noteable_id bigint not null,
        user_id bigint not null,
        project_id bigint,
        note_id bigint,
        constraint pk_participants primary key (noteable_id, noteable_type, user_id)
      )`);
    await runner.query(`create index ix_participants_project_id on participants (project_id)`);
    await runner.query(`
      create table mails (
        id bigint generated always as identity constraint pk_mails primary key,
        source_event_id uuid not null,
        recipient_id bigint not null,
        template text not null,
        actor_id bigint not null,
        project_id bigint not null,
        noteable_type text not null,
        noteable_id bigint not null,
        note_id bigint,
        reason text constraint ck_mails_reason
          check (reason in ('own_activity', 'assigned', 'review_requested', 'mentioned', 'subscribed')),
        details jsonb not null default '{}',
        state text not null default 'queued'
          constraint ck_mails_state check (state in ('queued', 'sent', 'failed', 'dropped')),
        attempts integer not null default 0,
        next_attempt_at timestamptz(3) not null default now(),
        smtp_reply text,
        message_id text,
        created_at timestamptz(3) not null default now(),
        sent_at timestamptz(3)
      ) with (fillfactor = 85)`);
    await runner.query(`
      create unique index uq_mails_source_event_id on mails (source_event_id, recipient_id, template)`);
    await runner.query(`
      create unique index uq_mails_named on mails (noteable_id, noteable_type, recipient_id)
        where reason = 'mentioned' and template in ('issue_created', 'issue_mentioned')`);
    await runner.query(`create index ix_mails_queued on mails (next_attempt_at, id) where state = 'queued'`);
    await runner.query(`
      create unlogged table mail_allowances (
        recipient_id bigint constraint pk_mail_allowances primary key,
        tokens double precision not null,
        refilled_at timestamptz not null
      ) with (fillfactor = 50)`);
    await runner.query(`
      create table notification_settings (
        user_id bigint not null,
        source_type text not null
          constraint ck_notification_settings_source_type check (source_type in ('global', 'namespace', 'project')),
        source_id bigint not null default 0,
        level text not null constraint ck_notification_settings_level
          check (level in ('disabled', 'participating', 'watch', 'global', 'mention', 'custom')),
        notification_email text,
        switches jsonb not null default '{}',
        constraint pk_notification_settings primary key (user_id, source_type, source_id)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table notification_settings, mail_allowances, mails, participants`);
  }
}
