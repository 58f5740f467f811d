import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Additional columns of the head of the change log: the database in which it is kept, the present life of the log, and
 * the copies that have not yet reported the ids they have seen. Source: docs/reference/reliability.md 4.5.
 */
export class TellHistoriesApart1767225600050 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table directory_head
      add column history text not null default '',
      add column life text not null default '',
      add column awaited jsonb`);
    await runner.query(`create table directory_lives (
      id bigint generated always as identity,
      word text not null,
      began_at bigint not null,
      constraint pk_directory_lives primary key (id)
    )`);
    await runner.query(`create table directory_readers (
      service text not null,
      seen_at timestamptz(3) not null,
      constraint pk_directory_readers primary key (service)
    )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table directory_lives, directory_readers');
    await runner.query('alter table directory_head drop column history, drop column life, drop column awaited');
  }
}
