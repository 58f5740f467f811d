import { join } from 'node:path';
import type { Viewer } from '@rookery/kernel';
import { entitiesOf, SnakeNaming } from '@rookery/persistence';
import type { Work } from '@rookery/persistence';
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
import type { Planned, TestDatabase } from '@rookery/testing';
import { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { migrations } from '../../src/database';
import { projectsOfGroup, projectsSharedWith } from '../../src/groups/projects/group-projects-set';
import { IdentityModule } from '../../src/identity.module';
import type { ProjectFilters } from '../../src/projects/listing/project-filters';
import { ProjectListsQueries } from '../../src/projects/listing/project-lists.queries';
import type { ProjectSet } from '../../src/projects/listing/project-lists.queries';
import { listTopicsByProjectCount, topics } from '../../src/topics/topics.service';
import { projectsInPersonalNamespace, projectsStarredBy } from '../../src/projects/listing/user-projects-set';

/**
 * Compares the plans of hot lists over many rows with golden files, which show the used indexes. A list that reads or sorts
 * a whole table has another plan. `UPDATE_GOLDEN=1` writes the files.
 */
let database: TestDatabase;
let pool: Pool;
let dataSource: DataSource;
beforeAll(async () => {
  database = await testDatabase('identity', migrations);
  pool = new Pool({ connectionString: database.url, max: 1 });
  const entities = [...entitiesOf(IdentityModule)];
  dataSource = new DataSource({ type: 'postgres', url: database.url, entities, namingStrategy: new SnakeNaming() });
  await dataSource.initialize();
  await pool.query(`
    insert into users (id, username, name, email) select g, 'u' || g, 'U', 'u' || g || '@e.example' from generate_series(1, 300) g;
    insert into namespaces (id, kind, parent_id, traversal_ids, name, path, full_name, full_path, visibility, plan)
      select g, 'group', case when g > 100 then 1 + g % 100 end, case when g > 100 then array[1 + g % 100, g] else array[g] end,
        'g' || g, 'g' || g, 'g' || g, 'g' || g, 'public', 'free' from generate_series(1, 2000) g;
    insert into namespaces (id, kind, owner_id, traversal_ids, name, path, full_name, full_path, visibility, plan)
      select 5000 + g, 'user', g, array[5000 + g], 'u' || g, 'u' || g, 'u' || g, 'u' || g, 'public', 'free'
      from generate_series(1, 300) g;
    insert into projects (namespace_id, creator_id, name, path, visibility)
      select case when g % 5 = 0 then 5001 + g % 300 when g % 3 = 0 then 7 else 1 + g % 2000 end, 1, 'p' || g, 'p' || g,
        case when g % 4 = 0 then 'public' when g % 4 = 1 then 'internal' else 'private' end from generate_series(1, 24000) g;
    insert into members (user_id, source_type, source_id, access_level)
      select 1 + g % 300, 'namespace', 1 + (g * 7) % 2000, 30 from generate_series(1, 3000) g on conflict do nothing;
    insert into shares (source_type, source_id, group_id, access_level)
      select 'project', g * 5, 7, 30 from generate_series(1, 400) g;
    insert into topics (name, title) select 't' || g, 'T' from generate_series(1, 20000) g;
    insert into project_topics (project_id, topic_id, position, is_open)
      select p.id, t, 1, p.visibility <> 'private' from projects p, lateral (values (1), (2 + p.id % 1990)) v (t);
    insert into project_stars (user_id, project_id) select 2 + p.id % 200, p.id from projects p where p.id % 2 = 0;
    update projects set forked_from_project_id = 1 + id % 50 where id > 100 and id % 6 = 0;
  `);
  await vacuumUntilVisible(pool);
}, 400_000);
afterAll(async () => {
  await dataSource.destroy();
  await pool.end();
  await database.drop();
});

const person = makeViewer({ userId: 5 });
const admin = makeViewer({ userId: 1, isAdmin: true });
const plain: ProjectFilters = { order_by: 'created_at', sort: 'desc', simple: false };
const pageOne = { page: 1, perPage: 20 };
const range = { with_shared: true, include_subgroups: false, include_ancestor_groups: false };

const plannedList =
  (viewer: Viewer, over: Partial<ProjectFilters> = {}, among: ProjectSet = {}): Planned =>
  (db) =>
    new ProjectListsQueries(db).list(viewer, { ...plain, ...over }, pageOne, among);
const plannedTopicsList =
  (over: object): Planned =>
  (db) =>
    listTopicsByProjectCount(topics.on({ dataSource } as Work, db), { without_projects: false, ...over }, pageOne);

const HOT: Record<string, Planned> = {
  'projects/projects-anonymous': plannedList(anonymousViewer(), {}),
  'projects/projects-of-person': plannedList(person, {}),
  'projects/projects-searched': plannedList(person, { search: 'egg', membership: true }),
  'projects/projects-of-member': plannedList(person, { membership: true }),
  'projects/projects-by-activity': plannedList(person, { order_by: 'last_activity_at' }),
  'projects/projects-by-size': plannedList(admin, { order_by: 'storage_size' }),
  'projects/projects-of-topic': plannedList(anonymousViewer(), { topic: ['t1'] }),
  'projects/projects-starred': plannedList(person, { starred: true }),
  'projects/projects-of-group': plannedList(person, {}, projectsOfGroup({ id: 7, traversalIds: [7] }, true, range)),
  'projects/projects-of-group-seen-from-outside': plannedList(
    person,
    {},
    projectsOfGroup({ id: 7, traversalIds: [7] }, false, range),
  ),
  'projects/projects-shared-with-group': plannedList(person, {}, projectsSharedWith(7)),
  'projects/projects-of-user': plannedList(anonymousViewer(), {}, projectsInPersonalNamespace({ namespace_id: 5007 })),
  'projects/projects-starred-by': plannedList(person, {}, projectsStarredBy({ id: 9, private_profile: false }, person)),
  'projects/projects-forked': plannedList(person, {}, { where: () => 'p.forked_from_project_id = 3' }),
  'topics/topics': plannedTopicsList({}),
  'topics/topics-unused': plannedTopicsList({ without_projects: true }),
};

test.each(Object.keys(HOT))('%s keeps its plan', async (name) => {
  const shape = await expectPlan(pool, join(__dirname, '../golden', name), HOT[name]!);
  expect(shape).not.toMatch(/Seq Scan on (projects|project_topics|project_stars|topics|project_statistics)\b/);
});

/** Maximum number of rows of projects that a list reads for its page. */
test.each<[string, number]>([
  ['projects/projects-anonymous', 30],
  ['projects/projects-of-topic', 90],
  ['projects/projects-of-group', 30],
  ['projects/projects-by-size', 30],
])('%s reads few more rows than its page', async (name, most) => {
  const cut = limitNodeOf(await planOf(pool, HOT[name]!, 'run'));
  expect(countReadRows(cut, 'projects')).toBeLessThanOrEqual(most);
});
