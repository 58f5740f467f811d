import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The user who shared the source branch of a merge request after its creation; null for the author. Source: reference repositories 8.18. */
export class AddCollaborationGrantedByToMergeRequests1767225854560 implements MigrationInterface {
  readonly name = 'AddCollaborationGrantedByToMergeRequests1767225854560';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table merge_requests add collaboration_granted_by_id bigint');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table merge_requests drop collaboration_granted_by_id');
  }
}
