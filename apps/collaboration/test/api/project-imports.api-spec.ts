import type { DirectoryProject } from '@rookery/contracts';
import { INTERNAL_PATHS } from '@rookery/contracts';
import { registerProjectDeletionTests, internalAuthorization } from '@rookery/testing';
import type { SeededService, SeededUser } from '@rookery/testing';
import { startCollaboration } from '../support/app';

let service: SeededService;
let owner: SeededUser;
let robin: SeededUser;
let merlin: SeededUser;
beforeAll(async () => {
  service = await startCollaboration({ NOTES_PER_NOTEABLE_COUNT: '3' });
  owner = await service.seed.user();
  [robin, merlin] = [await service.seed.user(), await service.seed.user()];
});
afterAll(() => service.close());

const AT = '2024-01-02T03:04:05.000Z';
const LATER = '2024-02-03T04:05:06.000Z';
const issue = (number: number, over: object = {}) => ({
  ...{ number, author_id: robin.id, title: `Issue ${number}`, description: 'Text', state: 'opened', is_locked: false },
  ...{ created_at: AT, updated_at: LATER, closed_at: null, assignee_ids: [], labels: [], milestone: null },
  ...over,
});
const note = (id: number, number: number, over: object = {}) => ({
  ...{ id, issue: number, author_id: merlin.id, body: `Note ${id}`, created_at: AT, updated_at: AT },
  ...over,
});
const milestone = (number: number, title: string, over: object = {}) => ({
  ...{ number, title, description: null, state: 'active', due_on: null, created_at: AT, updated_at: LATER },
  ...over,
});
const label = (name: string, over: object = {}) => ({ name, color: '#d73a4a', description: null, ...over });

const postImport = (body: object, caller: 'import' | 'package' = 'import') =>
  service.app
    .bare()
    .post(INTERNAL_PATHS.importObjects)
    .set('authorization', internalAuthorization(caller, 'collaboration'))
    .send(body);
const write = async ({ id }: { readonly id: number }, kind: string, objects: readonly object[]) =>
  (await postImport({ project_id: id, import_type: 'remote', kind, objects }).expect(200)).body.failed as object[];
const show = async ({ id }: DirectoryProject, path: string) =>
  (await service.app.as(service.seed.viewer(owner)).get(`/api/v4/projects/${id}${path}`).expect(200)).body as Record<
    string,
    unknown
  >[] &
    Record<string, unknown>;

async function place(over: Partial<DirectoryProject> = {}): Promise<DirectoryProject> {
  const project = await service.seed.project(over);
  await service.seed.member(owner, project, 'owner');
  return project;
}

