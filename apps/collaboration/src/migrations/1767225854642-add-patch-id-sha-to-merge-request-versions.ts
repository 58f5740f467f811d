import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The hash of the changes of a version. Source: reference repositories 8.5. */
export class AddPatchIdShaToMergeRequestVersions1767225854642 implements MigrationInterface {
  readonly name = 'AddPatchIdShaToMergeRequestVersions1767225854642';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table merge_request_versions add patch_id_sha text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table merge_request_versions drop patch_id_sha');
  }
}
