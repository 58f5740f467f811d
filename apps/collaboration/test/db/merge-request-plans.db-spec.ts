import { join } from 'node:path';
import { Pool } from 'pg';
import type { Directory } from '@rookery/directory';
import { runMigrations } from '@rookery/persistence';
import type { Database } from '@rookery/persistence';
import { expectPlan, planOf, countReadRows, testDatabase, vacuumUntilVisible } from '@rookery/testing';
import type { Planned, TestDatabase } from '@rookery/testing';
import { migrations } from '../../src/database';
import type { MergeRequestFilter } from '../../src/work/merge-requests/listing/merge-request-filter';
import type { MergeRequestOrder } from '../../src/work/merge-requests/listing/merge-request-order';
import { DiscussionStatements } from '../../src/talk/notes/discussions/discussions.statements';
import { mergeRequestKind } from '../../src/work/merge-requests/merge-request.kind';
import { MergeRequestsEverywhereQueries } from '../../src/work/merge-requests/listing/merge-requests-everywhere.queries';
import { RelatedIssuesQueries } from '../../src/work/merge-requests/closing/related-issues.queries';
import { RelatedMergeRequestsQueries } from '../../src/work/merge-requests/closing/related-merge-requests.queries';
import { MergeRequestsQueries } from '../../src/work/merge-requests/merge-requests.queries';

/** The plan shapes of lists of merge requests over enough rows. `UPDATE_GOLDEN=1` rewrites them. */
let database: TestDatabase;
let pool: Pool;
const externalUrl = 'http://localhost:8080';
const settings = { externalUrl } as never;
const mergeRequests = new MergeRequestsQueries({} as Database, settings);
const issues = new RelatedIssuesQueries({} as Database, {} as Directory, settings);
const ofIssues = new RelatedMergeRequestsQueries({} as Database, {} as Directory, settings);
const everywhere = new MergeRequestsEverywhereQueries({} as Database, {} as Directory, settings);

beforeAll(async () => {
  database = await testDatabase('collaboration', migrations);
  await runMigrations(database.url, migrations);
  pool = new Pool({ connectionString: database.url, max: 1 });
  await pool.query(`
    insert into directory_users (id, username, name, state, kind, admin, external, private_profile, created_at)
      select g, 'user' || g, 'User ' || g, 'active', 'human', false, false, false, now() from generate_series(1, 5000) g;
    insert into directory_namespaces (id, kind, owner_id, parent_id, traversal_ids, name, path, full_name, full_path, visibility,
        emails_enabled, plan, created_at)
      select g, 'group', null, case when g > 1 then 1 end, case when g > 1 then array[1, g] else array[1] end, 'g', 'g' || g,
        'g', 'g/' || g, 'public', true, 'premium', now() from generate_series(1, 3) g;
    insert into directory_projects (id, namespace_id, name, path, visibility, archived, issues_access_level,
        snippets_access_level, merge_requests_access_level, packages_enabled, emails_enabled, created_at)
      select g, 1 + g % 3, 'p' || g, 'p' || g, 'public', false, 'enabled', 'enabled', 'enabled', true, true, now()
      from generate_series(1, 40) g;
    insert into merge_requests (project_id, source_project_id, iid, author_id, title, state, closed_at, source_branch,
        target_branch, created_at, updated_at)
      select 1 + g % 4, 1 + g % 4, g / 4 + 1, 1 + g % 200, 'Change ' || g, case when g % 3 = 0 then 'opened' else 'closed' end,
        case when g % 3 = 0 then null else now() end, 'branch' || g, 'main', now() - g * interval '1 minute',
        now() - g * interval '1 second'
      from generate_series(1, 8000) g;
    insert into merge_request_assignees (merge_request_id, user_id, position) select id, 1 + id % 200, 1 from merge_requests;
    insert into merge_request_reviewers (merge_request_id, user_id, position) select id, 1 + id % 199, 1 from merge_requests;
    insert into notes (id, thread_id, noteable_type, noteable_id, project_id, author_id, body, resolved_at, created_at, updated_at)
      select g, g, 'MergeRequest', 1 + g % 8000, 1 + g % 4, 1 + g % 200, 'A word', case when g % 5 > 0 then now() end,
        now() - g * interval '1 second', now() from generate_series(1, 32000) g;
    insert into note_positions (thread_id, noteable_type, noteable_id, position_type, shown, original, old_path, new_path)
      select id, noteable_type, noteable_id, 'text', '{"new_line":1}', '{"new_line":1}', 'a', 'a' from notes where id % 2 = 0;
    insert into suggestions (note_id, relative_order, lines_above, lines_below, from_content, to_content)
      select id, 1, 0, 0, 'a', 'b' from notes where id % 10 = 0;
    insert into approval_rules (project_id, name, rule_type, approvals_required)
      select 1 + g % 4, 'rule ' || g, 'regular', 1 from generate_series(1, 400) g;
    insert into approval_rule_users (rule_id, user_id) select id, 1 + id % 200 from approval_rules;
    insert into merge_request_approvals (merge_request_id, user_id, approved_at) select id, 1 + id % 200, now() from merge_requests;
    insert into issues (project_id, iid, author_id, title, created_at, updated_at)
      select 1 + g % 4, g / 4 + 1, 1 + g % 200, 'Work ' || g, now() - g * interval '1 minute', now() from generate_series(1, 8000) g;
    insert into merge_request_issues (merge_request_id, source, issue_id, closes)
      select id, 'text', id, id % 2 = 0 from merge_requests;
    insert into notes (noteable_type, noteable_id, project_id, author_id, body, system, referenced_type, referenced_id,
        created_at, updated_at)
      select case when g % 2 = 0 then 'Issue' else 'MergeRequest' end, 1 + g % 8000, 1 + g % 4, 1, 'mentioned in !' || g, true,
        case when g % 2 = 0 then 'MergeRequest' else 'Issue' end, 1 + (g * 7) % 8000, now(), now()
      from generate_series(1, 16000) g on conflict do nothing;
    insert into ci_pipelines (id, project_id, sha, ref, status)
      select id, project_id, 'sha' || id, source_branch, 'success' from merge_requests`);
  // Samples every row, so that the statistics are the same each time.
  await pool.query('set default_statistics_target = 1000');
  await vacuumUntilVisible(pool);
}, 300_000);
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const viewer = { viewer: 7, is_admin: false, is_external: false };
const pageOne = { page: 1, perPage: 20 };
const newest = { orderBy: 'created_at', sort: 'desc' } as const;
const changed = { orderBy: 'updated_at', sort: 'desc' } as const;
const here = { ...viewer, project: 3, reads_internal: false, full_path: 'g/p', groups: [1] };
const planProjectList = (filter: MergeRequestFilter, order: MergeRequestOrder = newest): Planned =>
  mergeRequests.pageStatement(here, filter, order, pageOne);
