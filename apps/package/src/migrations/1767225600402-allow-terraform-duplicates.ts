import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Settings for Terraform modules of one name in several projects. Source: reference packages-and-admin 4.7, 4.10. */
export class AllowTerraformDuplicates1767225600402 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table package_settings
        add column terraform_module_duplicates_allowed boolean not null default false,
        add column terraform_module_duplicate_exception_regex text not null default ''
          constraint ck_package_settings_terraform_regex
            check (char_length(terraform_module_duplicate_exception_regex) <= 255)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table package_settings drop column terraform_module_duplicates_allowed,
      drop column terraform_module_duplicate_exception_regex`);
  }
}
