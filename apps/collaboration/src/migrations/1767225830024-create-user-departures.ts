import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * People who were removed and whose traces are being handed over or dropped, and the indexes by which these are found.
 * Built beside the running service, which may have many notes. Source: ADR 0136.
 */
export class CreateUserDepartures1767225830024 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table if not exists user_departures (
        user_id bigint constraint pk_user_departures primary key,
        ghost_user_id bigint,
        hard_delete boolean not null,
        round integer not null default 1,
        -- Whole precision: rounded up, a row would not be due when its own transaction has ended.
        next_at timestamptz not null default now(),
        constraint ck_user_departures_heir check (hard_delete or ghost_user_id is not null)
      )`);
    for (const { name, on } of INDEXES) {
      // One that an interrupted migration left behind is not usable.
      await runner.query(`drop index if exists ${name}`);
      await runner.query(`create index concurrently ${name} on ${on}`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const { name } of INDEXES) await runner.query(`drop index ${name}`);
    await runner.query(`drop table user_departures`);
  }
}

const INDEXES = [
  { name: 'ix_issues_closed_by_id', on: 'issues (closed_by_id) where closed_by_id is not null' },
  { name: 'ix_notes_author_id', on: 'notes (author_id)' },
  { name: 'ix_todos_author_id', on: 'todos (author_id)' },
  { name: 'ix_participants_user_id', on: 'participants (user_id)' },
  { name: 'ix_mails_recipient_id', on: 'mails (recipient_id)' },
  { name: 'ix_account_mails_recipient_id', on: 'account_mails (recipient_id)' },
] as const;
