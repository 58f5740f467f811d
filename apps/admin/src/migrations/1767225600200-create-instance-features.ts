import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Features of the instance, and the version that other services follow. Source: reference packages-and-admin 10.1; ADR 0180. */
export class CreateInstanceFeatures1767225600200 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table instance_versions (
        id integer constraint pk_instance_versions primary key
          constraint ck_instance_versions_id check (id = 1),
        version bigint not null
      );
      insert into instance_versions (id, version) values (1, 0);
      create table instance_features (
        name text constraint pk_instance_features primary key
          constraint ck_instance_features_name check (char_length(name) <= 255),
        is_on boolean not null default false,
        percentage_of_time integer not null default 0,
        percentage_of_actors integer not null default 0,
        actors text[] not null default '{}',
        groups text[] not null default '{}'
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table instance_features, instance_versions');
  }
}
