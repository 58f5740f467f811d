import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Sessions of browsers, so that people can list and end their own. Source: ADR 0207. */
export class CreateWebSessions1767225600430 implements MigrationInterface {
  readonly name = 'CreateWebSessions1767225600430';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`create table web_sessions (
      id uuid not null,
      token_id bigint not null,
      user_id bigint not null,
      ip text,
      user_agent text,
      last_seen_at timestamptz(3) not null default now(),
      created_at timestamptz(3) not null default now(),
      constraint pk_web_sessions primary key (id),
      constraint fk_web_sessions_token_id foreign key (token_id) references access_tokens (id) on delete cascade,
      constraint fk_web_sessions_user_id foreign key (user_id) references users (id) on delete cascade
    )`);
    await runner.query('create index ix_web_sessions_user_id on web_sessions (user_id, created_at)');
    await runner.query('create index ix_web_sessions_token_id on web_sessions (token_id)');
    await runner.query('create index ix_web_sessions_created_at on web_sessions (created_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table web_sessions');
  }
}