const group = { id: 1, traversalIds: [1] };
const planGroupList = (filter: MergeRequestFilter, order: MergeRequestOrder = newest): Planned =>
  everywhere.pageStatement({ ...viewer, group: [1] }, { group, nonArchived: true }, filter, order, pageOne);
const planInstanceList = (filter: MergeRequestFilter): Planned =>
  everywhere.pageStatement(viewer, { group: null, nonArchived: true }, filter, newest, pageOne);

const discussions = new DiscussionStatements(mergeRequestKind, externalUrl);
const reader = {
  ...{ parent: 3, named: 10, viewer: 7, is_member: true, reads_confidential: true, reads_internal: true },
  is_admin: false,
  reads_code: true,
};

const named = { ...viewer, project: 3, iid: 50 };
const ofIssue = { ...named, is_member: true, reads_confidential: true };

const HOT: Record<string, () => Planned> = {
  'merge-requests/discussions': () => discussions.pageStatement(pageOne, reader),
  'merge-requests/of-project': () => planProjectList({}),
  'merge-requests/of-project-opened': () => planProjectList({ state: 'opened' }),
  'merge-requests/of-project-by-change': () => planProjectList({ state: 'opened' }, changed),
  'merge-requests/of-project-of-source-branch': () => planProjectList({ sourceBranch: 'branch2', state: 'opened' }),
  'merge-requests/of-group': () => planGroupList({}),
  'merge-requests/of-group-opened': () => planGroupList({ state: 'opened' }),
  'merge-requests/mine': () => planInstanceList({ scope: 'created_by_me' }),
  'merge-requests/assigned-to-me': () => planInstanceList({ scope: 'assigned_to_me' }),
  'merge-requests/reviews-for-me': () => planInstanceList({ scope: 'reviews_for_me' }),
  'merge-requests/closed-issues': () => issues.pageStatement(named, 'closed', pageOne),
  'merge-requests/related-issues': () => issues.pageStatement(named, 'related', pageOne),
  'merge-requests/closing-of-issue': () => ofIssues.pageStatement(ofIssue, 'closing', pageOne),
  'merge-requests/related-of-issue': () => ofIssues.pageStatement(ofIssue, 'related', pageOne),
};

test.each(Object.keys(HOT))('%s keeps its plan', async (name) => {
  const shape = await expectPlan(pool, join(__dirname, '../golden', name), HOT[name]!());
  // The directory of a test is so small that full scans of it are acceptable.
  expect(shape).not.toMatch(/Seq Scan on merge_request/);
});

test.each(Object.keys(HOT))('%s shows only the people of its page', async (name) => {
  const plan = await planOf(pool, HOT[name]!(), 'run');
  expect(countReadRows(plan, 'merge_request_reviewers')).toBeLessThanOrEqual(300);
});
