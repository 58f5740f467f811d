import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Emoji that people give to things and to notes on them, each person one of a name. `noteable` is what access depends on:
 * the thing itself, or the thing of a note. Things count their thumbs, so that showing and sorting them reads no awards.
 * Source: reference work-tracking 9.6.
 */
export class CreateAwardEmoji1767225830201 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table award_emoji (
        id bigint generated always as identity constraint pk_award_emoji primary key,
        awardable_type text not null,
        awardable_id bigint not null,
        noteable_type text not null,
        noteable_id bigint not null,
        project_id bigint,
        user_id bigint not null,
        name text not null,
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now()
      )`);
    await runner.query(`
      create unique index uq_award_emoji_name on award_emoji (awardable_id, awardable_type, user_id, name)`);
    await runner.query(`create index ix_award_emoji_awardable on award_emoji (awardable_id, awardable_type, id)`);
    await runner.query(`create index ix_award_emoji_user_id on award_emoji (user_id, noteable_id, noteable_type)`);
    await runner.query(`create index ix_award_emoji_noteable on award_emoji (noteable_id, noteable_type)`);
    await runner.query(`
      create index ix_award_emoji_project_id on award_emoji (project_id) where project_id is not null`);
    await runner.query(`
      alter table issues add column upvotes_count integer not null default 0,
        add column downvotes_count integer not null default 0`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table issues drop column upvotes_count, drop column downvotes_count`);
    await runner.query(`drop table award_emoji`);
  }
}
