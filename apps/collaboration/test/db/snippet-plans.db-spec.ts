import { join } from 'node:path';
import type { Directory } from '@rookery/directory';
import { runMigrations } from '@rookery/persistence';
import type { Database } from '@rookery/persistence';
import { expectPlan, hasCustomPlans, planOf, countReadRows, testDatabase, vacuumUntilVisible } from '@rookery/testing';
import type { Planned, TestDatabase } from '@rookery/testing';
import { Pool } from 'pg';
import { migrations } from '../../src/database';
import { SnippetsEverywhereQueries } from '../../src/work/snippets/snippets-everywhere.queries';
import { SnippetsQueries } from '../../src/work/snippets/snippets.queries';

/** The plan shapes of snippet lists over enough rows. `UPDATE_GOLDEN=1` rewrites them. */
let database: TestDatabase;
let pool: Pool;
const snippets = new SnippetsQueries({} as Database, { externalUrl: 'http://localhost:8080' } as never);
const everywhere = new SnippetsEverywhereQueries(
  {} as Database,
  {} as Directory,
  {
    externalUrl: 'http://localhost:8080',
  } as never,
);

beforeAll(async () => {
  database = await testDatabase('collaboration', migrations);
  await runMigrations(database.url, migrations);
  pool = new Pool({ connectionString: database.url, max: 1 });
  await pool.query(`
    insert into directory_users (id, username, name, state, kind, admin, external, private_profile, created_at)
      select g, 'user' || g, 'User ' || g, 'active', 'human', false, false, false, now() from generate_series(1, 5000) g;
    insert into directory_namespaces (id, kind, owner_id, parent_id, traversal_ids, name, path, full_name, full_path, visibility,
        emails_enabled, plan, created_at)
      values (1, 'group', null, null, array[1], 'g', 'g', 'g', 'g', 'public', true, 'free', now());
    insert into directory_projects (id, namespace_id, name, path, visibility, archived, issues_access_level,
        snippets_access_level, merge_requests_access_level, packages_enabled, emails_enabled, created_at)
      select g, 1, 'p' || g, 'p' || g, 'public', false, 'enabled', 'enabled', 'enabled', true, true, now()
      from generate_series(1, 60) g;
    insert into snippets (project_id, author_id, title, visibility, created_at, updated_at)
      select case when g % 2 = 0 then 1 + g % 40 end, 1 + g % 200, 'Snippet ' || g,
        (array['private', 'internal', 'public'])[1 + g % 3], now() - g * interval '1 minute', now()
      from generate_series(1, 40000) g;
    insert into snippet_files (snippet_id, path, url_path, content)
      select i.id, 'file' || k, 'file' || k, 'x' from snippets i, generate_series(1, 3) k;
    insert into imported_snippets (author_id, source, upstream_id, snippet_id)
      select author_id, 'host.example', id, id from snippets where project_id is null and id % 3 = 0`);
  // Samples every row, so that the statistics are the same each time.
  await pool.query('set default_statistics_target = 1000');
  await vacuumUntilVisible(pool);
}, 300_000);
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const reader = [3, 7, false, false, 'g/p'];
const planSnippetList = (of: 'project' | 'own' | 'public', values: readonly unknown[] = reader): Planned =>
  snippets.pageStatement(of, {}, { page: 1, perPage: 20 }, values);
const HOT: Record<string, () => Planned> = {
  'snippets/snippets-of-project': () => planSnippetList('project'),
  'snippets/snippets-of-mine': () => planSnippetList('own'),
  'snippets/snippets-public': () => planSnippetList('public'),
  'snippets/snippets-everywhere': () => everywhere.pageStatement({}, { page: 1, perPage: 20 }, [7, false, false]),
};

test.each(Object.keys(HOT))('%s keeps its plan', async (name) => {
  const shape = await expectPlan(pool, join(__dirname, '../golden', name), HOT[name]!());
  // The directory of a test is so small that full scans of it are acceptable.
  expect(shape).not.toMatch(/Seq Scan on (?:imported_)?snippet/);
});

test.each(Object.keys(HOT))('%s reads only the files of its page', async (name) => {
  const plan = await planOf(pool, HOT[name]!(), 'run');
  // Once for the list of files, once for the name of the first.
  expect(countReadRows(plan, 'snippet_files')).toBeLessThanOrEqual(2 * 3 * 20);
});

// Planning for each request would cost more than the page itself. The statement for members has fewer conditions than the one for others.
test.each([
  ...Object.entries(HOT),
  ['snippets-of-project for members', () => planSnippetList('project', [3, 7, true, false, 'g/p'])] as const,
])('%s is planned once', async (_, planned) => {
  expect(await hasCustomPlans(pool, planned())).toBe(false);
});
