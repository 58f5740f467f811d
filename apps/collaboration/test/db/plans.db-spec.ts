import { join } from 'node:path';
import { Pool } from 'pg';
import { runMigrations } from '@rookery/persistence';
import type { Database } from '@rookery/persistence';
import { expectGolden, planOf, readRows, shapeOf, testDatabase } from '@rookery/testing';
import type { Statement, TestDatabase } from '@rookery/testing';
import { migrations } from '../../src/database';
import { IssuesQueries } from '../../src/issues/issues.queries';
import type { IssueFilter } from '../../src/issue-lists/issue-filter';
import type { IssueOrder } from '../../src/issues/issues.queries';
import { ISSUE } from '../../src/noteables/noteable-kinds';
import { NoteStatements } from '../../src/notes/notes.statements';
import type { NoteOrder } from '../../src/notes/notes.statements';

/**
 * The plans of the hot statements over enough rows, by shape: which index finds what. A plan that reads a table whole
 * or sorts a whole issue differs from the golden file. `UPDATE_GOLDEN=1` writes them anew.
 */
let database: TestDatabase;
let pool: Pool;
const externalUrl = 'http://localhost:8080';
const statements = new NoteStatements(ISSUE, externalUrl);
const issues = new IssuesQueries({} as Database, { externalUrl } as never);

beforeAll(async () => {
  database = await testDatabase('collaboration', migrations);
  await runMigrations(database.url, migrations);
  pool = new Pool({ connectionString: database.url, max: 1 });
  await pool.query(`
    insert into directory_users (id, username, name, state, kind, admin, external, private_profile, created_at)
      select g, 'user' || g, 'User ' || g, 'active', 'human', false, false, false, now() from generate_series(1, 5000) g;
    insert into issues (project_id, iid, author_id, title, state, closed_at, due_on, created_at, updated_at)
      select 1 + g % 4, g / 4 + 1, 1 + g % 200, 'Issue ' || g, case when g % 3 = 0 then 'opened' else 'closed' end,
        case when g % 3 = 0 then null else now() end, case when g % 10 = 0 then current_date end,
        now() - g * interval '1 minute', now() - g * interval '1 second'
      from generate_series(1, 8000) g;
    insert into issue_assignees (issue_id, user_id, position) select id, 1 + id % 200, 1 from issues;
    insert into notes (noteable_type, noteable_id, project_id, author_id, body, system, created_at, updated_at)
      select 'Issue', case when g % 10 = 0 then 1 else 1 + g % 8000 end, 1, 1 + g % 200, 'Note ' || g, g % 50 = 0,
        now() - g * interval '1 second', now() - g * interval '1 second'
      from generate_series(1, 40000) g;
  `);
  await pool.query('vacuum analyze');
}, 60_000);
afterAll(async () => {
  await pool.end();
  await database.drop();
});

// Issue 1, with a tenth of all notes.
const reader = [2, 1, 7, true, false, false, false];
const pageOne = { page: 1, perPage: 20 };
const order = (over: Partial<NoteOrder> = {}): NoteOrder => ({
  orderBy: 'created_at',
  sort: 'desc',
  activity: 'all_notes',
  ...over,
});
const listed = (filter: IssueFilter, by: Partial<IssueOrder> = {}): { text: string; values: unknown[] } => {
  const values: unknown[] = [1, 7, true, false, false, 'g/p'];
  return { text: issues.pageSql(values, filter, { orderBy: 'created_at', sort: 'desc', ...by }, pageOne), values };
};

const HOT: Record<string, () => Statement> = {
  'notes-newest': () => ({ text: statements.page(order(), pageOne).text, values: reader }),
  'notes-oldest': () => ({ text: statements.page(order({ sort: 'asc' }), pageOne).text, values: reader }),
  'notes-by-change': () => ({ text: statements.page(order({ orderBy: 'updated_at' }), pageOne).text, values: reader }),
  'notes-activity': () => ({
    text: statements.page(order({ activity: 'only_activity' }), pageOne).text,
    values: reader,
  }),
  'note-one': () => ({ text: statements.one.text, values: [...reader, 100] }),
  'issues-newest': () => listed({}),
  'issues-opened': () => listed({ state: 'opened' }),
  'issues-by-change': () => listed({}, { orderBy: 'updated_at' }),
  'issues-by-due-date': () => listed({ dueDate: 'any' }, { orderBy: 'due_date', sort: 'asc' }),
};

test.each(Object.keys(HOT))('%s keeps its plan', async (name) => {
  const shape = shapeOf(await planOf(pool, HOT[name]!()));
  expectGolden(join(__dirname, '../golden', `${name}.plan.txt`), shape);
  // The directory of a test is so small that reading it whole is right.
  expect(shape).not.toMatch(/Seq Scan on (notes|issues|issue_assignees)\b/);
});

test.each(['created_at', 'updated_at'] as const)(
  'by %s only the page is read, however many notes there are',
  async (orderBy) => {
    const text = statements.page(order({ orderBy }), pageOne).text;
    const plan = await planOf(pool, { text, values: reader }, 'run');
    expect(readRows(plan, 'notes')).toBe(20);
  },
);
