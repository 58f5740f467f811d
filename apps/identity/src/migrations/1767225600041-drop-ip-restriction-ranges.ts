import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Ranges of IP addresses were stored and never enforced, and are refused now (reference identity-and-import 2.6): a
 * group must not seem to be restricted when it is not.
 */
export class DropIpRestrictionRanges1767225600041 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      update namespaces set settings = settings - 'ip_restriction_ranges' where settings ? 'ip_restriction_ranges'`);
  }

  async down(): Promise<void> {
    // What was dropped had no effect.
  }
}
