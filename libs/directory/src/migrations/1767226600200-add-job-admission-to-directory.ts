import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The copy knows the jobs of other projects that a project admits. Null: it admits none. Source: ADR 0041, ADR 0198. */
export class AddJobAdmissionToDirectory1767226600200 implements MigrationInterface {
  name = 'AddJobAdmissionToDirectory1767226600200';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table directory_projects add job_admission jsonb');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table directory_projects drop job_admission');
  }
}
