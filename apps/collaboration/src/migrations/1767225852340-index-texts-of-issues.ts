import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Of descriptions so many characters are searched. */
const textOf = (row: string): string =>
  `lower(${row}.title) || e'\n' || lower(left(coalesce(${row}.description, ''), 65536))`;
/** Units: issues. */
const CHUNK = 10_000;

/**
 * What is searched of issues, with an index of trigrams for each project. Triggers keep it, so that every way of writing
 * an issue does. Rows are copied beside writes, and the index is built beside them.
 */
export class IndexTextsOfIssues1767225852340 implements MigrationInterface {
  readonly name = 'IndexTextsOfIssues1767225852340';
  /** PostgreSQL builds no index beside writes within a transaction. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // What a run that was interrupted left behind is made anew.
    await this.down(runner);
    await runner.query('create extension if not exists pg_trgm');
    await runner.query('create extension if not exists btree_gin');
    await runner.query(`
      create table issue_texts (
        issue_id bigint constraint pk_issue_texts primary key,
        project_id bigint not null,
        text text not null,
        constraint fk_issue_texts_issue_id foreign key (issue_id) references issues (id) on delete cascade
      )`);
    await runner.query(`
      create function keep_issue_text() returns trigger language plpgsql as $$
      begin
        insert into issue_texts (issue_id, project_id, text) values (new.id, new.project_id, ${textOf('new')})
          on conflict (issue_id) do update set project_id = excluded.project_id, text = excluded.text;
        return null;
      end $$`);
    await runner.query(`
      create trigger tr_issues_text_made after insert on issues for each row execute function keep_issue_text()`);
    await runner.query(`
      create trigger tr_issues_text_changed after update of title, description, project_id on issues for each row
        when (old.title is distinct from new.title or old.description is distinct from new.description
          or old.project_id is distinct from new.project_id) execute function keep_issue_text()`);
    await this.copy(runner);
    // What waits to be sorted in is looked through by every search: half of what PostgreSQL lets wait else. Units: kB.
    await runner.query(`
      create index concurrently ix_issue_texts_text on issue_texts using gin (project_id, text gin_trgm_ops)
        with (gin_pending_list_limit = 2048)`);
    await runner.query('analyze issue_texts');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop trigger if exists tr_issues_text_made on issues');
    await runner.query('drop trigger if exists tr_issues_text_changed on issues');
    await runner.query('drop function if exists keep_issue_text()');
    await runner.query('drop table if exists issue_texts');
  }

  /** Issues that are written meanwhile are kept by the triggers, and stay as those left them. */
  private async copy(runner: QueryRunner): Promise<void> {
    for (let last: string | null = '0'; last !== null;) {
      const [row] = (await runner.query(
        `with taken as (select i.id, i.project_id, ${textOf('i')} as text from issues i where i.id > $1
             order by i.id limit ${CHUNK} for key share),
           put as (insert into issue_texts (issue_id, project_id, text) select * from taken on conflict do nothing)
         select max(id) as last from taken`,
        [last],
      )) as [{ last: string | null }];
      last = row.last;
    }
  }
}
