import type { SeededService } from '@rookery/testing';
import { IndexTextsOfIssues1767225852340 } from '../../src/migrations/1767225852340-index-texts-of-issues';
import { startCollaboration } from '../support/app';

let service: SeededService;
/** More rows than the migration copies in one batch. */
const ISSUES = 10_050;

beforeAll(async () => {
  service = await startCollaboration();
  await service.database.query(
    `insert into issues (project_id, iid, author_id, title, description, created_at, updated_at)
     select 1 + n % 3, n, 1, 'Title Ä ' || n, case when n % 2 = 0 then 'Text Ö ' || n end, now(), now()
     from generate_series(1, $1::integer) n`,
    [ISSUES],
  );
  await service.database.query(`update issues set description = repeat('X', 70000) where iid = 7`);
});
afterAll(() => service.close());

const texts = () =>
  service.database.query<{ id: number; project_id: number; text: string }>(
    'select issue_id as id, project_id, text from issue_texts order by issue_id',
  );

test('migrated texts of old issues equal those that triggers write for new ones', async () => {
  const written = await texts();
  expect(written).toHaveLength(ISSUES);
  expect(written.slice(0, 2).map(({ text }) => text)).toEqual(['title ä 1\n', 'title ä 2\ntext ö 2']);
  expect(written[6]!.text).toBe(`title ä 7\n${'x'.repeat(65_536)}`);
  const runner = service.database.dataSource.createQueryRunner();
  try {
    // The state after an interrupted run, whose rows are replaced.
    await new IndexTextsOfIssues1767225852340().up(runner);
  } finally {
    await runner.release();
  }
  expect(await texts()).toEqual(written);
  const [index] = await service.database.query<{ is_valid: boolean }>(
    `select indisvalid as is_valid from pg_index where indexrelid = 'ix_issue_texts_text'::regclass`,
  );
  expect(index!.is_valid).toBe(true);
  await service.database.query(`update issues set title = 'Other', project_id = 9 where iid = 1`);
  expect((await texts())[0]).toMatchObject({ project_id: 9, text: 'other\n' });
});