it('writes changes of issues as resource events and system notes, once each', async () => {
  const project = await place({ visibility: 'public' });
  await write(project, 'label', [label('bug')]);
  await write(project, 'milestone', [milestone(7, 'v1')]);
  await write(project, 'issue', [issue(3, { labels: ['bug'] }), issue(8), issue(9)]);
  await service.app.as(service.seed.viewer(owner)).delete(`/api/v4/projects/${project.id}/issues/9`).expect(204);
  const change = (id: number, name: string, over: object = {}) => ({
    ...{
      id,
      issue: 3,
      merge_request: null,
      author_id: robin.id,
      change: name,
      name: null,
      before: null,
      created_at: AT,
    },
    ...over,
  });
  const changes = [
    change(1, 'closed', { author_id: merlin.id }),
    change(2, 'reopened', { created_at: LATER }),
    change(3, 'label_added', { name: 'bug' }),
    change(4, 'label_removed', { name: 'gone' }),
    change(5, 'milestone_added', { name: 'v1' }),
    change(6, 'milestone_removed', { name: 'gone' }),
    change(7, 'renamed', { before: 'A door', name: 'A window' }),
    change(8, 'assigned', { name: 'merlin', created_at: LATER }),
    change(9, 'mentioned', { name: '#8', created_at: LATER }),
    change(10, 'closed', { issue: 4 }),
    change(11, 'closed', { issue: 9 }),
    change(12, 'mentioned', { name: '!8', created_at: LATER }),
  ];
  const left = [
    { index: 3, message: 'Its label does not exist.' },
    { index: 5, message: 'Its milestone does not exist.' },
    { index: 9, message: 'Its issue was not imported.' },
    { index: 10, message: 'Its issue was not imported.' },
    { index: 11, message: 'The object that mentions it was not imported.' },
  ];
  expect(await write(project, 'issue_event', changes)).toEqual(left);
  expect(await write(project, 'issue_event', changes)).toEqual(left);
  const states = await show(project, '/issues/3/resource_state_events');
  expect(states.map((one) => [one['state'], one['created_at'], (one['user'] as { id: number }).id])).toEqual([
    ['closed', AT, merlin.id],
    ['reopened', LATER, robin.id],
  ]);
  expect(await show(project, '/issues/3/resource_label_events')).toMatchObject([
    { action: 'add', created_at: AT, label: { name: 'bug' }, user: { id: robin.id } },
  ]);
  expect(await show(project, '/issues/3/resource_milestone_events')).toMatchObject([
    { action: 'add', created_at: AT, milestone: { title: 'v1' }, user: { id: robin.id } },
  ]);
  const notes = await show(project, '/issues/3/notes?sort=asc&order_by=created_at');
  expect(notes.map((one) => [one['body'], one['created_at'], one['system'], one['imported_from']])).toEqual([
    ['changed title from **A {-door-}** to **A {+window+}**', AT, true, 'remote'],
    ['assigned to `@merlin`', LATER, true, 'remote'],
    ['mentioned in issue #8', LATER, true, 'remote'],
  ]);
  const viewer = service.app.as(service.seed.viewer(owner));
  await viewer.put(`/api/v4/projects/${project.id}/issues/8`).send({ confidential: true }).expect(200);
  const guest = service.app.as(service.seed.viewer(await service.seed.user()));
  const { body } = await guest.get(`/api/v4/projects/${project.id}/issues/3/notes?sort=asc&order_by=created_at`);
  expect((body as { body: string }[]).at(-1)!.body).not.toContain('#8');
  expect(await show(project, '/issues/3')).toMatchObject({ state: 'opened', updated_at: LATER, user_notes_count: 0 });
});

it('writes labels, milestones, issues and notes with their authors, times and states', async () => {
  const project = await place();
  expect(await write(project, 'label', [label('bug', { description: 'Broken' }), label('idea')])).toEqual([]);
  const closed = milestone(7, 'v1', { state: 'closed', due_on: '2024-05-06', description: 'First' });
  expect(await write(project, 'milestone', [closed, milestone(9, 'v2')])).toEqual([]);
  const first = issue(3, {
    ...{ state: 'closed', closed_at: LATER, is_locked: true, labels: ['idea', 'bug', 'unknown'], milestone: 7 },
    ...{ assignee_ids: [merlin.id, robin.id], description: 'See @merlin\n- [x] done\n- [ ] open' },
  });
  expect(await write(project, 'issue', [first, issue(8)])).toEqual([]);
  expect(await write(project, 'note', [note(52, 3, { created_at: LATER }), note(51, 3), note(53, 8)])).toEqual([]);

  expect(await show(project, '/labels?with_counts=true')).toMatchObject([
    { name: 'bug', color: '#d73a4a', description: 'Broken', open_issues_count: 0, closed_issues_count: 1 },
    { name: 'idea', description: null },
  ]);
  expect(await show(project, '/milestones?state=closed')).toMatchObject([
    {
      ...{ iid: 7, title: 'v1', description: 'First', state: 'closed', due_date: '2024-05-06' },
      ...{ created_at: AT, updated_at: LATER },
    },
  ]);
  const shown = await show(project, '/issues/3');
  expect(shown).toMatchObject({
    ...{ iid: 3, title: 'Issue 3', state: 'closed', imported: true, imported_from: 'remote', user_notes_count: 2 },
    ...{
      description: 'See `@merlin`\n- [x] done\n- [ ] open',
      task_completion_status: { count: 2, completed_count: 1 },
    },
    ...{ created_at: AT, updated_at: LATER, closed_at: LATER, closed_by: null, discussion_locked: true },
    ...{ labels: ['bug', 'idea'], author: { id: robin.id }, milestone: { iid: 7 }, confidential: false },
    assignees: [{ id: merlin.id }, { id: robin.id }],
  });
  const notes = await show(project, '/issues/3/notes?sort=asc&order_by=created_at');
  expect(
    notes.map((one) => [one['body'], one['created_at'], one['imported'], one['imported_from'], one['system']]),
  ).toEqual([
    ['Note 51', AT, true, 'remote', false],
    ['Note 52', LATER, true, 'remote', false],
  ]);
  expect(notes.map((one) => one['id'])).toEqual([...notes.map((one) => Number(one['id']))].sort((a, b) => a - b));
  expect(await show(project, '/issues?search=Issue%208')).toMatchObject([{ iid: 8 }]);
});

