import { join } from 'node:path';
import {
  expectGolden,
  expectGoldenSql,
  nodesOf,
  planOf,
  countReadRows,
  testDatabase,
  vacuumUntilVisible,
} from '@rookery/testing';
import type { Statement, TestDatabase } from '@rookery/testing';
import { runMigrations } from '@rookery/persistence';
import type { Database } from '@rookery/persistence';
import { Pool } from 'pg';
import { ActivityFeeds } from '../../src/following/activity/feeds';
import type { Feed, FeedParams } from '../../src/following/activity/feeds';
import { migrations } from '../../src/database';
import { epicKind } from '../../src/work/epics/epic.kind';
import { issueKind } from '../../src/work/issues/issue.kind';
import { NoteableKinds } from '../../src/base/noteables/noteable-kinds';
import { snippetKind } from '../../src/work/snippets/snippet.kind';
import { ParticipantsQueries } from '../../src/following/subscriptions/participants.queries';
import { TodoStatements } from '../../src/following/todos/todos.statements';
import type { TodoFilter } from '../../src/following/todos/todos.statements';

/**
 * Indexes used by reads of to-dos and feeds over enough rows. `UPDATE_GOLDEN=1` rewrites them. Not the complete plan:
 * equivalent joins of a few directory rows alternate with the statistics.
 */
let database: TestDatabase;
let pool: Pool;
const externalUrl = 'http://localhost:8080';
const kinds = new NoteableKinds([issueKind, epicKind, snippetKind]);
const todos = new TodoStatements(kinds, externalUrl);
const people = new ParticipantsQueries({} as Database, { externalUrl } as never);
const feeds = new ActivityFeeds(kinds, externalUrl);

beforeAll(async () => {
  database = await testDatabase('collaboration', migrations);
  await runMigrations(database.url, migrations);
  pool = new Pool({ connectionString: database.url, max: 1 });
  await pool.query(`
    insert into directory_users (id, username, name, state, kind, admin, external, private_profile, created_at)
      select g, 'user' || g, 'User ' || g, 'active', 'human', false, false, false, now() from generate_series(1, 5000) g;
    insert into directory_namespaces (id, kind, owner_id, parent_id, traversal_ids, name, path, full_name, full_path,
        visibility, emails_enabled, plan, created_at)
      select g, 'group', null, null, array[g], 'g' || g, 'g' || g, 'g' || g, 'g' || g, 'private', true, 'ultimate', now()
      from generate_series(1, 400) g;
    insert into directory_projects (id, namespace_id, name, path, visibility, archived, issues_access_level,
        snippets_access_level, merge_requests_access_level, packages_enabled, emails_enabled, created_at)
      select g, 1 + g % 400, 'p' || g, 'p' || g, 'private', false, 'enabled', 'enabled', 'enabled', true, true, now()
      from generate_series(1, 2000) g;
    insert into directory_memberships (id, user_id, source_type, source_id, access_level)
      select g, case when g <= 400 then 8 else 10 + g % 4000 end, 'namespace', 1 + g % 400, 30
      from generate_series(1, 20000) g;
    insert into issues (project_id, iid, author_id, title, created_at, updated_at)
      select 1 + g % 2000, g / 2000 + 1, 1 + g % 200, 'Issue ' || g, now(), now() from generate_series(1, 8000) g;
    insert into notes (noteable_type, noteable_id, project_id, author_id, body, created_at, updated_at)
      select 'Issue', 1 + g % 8000, 1, 1 + g % 200, 'Note ' || g, now(), now() from generate_series(1, 40000) g;
    insert into todos (user_id, author_id, action, project_id, target_type, target_id, note_id, source_event_id, state,
        created_at, updated_at)
      select case when g % 10 = 0 then 8 else 1 + g % 4000 end, 1 + g % 200, 'mentioned', i.project_id, 'Issue', i.id, n.id,
        gen_random_uuid(), case when g % 3 = 0 then 'done' else 'pending' end, now(), now()
      from generate_series(1, 40000) g join notes n on n.id = g join issues i on i.id = n.noteable_id;
    insert into epics (group_id, iid, author_id, title, color, text_color)
      select 1 + g % 400, g / 400 + 1, 1 + g % 200, 'Epic ' || g, '#fff', '#000' from generate_series(1, 2000) g;
    insert into todos (user_id, author_id, action, group_id, target_type, target_id, source_event_id, created_at, updated_at)
      select case when g % 100 = 0 then 8 else 1 + g % 4000 end, 1, 'marked', e.group_id, 'Epic', e.id, gen_random_uuid(),
        now() - interval '1 day', now() from generate_series(1, 2000) g join epics e on e.id = g;
    insert into participants (noteable_type, noteable_id, user_id, project_id, note_id)
      select 'Issue', n.noteable_id, n.author_id, n.project_id, min(n.id) from notes n
      group by n.noteable_id, n.author_id, n.project_id on conflict do nothing;
    insert into activity_events (project_id, author_id, action, target_type, target_id, noteable_type, noteable_id,
        source_event_id, created_at)
      select i.project_id, case when g % 10 = 0 then 8 else 1 + g % 4000 end, 'commented', 'Note', n.id, 'Issue', i.id,
        gen_random_uuid(), now() - g * interval '1 second'
      from generate_series(1, 40000) g join notes n on n.id = g join issues i on i.id = n.noteable_id;
  `);
  // Samples every row, so that the statistics are the same each time.
  await pool.query('set default_statistics_target = 1000');
  await vacuumUntilVisible(pool);
}, 300_000);
afterAll(async () => {
  await pool.end();
  await database.drop();
});

