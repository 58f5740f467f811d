import { join } from 'node:path';
import { Pool } from 'pg';
import type { Directory } from '@rookery/directory';
import { runMigrations } from '@rookery/persistence';
import type { Database } from '@rookery/persistence';
import { expectPlan, planOf, countReadRows, testDatabase, vacuumUntilVisible } from '@rookery/testing';
import type { Planned, Statement, TestDatabase } from '@rookery/testing';
import { AwardStatements } from '../../src/talk/award-emoji/award-emoji.statements';
import { migrations } from '../../src/database';
import { IssueLinksQueries } from '../../src/work/issue-links/issue-links.queries';
import { IssuesQueries } from '../../src/work/issues/issues.queries';
import type { IssueFilter } from '../../src/work/issues/listing/issue-filter';
import type { IssueOrder } from '../../src/work/issues/listing/issue-order';
import { issueKind } from '../../src/work/issues/issue.kind';
import { IssuesEverywhereQueries } from '../../src/work/issues/listing/issues-everywhere.queries';
import { MilestoneNoteablesQueries } from '../../src/planning/milestones/milestone-noteables.queries';
import { LabelFactsQueries } from '../../src/planning/labels/label-facts.queries';
import { labelEvents } from '../../src/planning/labels/labelling/labels.shape';
import { milestoneEvents } from '../../src/planning/milestones/milestone.shape';
import { MilestonesQueries } from '../../src/planning/milestones/milestones.queries';
import { DiscussionStatements } from '../../src/talk/notes/discussions/discussions.statements';
import { NoteStatements } from '../../src/talk/notes/notes.statements';
import type { NoteOrder } from '../../src/talk/notes/notes.statements';
import { ResourceEventsQueries } from '../../src/base/resource-events/resource-events.queries';
import { stateEvents, weightEvents } from '../../src/base/resource-events/states-and-weights';

/**
 * The plan shapes of the hot statements over enough rows, with their indexes. A plan with a full scan of a table,
 * or a sort of all notes of an issue, differs from the golden file. `UPDATE_GOLDEN=1` rewrites them.
 */
