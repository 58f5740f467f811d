import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The copy remembers in which life of identity's log it got where it stands, and the highest id of each kind that it ever
 * held; and what it held that identity does not know any more after a restore. Source: docs/reference/reliability.md 4.5.
 */
export class TellHistoriesApart1767226300000 implements MigrationInterface {
  name = 'TellHistoriesApart1767226300000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table directory_state
      add column life text not null default '',
      add column seen jsonb not null default '{}'`);
    await runner.query(`update directory_state set seen = jsonb_strip_nulls(jsonb_build_object(
      'user', (select max(id) from directory_users),
      'namespace', (select max(id) from directory_namespaces),
      'project', (select max(id) from directory_projects),
      'membership', (select max(id) from directory_memberships),
      'share', (select max(id) from directory_shares)))`);
    await runner.query(`create table directory_lost (
      kind text not null,
      id bigint not null,
      name text not null,
      created_at timestamptz(3) not null,
      state text not null,
      noticed_at timestamptz(3) not null default now(),
      constraint pk_directory_lost primary key (kind, id),
      constraint ck_directory_lost_state check (state in ('looked for', 'open', 'kept'))
    )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table directory_lost');
    await runner.query('alter table directory_state drop column life, drop column seen');
  }
}