it('changes nothing when it writes the same objects again', async () => {
  const project = await place();
  const all = [
    ['label', [label('bug')]],
    ['milestone', [milestone(1, 'v1')]],
    ['issue', [issue(1, { labels: ['bug'], milestone: 1, assignee_ids: [robin.id] })]],
    ['note', [note(11, 1), note(11, 1)]],
  ] as const;
  const state = async () => [
    await show(project, '/labels'),
    await show(project, '/milestones'),
    await show(project, '/issues'),
    await show(project, '/issues/1/notes'),
  ];
  for (const [kind, objects] of all) expect(await write(project, kind, objects)).toEqual([]);
  const before = await state();
  expect(before[3]).toHaveLength(1);
  for (const [kind, objects] of all) {
    const changed = objects.map((object) => ({ ...object, title: 'Other', body: 'Other', color: '#000000' }));
    expect(await write(project, kind, kind === 'label' ? objects : changed)).toEqual([]);
  }
  expect(await state()).toEqual(before);
});

it('does not bring deleted objects back', async () => {
  const project = await place();
  await write(project, 'issue', [issue(1), issue(2)]);
  await service.app.as(service.seed.viewer(owner)).delete(`/api/v4/projects/${project.id}/issues/1`).expect(204);
  expect(await write(project, 'issue', [issue(1), issue(2)])).toEqual([]);
  expect(await write(project, 'note', [note(21, 1), note(22, 2)])).toEqual([
    { index: 0, message: 'Its issue was not imported.' },
  ]);
  expect(await show(project, '/issues')).toMatchObject([{ iid: 2, user_notes_count: 1 }]);
});

it('continues numbers after the imported ones, and leaves used numbers alone', async () => {
  const project = await place();
  const client = service.app.as(service.seed.viewer(owner));
  const create = async (resource: string) =>
    (
      await client
        .post(`/api/v4/projects/${project.id}/${resource}`)
        .send({ title: `Own ${resource}` })
        .expect(201)
    ).body.iid as number;
  expect([await create('issues'), await create('milestones')]).toEqual([1, 1]);
  expect(await write(project, 'issue', [issue(1), issue(5)])).toEqual([
    { index: 0, message: 'Its number is used by another issue.' },
  ]);
  expect(
    await write(project, 'milestone', [milestone(1, 'a'), milestone(4, 'b'), milestone(5, 'Own milestones')]),
  ).toEqual([0, 2].map((index) => ({ index, message: 'Its number or its title is used by another milestone.' })));
  expect([
    await create('issues'),
    await client.post(`/api/v4/projects/${project.id}/milestones`).send({ title: 'c' }),
  ]).toEqual([6, expect.objectContaining({ status: 201, body: expect.objectContaining({ iid: 5 }) as object })]);
});

it('uses labels of groups above, and no title of their milestones', async () => {
  const group = await service.seed.group();
  await service.seed.member(owner, group, 'owner');
  const project = await place({ namespace_id: group.id });
  const client = service.app.as(service.seed.viewer(owner));
  const { body: above } = await client
    .post(`/api/v4/groups/${group.id}/labels`)
    .send({ name: 'bug', color: '#112233' })
    .expect(201);
  await client.post(`/api/v4/groups/${group.id}/milestones`).send({ title: 'v1' }).expect(201);
  expect(await write(project, 'label', [label('bug')])).toEqual([]);
  expect(await write(project, 'milestone', [milestone(1, 'v1')])).toHaveLength(1);
  await write(project, 'issue', [issue(1, { labels: ['bug'], milestone: 1 })]);
  const [shown] = await show(project, '/issues?with_labels_details=true');
  expect(shown).toMatchObject({ labels: [{ id: above.id, color: '#112233' }], milestone: null });
});

