import { join } from 'node:path';
import { Pool } from 'pg';
import type { Directory } from '@rookery/directory';
import { runMigrations } from '@rookery/persistence';
import type { Database } from '@rookery/persistence';
import { expectPlan, testDatabase, vacuumUntilVisible } from '@rookery/testing';
import type { Planned, TestDatabase } from '@rookery/testing';
import { migrations } from '../../src/database';
import { ChildEpicsQueries } from '../../src/work/epics/children/child-epics.queries';
import { EpicIssuesQueries } from '../../src/work/epics/issues/epic-issues.queries';
import { EpicsQueries } from '../../src/work/epics/epics.queries';
import type { EpicFilter, EpicOrder } from '../../src/work/epics/listing/epic-filter';

/** The plan shapes of epic lists over enough rows. `UPDATE_GOLDEN=1` rewrites them. */
let database: TestDatabase;
let pool: Pool;
const serving = new EpicIssuesQueries(
  {} as Database,
  {} as Directory,
  { externalUrl: 'http://localhost:8080' } as never,
);
const children = new ChildEpicsQueries(
  {} as Database,
  {} as Directory,
  { externalUrl: 'http://localhost:8080' } as never,
);
const epics = new EpicsQueries({} as Database, {} as Directory, { externalUrl: 'http://localhost:8080' } as never);

beforeAll(async () => {
  database = await testDatabase('collaboration', migrations);
  await runMigrations(database.url, migrations);
  pool = new Pool({ connectionString: database.url, max: 1 });
  await pool.query(`
    insert into directory_users (id, username, name, state, kind, admin, external, private_profile, created_at)
      select g, 'user' || g, 'User ' || g, 'active', 'human', false, false, false, now() from generate_series(1, 5000) g;
    insert into directory_namespaces (id, kind, parent_id, traversal_ids, name, path, full_name, full_path, visibility,
        emails_enabled, plan, created_at)
      select g, 'group', case when g % 10 > 0 then g - g % 10 end,
        case when g % 10 > 0 then array[g - g % 10, g] else array[g] end, 'g', 'g' || g, 'g', 'g/' || g, 'public', true,
        'premium', now() from generate_series(10, 4009) g;
    insert into epics (group_id, iid, author_id, title, state, closed_at, color, text_color, created_at, updated_at)
      select 10 + g % 100, g / 100 + 1, 1 + g % 200, 'Epic ' || g, case when g % 3 = 0 then 'opened' else 'closed' end,
        case when g % 3 = 0 then null else now() end, '#fff', '#000', now() - g * interval '1 minute',
        now() - g * interval '1 second' from generate_series(1, 20000) g;
    insert into labels (id, group_id, title, description_html, color, text_color)
      select g, 10 + g / 50 * 10, 'Label ' || g % 50, '', '#fff', '#000' from generate_series(1, 499) g;
    insert into label_links (noteable_type, noteable_id, label_id)
      select distinct 'Epic', e.id, ((e.group_id - 10) / 10 * 50 + (e.id * k) % 49 + 1)
      from epics e, generate_series(1, 2) k;
    insert into directory_projects (id, namespace_id, name, path, visibility, archived, issues_access_level,
        snippets_access_level, merge_requests_access_level, packages_enabled, emails_enabled, created_at)
      select g, 10 + g % 100, 'p', 'p' || g, 'public', false, 'enabled', 'enabled', 'enabled', true, true, now()
      from generate_series(1, 500) g;
    insert into milestones (id, project_id, iid, title, start_on, due_on)
      select g, 1 + g % 500, g, 'v' || g, current_date, current_date + g % 300 + 1 from generate_series(1, 2000) g;
    insert into issues (project_id, iid, author_id, title, milestone_id)
      select 1 + g % 500, g / 500 + 1, 1 + g % 200, 'Issue ' || g, 1 + g % 2000 from generate_series(1, 40000) g;
    insert into epic_issues (epic_id, issue_id, relative_position)
      select 1 + id % 20000, id, id from issues;
    update epics c set parent_id = p.id, relative_position = c.iid from epics p
      where p.group_id = c.group_id and p.iid = 10 + c.iid % 10 and c.iid > 100;
    insert into award_emoji (awardable_type, awardable_id, noteable_type, noteable_id, user_id, name)
      select 'Epic', g, 'Epic', g, 1 + g % 20, 'rocket' from generate_series(1, 20000) g`);
  // Samples every row, so that the statistics are the same each time.
  await pool.query('set default_statistics_target = 1000');
  await vacuumUntilVisible(pool);
}, 300_000);
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const NEWEST = { orderBy: 'created_at', sort: 'desc' } as const;
const PAGE = { page: 1, perPage: 20 };
/** Statements for group 20 and its descendants. */
const listed = (filter: EpicFilter, by: Partial<EpicOrder> = {}, descendants = true): Planned => {
  const reach = { includesAncestors: false, includesDescendants: descendants };
  return epics.pageStatement([7, false, false, 20, [20]], { reach, filter, order: { ...NEWEST, ...by }, page: PAGE });
};

const HOT: Record<string, () => Planned> = {
  'epics/epics-of-group': () => listed({}),
  'epics/epics-of-group-alone': () => listed({}, {}, false),
  'epics/epics-opened': () => listed({ state: 'opened' }),
  'epics/epics-by-change': () => listed({}, { orderBy: 'updated_at' }),
  'epics/epics-by-title': () => listed({}, { orderBy: 'title', sort: 'asc' }),
  'epics/epics-labelled': () => listed({ labels: ['Label 3'] }),
  'epics/epics-unlabelled': () => listed({ labels: 'None' }),
  'epics/epics-with-any-label': () => listed({ labels: 'Any' }),
  'epics/epics-without-label': () => listed({ not: { labels: ['Label 3'] } }),
  'epics/epics-of-author': () => listed({ author: { authorId: 7 } }),
  'epics/epics-created-after': () => listed({ createdAfter: new Date('2026-01-01T00:00:00Z') }),
  'epics/epics-with-my-emoji': () => listed({ reaction: 'rocket' }),
  'epics/epics-searched': () => listed({ search: 'first egg' }),
  // Epic 5 of group 20.
  // Epic 15 of group 20.
  'epics/children-of-epic': () => children.pageStatement(PAGE, [20, 15, 7, false, false, false]),
  'epics/issues-of-epic': () => serving.pageStatement(PAGE, [20, 5, 7, false, false, false, 'g/20', [20]]),
};

test.each(Object.keys(HOT))('%s keeps its plan', async (name) => {
  const shape = await expectPlan(pool, join(__dirname, '../golden', name), HOT[name]!());
  expect(shape).not.toMatch(
    /Seq Scan on (epics|epic_issues|issues|milestones|label_links|award_emoji|labels|directory_namespaces)\b/,
  );
});
