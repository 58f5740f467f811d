import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Counts of a list read this index alone, however many packages a project has. Source: reference packages-and-admin 3.4. */
export class IndexListedPackages1767225600052 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`create index ix_packages_listed on packages (project_id, created_at, id) include (package_type)
      where status in ('default', 'deprecated', 'error') and version is not null`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index ix_packages_listed`);
  }
}