it('cuts long titles, and lists objects that break a rule', async () => {
  const project = await place();
  expect(
    await write(project, 'label', [label('a,b'), label('ok'), label('x', { color: '#nocolor' }), label(' ')]),
  ).toEqual([
    { index: 0, message: 'Title is invalid.' },
    { index: 2, message: 'Color must be a valid color code.' },
    { index: 3, message: "Title can't be blank." },
  ]);
  expect(await write(project, 'milestone', [milestone(1, '')])).toEqual([
    { index: 0, message: "Title can't be blank." },
  ]);
  expect(await write(project, 'issue', [issue(1, { title: '🪶'.repeat(256) }), issue(2, { title: ' ' })])).toEqual([
    { index: 1, message: "Title can't be blank." },
  ]);
  expect((await show(project, '/issues/1'))['title']).toBe('🪶'.repeat(255));
  const notes = [note(1, 1, { body: ' ' }), ...[2, 3, 4, 5].map((id) => note(id, 1)), note(6, 9)];
  expect(await write(project, 'note', notes)).toEqual([
    { index: 0, message: 'Text is blank or too long.' },
    { index: 4, message: 'Its issue has too many comments.' },
    { index: 5, message: 'Its issue was not imported.' },
  ]);
  expect(await show(project, '/issues/1')).toMatchObject({ user_notes_count: 3 });
});

it('causes no to-do, no e-mail and no entry in the feed, and counts open issues', async () => {
  const project = await place();
  const count = (table: string) =>
    service.database
      .query<{ count: number }>(`select count(*)::int as count from ${table}`)
      .then(([row]) => row!.count);
  const tables = ['todos', 'activity_events', 'resource_label_events', 'resource_milestone_events'];
  const before = await Promise.all(tables.map(count));
  const [last] = await service.database.query<{ id: number }>('select coalesce(max(id), 0) as id from outbox');
  const text = `@${owner.username} /close\n\n/assign @${owner.username}`;
  await write(project, 'label', [label('bug')]);
  await write(project, 'issue', [
    issue(1, { description: text, assignee_ids: [owner.id], labels: ['bug'] }),
    issue(2, { state: 'closed' }),
  ]);
  await write(project, 'note', [note(1, 1, { body: text })]);
  expect(await Promise.all(tables.map(count))).toEqual(before);
  const events = await service.database.query<{ subject: string; payload: object }>(
    `select subject, payload from outbox where id > $1`,
    [last!.id],
  );
  const counted = { project_id: project.id, open_issues_count: 1, open_public_issues_count: 1 };
  expect(events).toEqual([
    { subject: 'collaboration.project_issues.counted.v1', payload: expect.objectContaining(counted) as object },
  ]);
  expect(await show(project, '/issues/1')).toMatchObject({ state: 'opened' });
});

it('runs once at a time for a project', async () => {
  const project = await place();
  const answers = await Promise.all(Array.from({ length: 4 }, () => write(project, 'issue', [issue(1), issue(2)])));
  expect(answers).toEqual([[], [], [], []]);
  expect(await show(project, '/issues')).toHaveLength(2);
});

it('keeps texts that describe the character NUL', async () => {
  const project = await place();
  const text = 'The text "\\u0000" of a report';
  expect(await write(project, 'issue', [issue(1, { description: text })])).toEqual([]);
  expect(await show(project, '/issues/1')).toMatchObject({ description: text });
});

it('refuses other callers, malformed objects, and projects that are missing or archived', async () => {
  const { id } = await place();
  const body = { project_id: id, import_type: 'remote', kind: 'label', objects: [label('x')] };
  await postImport(body, 'package').expect(403);
  for (const over of [
    { kind: 'epic' },
    { kind: 'issue' },
    { project_id: '1' },
    { import_type: 'other' },
    { objects: [label('x\0')] },
    { objects: Array.from({ length: 101 }, (_, at) => label(`l${at}`)) },
  ]) {
    expect((await postImport({ ...body, ...over }).expect(400)).body).toEqual({ error: 'objects is invalid' });
  }
  await postImport({ ...body, project_id: 999_999 }).expect(404);
  await postImport({ ...body, project_id: (await place({ archived: true })).id }).expect(404);
});

registerProjectDeletionTests({
  service: () => service,
  effect: 'drop-imported-objects',
  tables: ['imported_objects'],
  fill: async (_, project) => write(project, 'issue', [issue(1)]),
});
