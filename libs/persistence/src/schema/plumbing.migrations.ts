import type { MigrationInterface, QueryRunner } from 'typeorm';
import type { MigrationClass } from './migrate';

/* Forward only: a released schema is corrected by the next migration (ADR 0023). */
const down = (): Promise<void> => Promise.reject(new Error('migrations go forward only'));

/** Events of this service, kept 7 days after publishing. Source: reference reliability 2.1, 2.6. */
export class CreateOutbox1767225500000 implements MigrationInterface {
  readonly name = 'CreateOutbox1767225500000';
  readonly down = down;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table outbox (
        id bigint generated always as identity constraint pk_outbox primary key,
        event_id uuid not null,
        aggregate_type text not null,
        aggregate_id bigint not null,
        subject text not null,
        type text not null,
        occurred_at timestamptz(3) not null,
        actor_id bigint,
        traceparent text,
        payload jsonb not null,
        published_at timestamptz(3),
        attempts int not null default 0,
        last_error text,
        constraint uq_outbox_event_id unique (event_id)
      )`);
    await runner.query(`create index ix_outbox_unpublished on outbox (id) where published_at is null`);
  }
}

/** Events that each effect has processed, kept 14 days. Source: reference reliability 2.3. */
export class CreateInbox1767225500001 implements MigrationInterface {
  readonly name = 'CreateInbox1767225500001';
  readonly down = down;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table inbox (
        effect text not null,
        event_id uuid not null,
        received_at timestamptz(3) not null default now(),
        constraint pk_inbox primary key (effect, event_id)
      )`);
    // Rows arrive in the order of time, so a summary of block ranges finds the old ones and costs writers nothing.
    await runner.query(`create index ix_inbox_received_at on inbox using brin (received_at) with (autosummarize = on)`);
  }
}

/** Events whose effect failed: counted while they are retried, then kept for an operator. Source: ADR 0025. */
export class CreateDeadLetters1767225500002 implements MigrationInterface {
  readonly name = 'CreateDeadLetters1767225500002';
  readonly down = down;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table dead_letters (
        id bigint generated always as identity constraint pk_dead_letters primary key,
        effect text not null,
        event_key text not null,
        event_id uuid,
        subject text not null,
        headers jsonb not null default '{}',
        body text not null,
        state text not null,
        reason text not null,
        error text not null,
        attempts int not null default 1,
        first_failed_at timestamptz(3) not null default now(),
        last_failed_at timestamptz(3) not null default now(),
        settled_at timestamptz(3),
        settled_by text,
        settled_reason text,
        constraint ck_dead_letters_state check (state in ('retrying', 'open', 'replaying', 'replayed', 'discarded')),
        constraint ck_dead_letters_reason check (reason in ('failed', 'undecodable', 'unknown_version'))
      )`);
    await runner.query(`
      create unique index uq_dead_letters_effect_event_key on dead_letters (effect, event_key)
        where state in ('retrying', 'open', 'replaying')`);
    await runner.query(`create index ix_dead_letters_replaying on dead_letters (id) where state = 'replaying'`);
  }
}

/** The last number given out in each scope. Source: reference reliability 5. */
export class CreateInternalIds1767225500003 implements MigrationInterface {
  readonly name = 'CreateInternalIds1767225500003';
  readonly down = down;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table internal_ids (
        usage text not null,
        scope_id bigint not null,
        last_value bigint not null constraint ck_internal_ids_last_value check (last_value > 0),
        constraint pk_internal_ids primary key (usage, scope_id)
      )`);
  }
}

/** Failed jobs are stored with failed effects. Source: reference reliability 2.4. */
export class AddKindToDeadLetters1767226000000 implements MigrationInterface {
  readonly name = 'AddKindToDeadLetters1767226000000';
  readonly down = down;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table dead_letters
      add column kind text not null default 'event'
      constraint ck_dead_letters_kind check (kind in ('event', 'job'))`);
  }
}

/** Events record the directory position that their cause had seen. Source: ADR 0171. */
export class AddSeenToOutbox1767226100000 implements MigrationInterface {
  readonly name = 'AddSeenToOutbox1767226100000';
  readonly down = down;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table outbox add column directory_version bigint, add column directory_epoch text`);
  }
}

/** An event that is sent again has another message id. Source: docs/reference/reliability.md 2.6. */
export class AddGenerationToOutbox1767226200000 implements MigrationInterface {
  readonly name = 'AddGenerationToOutbox1767226200000';
  readonly down = down;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table outbox add column generation bigint not null default 0');
  }
}

/** The database to which the service last wrote, and when. Source: docs/reference/reliability.md 2.6. */
export class CreateDatabaseHistory1767226300000 implements MigrationInterface {
  readonly name = 'CreateDatabaseHistory1767226300000';
  readonly down = down;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table database_history (
        id boolean not null default true,
        history text not null default '',
        seen_at timestamptz(3),
        answered text,
        constraint pk_database_history primary key (id),
        constraint ck_database_history_single check (id)
      )`);
    await runner.query('insert into database_history default values');
  }
}

/** Outcomes of writes with idempotency keys, kept a day. Source: docs/reference/reliability.md 5. */
export class CreateIdempotencyKeys1767226400000 implements MigrationInterface {
  readonly name = 'CreateIdempotencyKeys1767226400000';
  readonly down = down;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table idempotency_keys (
        user_id bigint not null,
        actor_id bigint not null,
        key text not null,
        token_id bigint,
        request bytea not null,
        answer bytea,
        created_at timestamptz(3) not null,
        answer_until timestamptz(3) not null,
        constraint pk_idempotency_keys primary key (user_id, actor_id, key)
      )`);
    // Rows arrive in the order of time, as those of the inbox do.
    await runner.query(
      `create index ix_idempotency_keys_created_at on idempotency_keys using brin (created_at) with (autosummarize = on)`,
    );
  }
}

/** Tables that every service has: outbox, inbox, dead letters, internal ids, history, keys of writes. */
export const plumbingMigrations: readonly MigrationClass[] = [
  CreateOutbox1767225500000,
  CreateInbox1767225500001,
  CreateDeadLetters1767225500002,
  CreateInternalIds1767225500003,
  AddKindToDeadLetters1767226000000,
  AddSeenToOutbox1767226100000,
  AddGenerationToOutbox1767226200000,
  CreateDatabaseHistory1767226300000,
  CreateIdempotencyKeys1767226400000,
];
