import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The jobs of other projects that a project admits; null for none. Existing projects admit none. Source: ADR 0198. */
export class AddJobAdmissionToProjects1767225600400 implements MigrationInterface {
  readonly name = 'AddJobAdmissionToProjects1767225600400';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table projects add job_admission jsonb');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table projects drop job_admission');
  }
}
