import type { MigrationInterface, QueryRunner } from 'typeorm';

/** One row for all notes of a thread that wait for one person. Source: ADR 0082. */
export class LetMailsTellOfSeveralNotes1767225852360 implements MigrationInterface {
  readonly name = 'LetMailsTellOfSeveralNotes1767225852360';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table mails add column note_ids bigint[]');
  }

  /** What waits is told note by note again. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      insert into mails (source_event_id, recipient_id, template, actor_id, project_id, noteable_type, noteable_id, note_id,
        reason, state, next_attempt_at, created_at, allowed_at, gathered_into)
      select gen_random_uuid(), m.recipient_id, m.template, n.author_id, m.project_id, m.noteable_type, m.noteable_id, n.id,
        m.reason, m.state, m.next_attempt_at, m.created_at, m.allowed_at, m.gathered_into
      from mails m cross join lateral unnest(m.note_ids) as one (note_id) join notes n on n.id = one.note_id
      where m.state in ('queued', 'gathered') and n.id <> m.note_id;
      alter table mails drop column note_ids;
    `);
  }
}
