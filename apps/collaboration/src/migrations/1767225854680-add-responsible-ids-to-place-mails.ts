import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = ['place_mails', 'place_mail_fan_outs'];

/**
 * Adds the user whose limits count an e-mail: the actor, or for a bot the user who created it. Rows of the previous release
 * have none, so the limits do not count them in the first hour. Source: reference work-tracking 8.9.
 */
export class AddResponsibleIdsToPlaceMails1767225854680 implements MigrationInterface {
  readonly name = 'AddResponsibleIdsToPlaceMails1767225854680';

  async up(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) await runner.query(`alter table ${table} add column responsible_id bigint`);
    await runner.query('create index ix_place_mail_fan_outs_responsible_id on place_mail_fan_outs (responsible_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) await runner.query(`alter table ${table} drop column responsible_id`);
  }
}
