import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Recent path checks of each user (unlogged: losing them in a crash is harmless), and the highest number of seats used
 * by each top-level group.
 */
export class CreateNamespaceChecksAndSeats1767225600010 implements MigrationInterface {
  readonly name = 'CreateNamespaceChecksAndSeats1767225600010';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create unlogged table namespace_checks (
        user_id bigint not null,
        window_started_at timestamptz(3) not null,
        checks_count integer not null,
        constraint pk_namespace_checks primary key (user_id),
        constraint fk_namespace_checks_user_id foreign key (user_id) references users (id) on delete cascade
      )`);
    await queryRunner.query(`
      create table namespace_seats (
        namespace_id bigint not null,
        max_seats_used integer not null,
        max_seats_used_changed_at timestamptz(3) not null,
        counted_at timestamptz(3) not null,
        constraint pk_namespace_seats primary key (namespace_id),
        constraint fk_namespace_seats_namespace_id foreign key (namespace_id) references namespaces (id) on delete cascade
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`drop table namespace_seats, namespace_checks`);
  }
}
