import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which issues belong together, and which block which. Two issues have one link at most, whichever way it goes. */
export class CreateIssueLinks1767225852003 implements MigrationInterface {
  readonly name = 'CreateIssueLinks1767225852003';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table issue_links (
        id bigint generated always as identity,
        source_id bigint not null,
        target_id bigint not null,
        link_type text not null,
        created_at timestamptz(3) not null default now(),
        constraint pk_issue_links primary key (id),
        constraint fk_issue_links_source_id foreign key (source_id) references issues (id) on delete cascade,
        constraint fk_issue_links_target_id foreign key (target_id) references issues (id) on delete cascade,
        constraint ck_issue_links_two check (source_id <> target_id),
        constraint ck_issue_links_link_type check (link_type in ('blocks', 'relates_to'))
      )`);
    await runner.query(`
      create unique index uq_issue_links_issues
        on issue_links (least(source_id, target_id), greatest(source_id, target_id))`);
    await runner.query('create index ix_issue_links_source_id on issue_links (source_id, id)');
    await runner.query('create index ix_issue_links_target_id on issue_links (target_id, id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table issue_links');
  }
}
