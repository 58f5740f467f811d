import { join } from 'node:path';
import {
  anonymousViewer,
  makeViewer,
  limitNodeOf,
  expectPlan,
  planOf,
  countReadRows,
  testDatabase,
  vacuumUntilVisible,
} from '@rookery/testing';
import type { Planned, PlanNode, TestDatabase } from '@rookery/testing';
import { Pool } from 'pg';
import { migrations } from '../../src/database';
import type { GroupFilters } from '../../src/groups/listing/group-filters';
import { GroupListsQueries } from '../../src/groups/listing/group-lists.queries';

/**
 * Compares the plans of lists of groups over many rows with golden files. A list that reads a whole table, or all groups
 * to find those of one user, has another plan. `UPDATE_GOLDEN=1` writes the files. Source: ADR 0063.
 */
const GROUPS = 20_000;
const MANY = 2000;
/** Members of a hundred groups, of the last 2,000 groups by name, and of one group with 2,000 subgroups. */
const [few, last, above] = [2, 3, 4].map((userId) => makeViewer({ userId })) as [Viewer, Viewer, Viewer];
type Viewer = ReturnType<typeof makeViewer>;
let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await testDatabase('identity', migrations);
  pool = new Pool({ connectionString: database.url, max: 1 });
  const member = (user: number, from: string) =>
    pool.query(
      `insert into members (user_id, source_type, source_id, access_level) select ${user}, 'namespace', id, 30 from (${from}) g`,
    );
  await pool.query(
    `insert into users (id, username, name, email) select g, 'u' || g, 'U', 'u' || g || '@e.example' from generate_series(1, 4) g`,
  );
  // The first group has the next 2,000 as subgroups; every ninth of the others is a subgroup of the fourth before it.
  await pool.query(`
    insert into namespaces (id, kind, parent_id, traversal_ids, name, path, full_name, full_path, visibility, plan)
      select n, 'group', parent, array_remove(array[parent, n], null), 'Group ' || lpad((n * 7919 % ${GROUPS})::text, 5, '0'),
        'g' || n, 'g' || n, 'g' || n, case when n % 50 = 0 then 'public' else 'private' end, 'free'
      from (select n::bigint, case when n = 1 then null when n <= ${MANY} then 1::bigint
        when n % 9 = 0 then n::bigint - 4 end as parent from generate_series(1, ${GROUPS}) n) made order by n`);
  const alone = `select id, name from namespaces n where parent_id is null and id > ${MANY}
    and not exists (select 1 from namespaces c where c.parent_id = n.id)`;
  await member(2, `${alone} order by id limit 100`);
  await member(3, `${alone} order by name desc limit ${MANY}`);
  await member(4, 'select 1 as id');
  await vacuumUntilVisible(pool);
}, 400_000);
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const plain: GroupFilters = {
  order_by: 'name',
  sort: 'asc',
  owned: false,
  top_level_only: false,
  with_custom_attributes: false,
};
const pageOne = { page: 1, perPage: 20 };

const plannedList =
  (viewer: Viewer, over: Partial<GroupFilters> = {}): Planned =>
  (db) =>
    new GroupListsQueries(db).list(viewer, { ...plain, ...over }, pageOne);
const plannedListBelow =
  (id: number, level: number, how: 'listChildren' | 'listDescendants'): Planned =>
  (db) =>
    new GroupListsQueries(db)[how](above, { id, level, traversalIds: [id] }, plain, pageOne);

const HOT: Record<string, Planned> = {
  'groups/groups-anonymous': (db) =>
    new GroupListsQueries(db).listAfter(anonymousViewer(), plain, 20, { name: 'Group 09', id: 7 }),
  'groups/groups-of-few': plannedList(few),
  'groups/groups-of-last': plannedList(last),
  'groups/groups-of-root': plannedList(above),
  'groups/groups-top-level': plannedList(last, { top_level_only: true }),
  'groups/groups-by-path': plannedList(last, { order_by: 'path' }),
  'groups/groups-available': plannedList(few, { all_available: true }),
  'groups/groups-of-admin': plannedList(makeViewer({ userId: 1, isAdmin: true })),
  'groups/groups-children': plannedListBelow(1, 30, 'listChildren'),
  'groups/groups-descendants': plannedListBelow(1, 30, 'listDescendants'),
};

test.each(Object.keys(HOT))('%s keeps its plan', async (name) => {
  await expectPlan(pool, join(__dirname, '../golden', name), HOT[name]!);
});

/** Maximum number of rows of groups, their ancestors and members that a list reads for its page. */
test.each<[string, number]>([
  ['groups/groups-anonymous', 60],
  ['groups/groups-of-few', 200],
  ['groups/groups-of-last', 200],
  ['groups/groups-of-root', 200],
  ['groups/groups-of-admin', 30],
  ['groups/groups-descendants', 60],
  ['groups/groups-top-level', 200],
  ['groups/groups-by-path', 200],
])('%s reads few more rows than its page', async (name, most) => {
  const cut = limitNodeOf(await planOf(pool, HOT[name]!, 'run'));
  expect(sumReadRows(cut)).toBeLessThanOrEqual(most);
});

const sumReadRows = (plan: PlanNode): number =>
  ['namespaces', 'namespace_ancestors', 'members'].reduce((sum, table) => sum + countReadRows(plan, table), 0);
