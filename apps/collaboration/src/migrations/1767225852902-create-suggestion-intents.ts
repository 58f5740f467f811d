import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Commits that apply suggestions, noted before their branch moves. Source: reference repositories 8.13. */
export class CreateSuggestionIntents1767225852902 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table suggestion_intents (
        commit_id text not null,
        suggestion_id bigint not null constraint fk_suggestion_intents_suggestion_id
          references suggestions (id) on delete cascade,
        constraint pk_suggestion_intents primary key (commit_id, suggestion_id)
      )`);
    await runner.query(`create index ix_suggestion_intents_suggestion_id on suggestion_intents (suggestion_id)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table suggestion_intents`);
  }
}