/** Tables that grow; the directory of a test is so small that any plan is acceptable. */
const GROWING_TABLE = /^(todos|activity_events|issues|epics|notes|participants)$/;
const GROWING_INDEX = /_(todos|activity_events|issues|epics|notes|participants)(_|$)/;
const page = { page: 1, perPage: 20 };
const VIEWER = { viewer: 8, is_admin: false, is_external: false };
const planTodoList = (scope: 'ofProjects' | 'all', filter: Partial<TodoFilter> = {}) =>
  todos.pageStatement(scope, { state: 'pending', ...filter }, page, VIEWER);
const feed = <F extends Feed>(kind: F, values: FeedParams[F]) =>
  feeds.pageStatement(kind, { sort: 'desc' }, page, values);
const project = {
  ...VIEWER,
  project: 8,
  project_name: 'p8',
  is_member: true,
  reads_confidential: true,
  reads_internal: true,
  reads_issues: true,
  reads_merge_requests: true,
  reads_snippets: true,
};
const reader = {
  parent: 2,
  named: 1,
  viewer: 8,
  is_member: true,
  reads_confidential: false,
  reads_internal: false,
  is_admin: false,
  reads_code: true,
};
const HOT: Record<string, () => Statement<unknown>> = {
  'todos/todos-pending': () => planTodoList('ofProjects'),
  'todos/todos-pending-of-groups-too': () => planTodoList('all'),
  'subscriptions/participants-of-issue': () => people.listStatement({ kind: issueKind, by: 'iid' }, page, reader),
  'todos/todos-done': () => planTodoList('ofProjects', { state: 'done' }),
  'todos/todos-done-of-groups-too': () => planTodoList('all', { state: 'done' }),
  'activity/activity-of-author': () => feed('author', { ...VIEWER, author: 8 }),
  'activity/activity-of-project': () => feed('project', project),
  'activity/activity-of-memberships': () => feed('memberships', VIEWER),
  'activity/activity-of-each-of-memberships': () => feed('each_of_memberships', VIEWER),
};

test.each(Object.keys(HOT))('%s keeps its plan', async (name) => {
  const statement = HOT[name]!();
  const nodes = nodesOf(await planOf(pool, statement));
  const indexes = nodes.map((node) => node['Index Name'] ?? '').filter((index) => GROWING_INDEX.test(index));
  const golden = join(__dirname, '../golden', name);
  expectGoldenSql(golden, statement);
  expectGolden(`${golden}.plan.txt`, `${[...new Set(indexes)].sort().join('\n')}\n`);
  const whole = nodes.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name'] ?? '');
  expect(whole.filter((table) => GROWING_TABLE.test(table))).toEqual([]);
});

test.each([
  ['todos/todos-pending', 'issues', 45],
  // The total is counted up to 50.
  ['activity/activity-of-author', 'activity_events', 51],
])('%s reads from %s only the rows of its page', async (name, table, most) => {
  const plan = await planOf(pool, HOT[name]!(), 'run');
  // Counting is an index-only scan (ADR 0080), so only rows read from the table are limited here.
  expect(countReadRows(plan, table, (node) => node['Node Type'] !== 'Index Only Scan')).toBeLessThanOrEqual(most);
});