let database: TestDatabase;
let pool: Pool;
const externalUrl = 'http://localhost:8080';
const statements = new NoteStatements(issueKind, externalUrl);
const discussions = new DiscussionStatements(issueKind, externalUrl);
const awards = new AwardStatements(issueKind, 'iid', 'noteable', externalUrl);
const noteAwards = new AwardStatements(issueKind, 'iid', 'note', externalUrl);
const issues = new IssuesQueries({} as Database, { externalUrl } as never);
const milestones = new MilestonesQueries({} as Database, {} as Directory, { externalUrl } as never);
const milestoneIssues = new MilestoneNoteablesQueries({} as Database, {} as Directory, { externalUrl } as never);
const everywhere = new IssuesEverywhereQueries({} as Database, {} as Directory, { externalUrl } as never);
const links = new IssueLinksQueries({} as Database, {} as Directory, { externalUrl } as never);
const labelFacts = new LabelFactsQueries({} as Database, {} as never);
const events = new ResourceEventsQueries({} as Database, { externalUrl } as never);

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
    insert into milestones (id, project_id, group_id, iid, title, due_on)
      select g, case when g % 10 > 0 then 1 + g % 40 end, case when g % 10 = 0 then 1 + g / 10 % 2 end, g, 'v' || g,
        case when g % 3 > 0 then current_date + g % 300 end from generate_series(1, 4000) g;
    insert into issues (project_id, iid, author_id, title, state, closed_at, due_on, created_at, updated_at,
        milestone_id, weight)
      select 1 + g % 4, g / 4 + 1, 1 + g % 200, 'Issue ' || g, case when g % 3 = 0 then 'opened' else 'closed' end,
        case when g % 3 = 0 then null else now() end, case when g % 10 = 0 then current_date end,
        now() - g * interval '1 minute', now() - g * interval '1 second', case when g % 5 = 0 then 10 * (1 + g % 40) end,
        case when g % 7 = 0 then g % 10 end
      from generate_series(1, 8000) g;
    insert into issue_assignees (issue_id, user_id, position) select id, 1 + id % 200, 1 from issues;
    insert into labels (id, project_id, group_id, title, description_html, color, text_color)
      select g, case when g % 10 > 0 then 1 + g % 4 end, case when g % 10 = 0 then 1 + g % 3 end, 'Label ' || g, '', '#fff',
        '#000' from generate_series(1, 20000) g;
    insert into label_links (noteable_type, noteable_id, label_id, project_id)
      select distinct 'Issue', i.id, (i.id * k * k) % 100 * 200 + case when i.id % 4 = 0 then 4 else i.id % 4 end, i.project_id
      from issues i, generate_series(1, 3) k
      where i.id % 5 > 0;
    insert into label_priorities (project_id, label_id, priority)
      select project_id, id, id from labels where project_id is not null and id % 3 = 1;
    insert into resource_label_events (noteable_type, noteable_id, project_id, user_id, label_id, action, created_at)
      select 'Issue', noteable_id, project_id, 1, label_id, 'add', now() from label_links;
    insert into resource_milestone_events (noteable_type, noteable_id, project_id, user_id, milestone_id, action, created_at)
      select 'Issue', i.id, i.project_id, 1, 10 * (1 + i.id % 40), 'add', now() from issues i, generate_series(1, 3);
    insert into issue_links (source_id, target_id, link_type)
      select g, g + 4 * k, case k when 1 then 'blocks' else 'relates_to' end
      from generate_series(1, 7000) g, generate_series(1, 3) k;
    insert into epics (group_id, iid, author_id, title, color, text_color)
      select 1 + g % 3, g, 1, 'Epic ' || g, '#fff', '#000' from generate_series(1, 600) g;
    insert into epic_issues (epic_id, issue_id, relative_position)
      select 1 + id / 7 % 600, id, id from issues where id % 7 = 0;
    insert into merge_requests (project_id, iid, source_project_id, author_id, title, source_branch, target_branch, head_sha,
        start_sha, files_count, commits_count)
      select 1 + g % 4, g, 1 + g % 4, 1 + g % 200, 'Request ' || g, 's' || g, 'main', 'h', 's', 1, 1 from generate_series(1, 4000) g;
    insert into merge_request_issues (merge_request_id, source, issue_id, closes)
      select m.id, s.source, 1 + (m.id * 7 + k) % 8000, k = 1
      from merge_requests m, generate_series(1, 2) k, (values ('text'), ('commits')) s (source);
    insert into resource_state_events (noteable_type, noteable_id, project_id, user_id, state, created_at)
      select 'Issue', i.id, i.project_id, 1, 'closed', now() from issues i, generate_series(1, 3);
    insert into resource_weight_events (noteable_type, noteable_id, project_id, user_id, weight, created_at)
      select 'Issue', i.id, i.project_id, 1, 5, now() from issues i, generate_series(1, 3);
    insert into notes (noteable_type, noteable_id, project_id, author_id, body, system, created_at, updated_at)
      select 'Issue', case when g % 10 = 0 then 1 else 1 + g % 8000 end, 1, 1 + g % 200, 'Note ' || g, g % 50 = 0,
        now() - g * interval '1 second', now() - g * interval '1 second'
      from generate_series(1, 40000) g;
  `);
  // A thread of three among each hundred notes; issue 1 has many.
  await pool.query(`
    update notes n set thread_id = n.id - n.id % 100 + 10, is_reply = n.id % 100 <> 10
    where n.id % 100 in (10, 20, 30) and n.noteable_id = 1 and not n.system`);
  await pool.query(`
    insert into award_emoji (awardable_type, awardable_id, noteable_type, noteable_id, project_id, user_id, name)
      select 'Issue', 1 + g / 5, 'Issue', 1 + g / 5, 1, 1 + g % 2000, 'rocket' from generate_series(0, 30000) g`);
  // Samples every row, so that the statistics are the same each time.
  await pool.query('set default_statistics_target = 1000');
  await vacuumUntilVisible(pool);
}, 300_000);
afterAll(async () => {
  await pool.end();
  await database.drop();
});

// Issue 1, with a tenth of all notes.
const reader = {
  parent: 2,
  named: 1,
  viewer: 7,
  is_member: true,
  reads_confidential: false,
  reads_internal: false,
  is_admin: false,
  reads_code: true,
};
const ofEvents = [2, 1, 7, true, false, [1, 2]];
const pageOne = { page: 1, perPage: 20 };
const noteOrder = (over: Partial<NoteOrder> = {}): NoteOrder => ({
  orderBy: 'created_at',
  sort: 'desc',
  activity: 'all_notes',
  ...over,
});
const planNoteList = (over: Partial<NoteOrder> = {}): Planned =>
  statements.pageStatement(noteOrder(over), pageOne, reader);
const VIEWER = { viewer: 7, is_admin: false, is_external: false };
const NEWEST = { orderBy: 'created_at', sort: 'desc' } as const;
const listed = (filter: IssueFilter, by: Partial<IssueOrder> = {}): Planned => {
  const access = { is_member: true, reads_confidential: false, reads_internal: false };
  const values = { project: 1, ...VIEWER, ...access, full_path: 'g/p', groups: [1, 2] };
  return issues.pageStatement(values, filter, { ...NEWEST, ...by }, pageOne);
};

// Below group 1.
const planGroupList = (filter: IssueFilter, by: Partial<IssueOrder> = {}): Planned => {
  const places = { group: { id: 1, traversalIds: [1] }, nonArchived: true };
  return everywhere.pageStatement({ ...VIEWER, group: [1] }, places, filter, { ...NEWEST, ...by }, pageOne);
};
const planInstanceList = (filter: IssueFilter): Planned =>
  everywhere.pageStatement(VIEWER, { group: null, nonArchived: true }, filter, NEWEST, pageOne);

const FEW_LABELS = [1, 204, 404];
// Project 2 below two groups.
const planned = [2, [1, 2], 7, false, false];

const HOT: Record<string, () => Planned> = {
  'notes/notes-newest': () => planNoteList(),
  'notes/notes-oldest': () => planNoteList({ sort: 'asc' }),
  'notes/notes-by-change': () => planNoteList({ orderBy: 'updated_at' }),
  'notes/notes-activity': () => planNoteList({ activity: 'only_activity' }),
  'notes/discussions-oldest': () => discussions.pageStatement(pageOne, reader),
  'notes/discussion-one': () => discussions.statement('one', { ...reader, discussion: 110 }),
  'award-emoji/awards-of-note': () => noteAwards.pageStatement(pageOne, { ...reader, note: 100 }),
  'award-emoji/awards-of-issue': () => awards.pageStatement(pageOne, { ...reader, note: null }),
  'notes/note-one': () => statements.statement('one', { ...reader, note: 100 }),
  'issues/issues-newest': () => listed({}),
  'issues/issues-opened': () => listed({ state: 'opened' }),
  'issues/issues-by-change': () => listed({}, { orderBy: 'updated_at' }),
  'issues/issues-labelled': () => listed({ labels: ['Label 204'] }),
  'issues/issues-labelled-twice': () => listed({ labels: ['Label 204', 'Label 404'] }),
  'issues/issues-labelled-often': () => listed({ labels: [204, 404, 604, 804, 1004].map((n) => `Label ${n}`) }),
  'issues/issues-without-label': () => listed({ not: { labels: ['Label 204'] } }),
  'issues/issues-unlabelled': () => listed({ labels: 'None' }),
  'issues/issues-serving-epic': () => listed({ epic: 5 }),
  'issues/issues-without-epic': () => listed({ epic: 'None' }),
  'issues/issues-with-any-epic': () => listed({ epic: 'Any' }),
  'issues/issues-of-group-serving-epic': () => planGroupList({ epic: 5 }),
  'issues/issues-with-any-label': () => listed({ labels: 'Any' }),
  'issues/issues-of-group-unlabelled': () => planGroupList({ labels: 'None' }),
  'issues/issues-by-label-priority': () => listed({}, { orderBy: 'label_priority', sort: 'asc' }),
  'labels/labels-counted-in-project': () =>
    labelFacts.countsStatement(issueKind, 'project', [FEW_LABELS, 7, false, false, 2]),
  'labels/labels-counted-in-group': () =>
    labelFacts.countsStatement(issueKind, 'group', [FEW_LABELS, 7, false, false, 1]),
  'labels/label-events': () => events.pageStatement({ kind: issueKind, by: 'iid' }, labelEvents, pageOne, ofEvents),
  'issues/issues-of-milestone': () => listed({ milestone: { title: 'v100' } }),
  'issues/issues-with-any-milestone': () => listed({ milestone: 'Any' }),
  'issues/issues-without-milestone': () => listed({ milestone: 'None' }),
  'issues/issues-not-of-milestone': () => listed({ not: { milestone: { title: 'v100' } } }),
  'issues/issues-of-project-milestone': () =>
    milestoneIssues.pageStatement(issueKind, 'project', pageOne, { milestone: 101, place: 2, ...VIEWER }),
  'issues/issues-of-group-milestone': () =>
    milestoneIssues.pageStatement(issueKind, 'group', pageOne, { milestone: 110, place: 2, ...VIEWER }),
  'issues/issues-of-group': () => planGroupList({}),
  'issues/issues-of-group-opened': () => planGroupList({ state: 'opened' }),
  'issues/issues-of-group-by-change': () => planGroupList({}, { orderBy: 'updated_at' }),
  'issues/issues-of-group-labelled': () => planGroupList({ labels: ['Label 204'] }),
  'issues/issues-of-group-planned': () => planGroupList({ milestone: { title: 'v100' } }),
  'issues/issues-created-by-me': () => planInstanceList({ scope: 'created_by_me' }),
  'issues/issues-assigned-to-me': () => planInstanceList({ scope: 'assigned_to_me' }),
  'issues/issues-of-instance': () => planInstanceList({ scope: 'all' }),
  'milestones/milestones-of-project': () => milestones.pageStatement('project', {}, pageOne, planned),
  'milestones/milestones-on-the-way-up': () =>
    milestones.pageStatement('project', { include_ancestors: true, state: 'active' }, pageOne, planned),
  'milestones/milestones-of-group': () => milestones.pageStatement('group', {}, pageOne, [1, [1], 7, false, false]),
  'milestones/milestones-below-group': () =>
    milestones.pageStatement('group', { include_descendants: true }, pageOne, [1, [1], 7, false, false]),
  'milestones/milestone-events': () =>
    events.pageStatement({ kind: issueKind, by: 'iid' }, milestoneEvents, pageOne, ofEvents),
  'issue-links/links-of-issue': () =>
    links.pageStatement(pageOne, [2, 1, 7, true, false, false, false, 'g/p', [1, 2], false]),
  'resource-events/state-events': () =>
    events.pageStatement({ kind: issueKind, by: 'iid' }, stateEvents, pageOne, ofEvents),
  'resource-events/weight-events': () =>
    events.pageStatement({ kind: issueKind, by: 'iid' }, weightEvents, pageOne, ofEvents),
  'issues/issues-weighing': () => listed({ weight: 3 }),
  'issues/issues-with-any-weight': () => listed({ weight: 'Any' }),
  'issues/issues-without-weight': () => listed({ weight: 'None' }),
  'issues/issues-by-weight': () => listed({ weight: 'Any' }, { orderBy: 'weight', sort: 'asc' }),
  'issues/issues-with-my-emoji': () => listed({ reaction: 'rocket' }),
  'issues/issues-searched': () => listed({ search: 'first egg' }),
  'issues/issues-of-group-searched': () => planGroupList({ search: 'first egg' }),
  'issues/issues-of-instance-searched': () => planInstanceList({ scope: 'all', search: 'first egg' }),
  'milestones/milestones-searched': () => milestones.pageStatement('project', { search: 'egg' }, pageOne, planned),
  'issues/issues-by-due-date': () => listed({ dueDate: 'any' }, { orderBy: 'due_date', sort: 'asc' }),
  'issues/issues-closed': () => listed({ state: 'closed' }),
  'issues/issues-of-author': () => listed({ people: { author: { id: 7 } } }),
  'issues/issues-of-author-by-name': () => listed({ people: { author: { username: 'user7' } } }),
  'issues/issues-not-of-author': () => listed({ not: { author: { id: 7 } } }),
  'issues/issues-of-assignee': () => listed({ people: { assignee: { id: 7 } } }),
  'issues/issues-of-assignee-by-name': () => listed({ people: { assignee: { usernames: ['user7'] } } }),
  'issues/issues-not-of-assignee': () => listed({ not: { assignee: { id: 7 } } }),
  'issues/issues-by-number': () => listed({ iids: [7, 8] }),
  'issues/issues-of-type': () => listed({ issueType: 'incident' }),
  'issues/issues-confidential': () => listed({ confidential: true }),
  'issues/issues-overdue': () => listed({ dueDate: 'overdue' }),
  'issues/issues-with-any-due-date': () => listed({ dueDate: 'any' }),
  'issues/issues-due-this-week': () => listed({ dueDate: 'week' }),
  'issues/issues-without-due-date': () => listed({ dueDate: '0' }),
  'issues/issues-created-after': () => listed({ createdAfter: new Date('2026-01-01T00:00:00Z') }),
  'issues/issues-created-before': () => listed({ createdBefore: new Date('2100-01-01T00:00:00Z') }),
  'issues/issues-changed-after': () => listed({ updatedAfter: new Date('2026-01-01T00:00:00Z') }),
  'issues/issues-changed-before': () => listed({ updatedBefore: new Date('2100-01-01T00:00:00Z') }),
  'issues/issues-with-any-emoji-of-mine': () => listed({ reaction: 'Any' }),
  'issues/issues-without-my-emoji': () => listed({ reaction: 'None' }),
  'issues/issues-by-title': () => listed({}, { orderBy: 'title', sort: 'asc' }),
  'issues/issues-by-position': () => listed({}, { orderBy: 'relative_position', sort: 'asc' }),
  'issues/issues-by-popularity': () => listed({}, { orderBy: 'popularity' }),
  'issues/issues-by-milestone-due': () => listed({}, { orderBy: 'milestone_due', sort: 'asc' }),
  'issues/issues-by-priority': () => listed({}, { orderBy: 'priority', sort: 'asc' }),
};

test.each(Object.keys(HOT))('%s keeps its plan', async (name) => {
  const shape = await expectPlan(pool, join(__dirname, '../golden', name), HOT[name]!());
  // The directory of a test is so small that full scans of it are acceptable.
  expect(shape).not.toMatch(
    /Seq Scan on (notes|issues|issue_texts|issue_assignees|labels|label_links|resource_(label|milestone)_events|milestones)\b/,
  );
});

test.each(['created_at', 'updated_at'] as const)(
  'sorted by %s only the rows of the page are read, however many notes exist',
  async (orderBy) => {
    const plan = await planOf(pool, planNoteList({ orderBy }), 'run');
    expect(countReadRows(plan, 'notes')).toBe(20);
  },
);

test.each(Object.keys(HOT).filter((name) => /^issues\/.*searched$/.test(name)))(
  '%s uses the trigram index for any words',
  async (name) => {
    const { text } = HOT[name]!() as Statement;
    const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`explain (generic_plan, costs off) ${text}`);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/Bitmap Index Scan on ix_issue_texts_text/);
    expect(plan).not.toMatch(/Seq Scan on issue/);
  },
);
