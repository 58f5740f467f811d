import type { DirectoryUser } from '@rookery/contracts';
import { InstanceSettings } from '@rookery/instance';
import type { SeededService, SeededUser } from '@rookery/testing';
import { eventsOf, startCollaboration } from '../support/app';
import { epicPlaces } from '../support/epics';
import { MergeActions } from '../support/merge-actions';
import { MergeRequestScene } from '../support/merge-request-scene';

let service: SeededService;
let path: string;

const limit = {
  NOTES_CREATES_PER_MINUTE_COUNT: '3',
  NOTES_PER_NOTEABLE_COUNT: '10',
  NOTES_UNLIMITED_USER_IDS: '777',
};

beforeAll(async () => {
  service = await startCollaboration(limit);
  const project = await service.seed.project();
  const owner = await service.seed.user();
  const { body: issue }: { body: { iid: number } } = await service.app
    .as(service.seed.viewer(owner))
    .post(`/api/v4/projects/${project.id}/issues`)
    .send({ title: 'x' })
    .expect(201);
  path = `/api/v4/projects/${project.id}/issues/${issue.iid}/notes`;
});
afterAll(() => service.close());

async function aWriter(over: Partial<DirectoryUser> = {}) {
  const user = await service.seed.user(over);
  const client = service.app.as(service.seed.viewer(user));
  return { user, write: (at = path) => client.post(at).send({ body: 'x' }) };
}
const statusesOf = async (writes: Promise<{ status: number }>[]) =>
  (await Promise.all(writes)).map((answer) => answer.status).sort();

test('the fourth note of a minute is refused, also with concurrent requests', async () => {
  const { user, write } = await aWriter();
  expect(await statusesOf(Array.from({ length: 6 }, () => write()))).toEqual([201, 201, 201, 429, 429, 429]);
  const refused = await write();
  expect(refused.body).toEqual({
    message: {
      error:
        'This endpoint has been requested too many times. Try again later. The limit notes_create_limit is 3 a minute, set by NOTES_CREATES_PER_MINUTE_COUNT.',
    },
  });
  expect(refused.headers).toMatchObject({
    'ratelimit-name': 'notes_create_limit',
    'ratelimit-limit': '3',
    'ratelimit-remaining': '0',
  });
  expect(Number(refused.get('retry-after'))).toBeGreaterThan(0);
  await service.database.query(
    `update note_creations set window_started_at = now() - interval '61 seconds' where user_id = $1`,
    [user.id],
  );
  await write().expect(201);
});

test('bots share the limit of their creator', async () => {
  const { user: maker, write } = await aWriter();
  const project = await service.seed.project();
  const issues = `/api/v4/projects/${project.id}/issues`;
  const { body: issue } = await service.app
    .as(service.seed.viewer(maker))
    .post(issues)
    .send({ title: 'x' })
    .expect(201);
  const there = `${issues}/${(issue as { iid: number }).iid}/notes`;
  const bot = async () => {
    const viewer = service.seed.viewer(await service.seed.user({ kind: 'service_account' }));
    return service.app.as({ ...viewer, creatorId: maker.id });
  };
  const [first, second] = [await bot(), await bot()];
  await first.post(there).send({ body: 'x' }).expect(201);
  await write(there).expect(201);
  await second.post(there).send({ body: 'x' }).expect(201);
  for (const client of [first, second, await bot()]) {
    const refused = await client.post(there).send({ body: 'x' }).expect(429);
    expect(Number(refused.get('retry-after'))).toBeGreaterThan(10);
    await client.post(there).send({ body: 'x\n/todo' }).expect(429);
  }
  await write(there).expect(429);
});

test('changes of many labels count, twenty as one note', async () => {
  const { user } = await aWriter();
  const client = service.app.as(service.seed.viewer(user));
  const group = await service.seed.group({ plan: 'ultimate' });
  await service.seed.member(user, group, 'owner');
  const project = await service.seed.project({ namespace_id: group.id });
  const labels = (count: number) => Array.from({ length: count }, (_, index) => `label ${index}`).join(',');
  const left = ({ headers }: { headers: Record<string, string> }) => headers['ratelimit-remaining'];
  const issues = `/api/v4/projects/${project.id}/issues`;
  const opened = await client.post(issues).send({ title: 'x', labels: labels(19) });
  expect([opened.status, left(opened)]).toEqual([201, undefined]);
  const own = `${issues}/${(opened.body as { iid: number }).iid}`;
  expect(
    left(
      await client
        .put(own)
        .send({ labels: labels(58) })
        .expect(200),
    ),
  ).toBe('2');
  const epics = `/api/v4/groups/${group.id}/epics`;
  const { body: epic } = await client.post(epics).send({ title: 'x' }).expect(201);
  const goal = `${epics}/${(epic as { iid: number }).iid}`;
  expect(
    left(
      await client
        .put(goal)
        .send({ labels: labels(41) })
        .expect(200),
    ),
  ).toBe('0');
  await client.put(own).send({ labels: '' }).expect(429);
  await client
    .post(issues)
    .send({ title: 'x', labels: labels(20) })
    .expect(429);
  await client
    .post(epics)
    .send({ title: 'x', labels: labels(20) })
    .expect(429);
  await client
    .put(own)
    .send({ remove_labels: labels(19) })
    .expect(200);
});

describe('a counted answer has rate limit headers', () => {
  const headersFor = (left: number) => ({
    'ratelimit-name': 'notes_create_limit',
    'ratelimit-limit': '3',
    'ratelimit-observed': String(3 - left),
    'ratelimit-remaining': String(left),
    'ratelimit-reset': expect.stringMatching(/^\d{10}$/) as string,
  });

  it('for notes, threads, answers in them and commands', async () => {
    const { user } = await aWriter();
    const client = service.app.as(service.seed.viewer(user));
    const note = await client.post(path).send({ body: 'x' }).expect(201);
    expect(note.headers).toMatchObject(headersFor(2));
    const threads = path.replace('notes', 'discussions');
    const thread = await client.post(threads).send({ body: 'x' }).expect(201);
    expect(thread.headers).toMatchObject(headersFor(1));
    const { id } = thread.body as { id: string };
    const answer = await client.post(`${threads}/${id}/notes`).send({ body: 'x' }).expect(201);
    expect(answer.headers).toMatchObject(headersFor(0));
    const { write } = await aWriter();
    expect((await write()).headers).toMatchObject(headersFor(2));
    const commanded = await aWriter();
    const reply = await service.app
      .as(service.seed.viewer(commanded.user))
      .post(path)
      .send({ body: '/subscribe' })
      .expect(202);
    expect(reply.headers).toMatchObject(headersFor(2));
  });

  it('and other answers do not', async () => {
    const { user } = await aWriter({ id: 777 });
    const client = service.app.as(service.seed.viewer(user));
    const unlimited = await client.post(path).send({ body: 'x' }).expect(201);
    const read = await client.get(path).expect(200);
    const refused = await client.post(path).send({}).expect(400);
    for (const { headers } of [unlimited, read, refused]) expect(headers['ratelimit-name']).toBeUndefined();
  });
});

test('a note refused for another reason does not count', async () => {
  const { write } = await aWriter();
  for (let i = 0; i < 5; i++) await write(path.replace(/\d+\/notes$/, '999/notes')).expect(404);
  await write().expect(201);
});

test('users of the allowlist can write up to the limit of the issue', async () => {
  const { write } = await aWriter({ id: 777 });
  let last = await write();
  let written = 1;
  while (last.status === 201 && written < 20) {
    last = await write();
    written++;
  }
  expect([last.status, last.body]).toEqual([400, { message: { base: ['Maximum number of comments exceeded'] } }]);
  const [issue] = await service.database.query<{ public_notes_count: number }>(
    `select public_notes_count from issues order by id`,
  );
  expect(issue).toEqual({ public_notes_count: 10 });
});

test('issue texts and changed notes count if they mention users', async () => {
  const { user, write } = await aWriter();
  const client = service.app.as(service.seed.viewer(user));
  const issues = path.replace(/\/\d+\/notes$/, '');
  const withoutMentions = await client.post(issues).send({ title: 'Nobody is named' }).expect(201);
  const notes = `${issues}/${withoutMentions.body.iid}/notes`;
  const { body: note } = await write(notes).expect(201);
  const edit = (body: string) => client.put(`${notes}/${note.id}`).send({ body });
  await edit('names @nobody-yet, and `@code` is none').expect(200);
  await edit('names @Nobody-Yet again').expect(200);
  await edit('names none').expect(200);
  await client.post(issues).send({ title: 'Look', description: 'Hello @all' }).expect(201);
  await edit('names @all').expect(429);
  for (const named of [{ title: '@all, look' }, { title: 'x', description: '- @all' }]) {
    const refused = await client.post(issues).send(named).expect(429);
    expect(Number(refused.get('retry-after'))).toBeGreaterThan(0);
  }
  await edit('still free of names').expect(200);
  const { body: free } = await client.post(issues).send({ title: 'Still nobody', description: 'a@b.example' });
  expect((await client.get(issues)).body[0]).toMatchObject({ iid: free.iid, title: 'Still nobody' });
});

test('a new issue counts only if it has assignees', async () => {
  const { user } = await aWriter();
  const place = await service.seed.project({ visibility: 'public' });
  await service.seed.member(user, place, 'planner');
  const client = service.app.as(service.seed.viewer(user));
  const open = (assignee_ids: number[]) =>
    client.post(`/api/v4/projects/${place.id}/issues`).send({ title: 'x', assignee_ids });
  for (let i = 0; i < 3; i++) await open([user.id]).expect(201);
  await open([user.id]).expect(429);
  await open([]).expect(201);
});

test('the system notes of one change count as one note of the actor', async () => {
  const { user, write } = await aWriter();
  const client = service.app.as(service.seed.viewer(user));
  const boxes = (mark: string) => `- [${mark}] a\n`.repeat(12);
  const { body: own }: { body: { iid: number } } = await client
    .post(path.replace(/\/\d+\/notes$/, ''))
    .send({ title: 'x', description: boxes(' ') })
    .expect(201);
  const issue = path.replace(/\d+\/notes$/, String(own.iid));
  const tick = (mark: string) => client.put(issue).send({ description: boxes(mark) });
  await tick('x').expect(200);
  await tick(' ').expect(200);
  await write(`${issue}/notes`).expect(201);
  const refused = await tick('x').expect(429);
  expect(Number(refused.get('retry-after'))).toBeGreaterThan(0);
  // The refused change had no effect, and a change without system notes is not counted.
  expect((await client.get(issue)).body).toMatchObject({ description: boxes(' ') });
  await client
    .put(issue)
    .send({ description: boxes(' ') })
    .expect(200);
});

describe('system notes count as one note, and beyond the limit the change is refused', () => {
  const places = epicPlaces(() => service);
  /** Creates a group, epics and issues as another user. */
  async function scene() {
    const group = await places.group({ plan: 'ultimate' });
    const project = await service.seed.project({ namespace_id: group.id });
    const [maker, user] = [await service.seed.user(), await service.seed.user()];
    for (const one of [maker, user]) await service.seed.member(one, group, 'owner');
    const open = async (title: string) => places.open(places.who(maker), group, { title });
    const [epic, child, other] = [await open('A'), await open('B'), await open('C')];
    const by = places.as(places.who(maker));
    const issue = async () =>
      (await by.post(`/api/v4/projects/${project.id}/issues`).send({ title: 'x' }).expect(201)).body as {
        id: number;
        iid: number;
      };
    const [free, serving] = [await issue(), await issue()];
    const epics = places.pathOf(group);
    const { body: link } = await by.post(`${epics}/${epic.iid}/issues/${serving.id}`).expect(201);
    await by.post(`${epics}/${epic.iid}/epics/${other.id}`).expect(201);
    return { user, project, epics, epic, child, other, free, serving, linkId: (link as { id: number }).id };
  }
  type Scene = Awaited<ReturnType<typeof scene>>;
  const on = ({ epics, epic }: Scene): string => `${epics}/${epic.iid}`;
  const issueOf = ({ project }: Scene, { iid }: { iid: number }): string =>
    `/api/v4/projects/${project.id}/issues/${iid}`;

  it.each<[string, 'post' | 'put' | 'delete', (s: Scene) => readonly [string, object?]]>([
    ['an epic is renamed', 'put', (s) => [on(s), { title: 'New' }]],
    ['the description of an epic changes', 'put', (s) => [on(s), { description: 'New' }]],
    ['an epic is closed', 'put', (s) => [on(s), { state_event: 'close' }]],
    ['an epic becomes confidential', 'put', (s) => [`${s.epics}/${s.child.iid}`, { confidential: true }]],
    ['an issue is added to an epic', 'post', (s) => [`${on(s)}/issues/${s.free.id}`]],
    ['an issue is added to an epic by epic_id', 'put', (s) => [issueOf(s, s.free), { epic_id: s.epic.id }]],
    ['an issue is removed from an epic', 'delete', (s) => [`${on(s)}/issues/${s.linkId}`]],
    ['an issue is removed from an epic by epic_id', 'put', (s) => [issueOf(s, s.serving), { epic_id: 0 }]],
    ['an epic gets a child', 'post', (s) => [`${on(s)}/epics/${s.child.id}`]],
    ['an epic gets a new child', 'post', (s) => [`${on(s)}/epics`, { title: 'D' }]],
    ['an epic gets a parent', 'put', (s) => [`${s.epics}/${s.child.iid}`, { parent_id: s.epic.id }]],
    ['an epic loses a child', 'delete', (s) => [`${on(s)}/epics/${s.other.id}`]],
    ['an issue becomes confidential', 'put', (s) => [issueOf(s, s.free), { confidential: true }]],
    ['an issue gets a due date', 'put', (s) => [issueOf(s, s.free), { due_date: '2030-01-02' }]],
    ['an issue is locked', 'put', (s) => [issueOf(s, s.free), { discussion_locked: true }]],
    ['time is spent', 'post', (s) => [`${issueOf(s, s.free)}/add_spent_time`, { duration: '1h' }]],
    ['time is estimated', 'post', (s) => [`${issueOf(s, s.free)}/time_estimate`, { duration: '1h' }]],
  ])('when %s', async (_, method, what) => {
    const made = await scene();
    const id = made.user.id;
    const [at, body] = what(made);
    const call = () => places.as(places.who(made.user))[method](at).send(body);
    const systemNotes = () => service.database.query(`select id from notes where system order by id`);
    await service.database.query(
      `insert into note_creations (user_id, window_started_at, notes_count) values ($1, now(), 3)`,
      [id],
    );
    const before = await systemNotes();
    expect((await call()).status).toBe(429);
    expect(await systemNotes()).toEqual(before);
    await service.database.query(`delete from note_creations where user_id = $1`, [id]);
    expect((await call()).status).toBeLessThan(300);
    expect((await systemNotes()).length).toBeGreaterThan(before.length);
    const counted = await service.database.query(`select notes_count from note_creations where user_id = $1`, [id]);
    expect(counted).toEqual([{ notes_count: 1 }]);
  });
});

describe('changes that are announced by e-mail count as one note', () => {
  let scene: MergeRequestScene;
  beforeAll(async () => {
    scene = await MergeRequestScene.start(service);
  });
  afterAll(() => scene.stop());

  const counter = (user: SeededUser) =>
    service.database.query('select notes_count from note_creations where user_id = $1', [user.id]);
  const fill = (user: SeededUser) =>
    service.database.query(
      `insert into note_creations (user_id, window_started_at, notes_count) values ($1, now(), 3)
       on conflict (user_id) do update set window_started_at = now(), notes_count = 3`,
      [user.id],
    );
  const reset = (user: SeededUser) =>
    service.database.query('delete from note_creations where user_id = $1', [user.id]);
  const steps = async (made: { readonly id: number }) =>
    (await eventsOf(service.database, 'collaboration.merge_request.progressed.v1'))
      .filter((data) => data['merge_request_id'] === made.id)
      .map((data) => data['step']);

  /** A merge request with an open thread and a running pipeline; an issue and a milestone of its project. */
  async function opened() {
    const here = await MergeActions.in(service, scene);
    const made = await here.open();
    const { maintainer: user } = here.place.cast;
    const by = here.as(user);
    const project = `/api/v4/projects/${here.place.project.id}`;
    const { body: issue } = await by.post(`${project}/issues`).send({ title: 'x' }).expect(201);
    const { body: milestone } = await by.post(`${project}/milestones`).send({ title: 'x' }).expect(201);
    const threads = `${here.path(made.iid)}/discussions`;
    const { body: thread } = await by.post(threads).send({ body: 'Why?' }).expect(201);
    await service.database.query(
      `insert into ci_pipelines (id, project_id, iid, sha, ref, is_tag, source, status, created_at, updated_at)
       values ($1, $2, 1, $3, $4, false, 'external', 'running', now(), now())`,
      [made.id, here.place.project.id, made.commits.at(-1), made.source],
    );
    return {
      here,
      made,
      user,
      by,
      issue: `${project}/issues/${issue.iid}`,
      milestone,
      thread: `${threads}/${thread.id}`,
      note: thread.notes[0].id,
    };
  }
  type Opened = Awaited<ReturnType<typeof opened>>;

  it.each<[string, (o: Opened) => readonly [string, object]]>([
    ['an issue gets a milestone', (o) => [o.issue, { milestone_id: o.milestone.id }]],
    ['a merge request gets a milestone', (o) => [o.here.path(o.made.iid), { milestone_id: o.milestone.id }]],
    ['the last open thread is resolved', (o) => [o.thread, { resolved: true }]],
    ['the last open note is resolved', (o) => [`${o.thread}/notes/${o.note}`, { resolved: true }]],
    ['an automatic merge is set', (o) => [`${o.here.path(o.made.iid)}/merge`, { auto_merge: true }]],
  ])('when %s', async (_, what) => {
    const made = await opened();
    const [at, body] = what(made);
    await fill(made.user);
    const refused = await made.by.put(at).send(body).expect(429);
    expect(refused.headers).toMatchObject({ 'ratelimit-name': 'notes_create_limit', 'ratelimit-remaining': '0' });
    expect(await steps(made.made)).toEqual([]);
    await reset(made.user);
    await made.by.put(at).send(body).expect(200);
    expect(await counter(made.user)).toEqual([{ notes_count: 1 }]);
    await made.by.put(at).send(body);
    expect(await counter(made.user)).toEqual([{ notes_count: 1 }]);
  });

  it('when a milestone is closed or opened again, whose entries fill feeds', async () => {
    const { here, user, by, milestone } = await opened();
    const at = `/api/v4/projects/${here.place.project.id}/milestones/${milestone.id}`;
    await fill(user);
    await by.put(at).send({ state_event: 'close' }).expect(429);
    await by.put(at).send({ title: 'y' }).expect(200);
    expect((await by.get(at).expect(200)).body).toMatchObject({ title: 'y', state: 'active' });
    await reset(user);
    for (const state_event of ['close', 'close', 'activate']) await by.put(at).send({ state_event }).expect(200);
    expect(await counter(user)).toEqual([{ notes_count: 2 }]);
  });

  it('when a push adds commits, which is never refused, but not announced beyond the limit', async () => {
    const { here, made, user } = await opened();
    await reset(user);
    for (const title of ['Second', 'Third', 'Fourth']) await scene.push(here.place, made.source, [title]);
    expect(await counter(user)).toEqual([{ notes_count: 3 }]);
    const [head] = await scene.push(here.place, made.source, ['Fifth']);
    expect(await here.shown(made.iid)).toMatchObject({ sha: head });
    expect((await here.notes(made.iid)).filter((body) => body.startsWith('added 1 commit'))).toHaveLength(4);
    expect(await steps(made)).toEqual(['pushed', 'pushed', 'pushed']);
    expect(await counter(user)).toEqual([{ notes_count: 3 }]);
    await reset(user);
    await scene.push(here.place, made.source, ['Sixth']);
    expect(await steps(made)).toHaveLength(4);
  });
});

describe('a copied issue counts by its content', () => {
  const KIB = 1024;
  /** Creates an owner of two projects, and an issue by another user. */
  async function planner(notes: { count: number; bytes: number; system?: boolean }, described = 1) {
    const { user } = await aWriter();
    const [place, target] = [await service.seed.project(), await service.seed.project()];
    for (const project of [place, target]) await service.seed.member(user, project, 'owner');
    const author = await service.seed.user();
    await service.seed.member(author, place, 'owner');
    const { body: issue }: { body: { id: number; iid: number } } = await service.app
      .as(service.seed.viewer(author))
      .post(`/api/v4/projects/${place.id}/issues`)
      .send({ title: 'x', description: 'x'.repeat(described) })
      .expect(201);
    await service.database.query(
      `insert into notes (noteable_type, noteable_id, project_id, author_id, body, system)
       select 'Issue', $1, $2, $3, repeat('x', $5::integer), $6::boolean from generate_series(1, $4::integer)`,
      [issue.id, place.id, author.id, notes.count, notes.bytes, notes.system ?? false],
    );
    const client = service.app.as(service.seed.viewer(user));
    const copy = (verb: string, fields: Record<string, unknown> = { with_notes: true }) =>
      client
        .post(`/api/v4/projects/${place.id}/issues/${issue.iid}/${verb}`)
        .send({ to_project_id: target.id, ...(verb === 'clone' ? fields : {}) });
    const say = (body: string) => client.post(`/api/v4/projects/${place.id}/issues/${issue.iid}/notes`).send({ body });
    const counted = async () =>
      (
        await service.database.query<{ n: number }>(
          `select notes_count as n from note_creations where user_id = $1 and window_started_at > now() - interval '1 minute'`,
          [user.id],
        )
      )[0]?.n ?? 0;
    const written = async () =>
      (
        await service.database.query(
          `select (select count(*)::int from issues where project_id = $1) as issues,
             (select count(*)::int from notes where project_id = $1) as notes`,
          [target.id],
        )
      )[0];
    return { user, copy, say, counted, written, target };
  }
  const NOTHING = { issues: 0, notes: 0 };

  test.each<
    [string, string, { count: number; bytes: number; system?: boolean }, number, Record<string, unknown>, number]
  >([
    ['a clone without notes', 'clone', { count: 50, bytes: 64 * KIB }, 1, {}, 1],
    ['a long description', 'clone', { count: 0, bytes: 0 }, 64 * KIB, {}, 2],
    ['few short notes', 'clone', { count: 5, bytes: 100 }, 1, { with_notes: true }, 1],
    ['fifty medium notes', 'clone', { count: 50, bytes: 500 }, 1, { with_notes: true }, 2],
    ['system notes', 'clone', { count: 70, bytes: 10, system: true }, 1, { with_notes: true }, 2],
    ['the move of fifty medium notes', 'move', { count: 50, bytes: 500 }, 1, {}, 2],
  ])('%s', async (_, verb, notes, described, fields, expected) => {
    const { copy, counted } = await planner(notes, described);
    await copy(verb, fields).expect(201);
    expect(await counted()).toBe(expected);
  });

  test.each(['clone', 'move'])('%s: beyond the limit nothing is written or counted', async (verb) => {
    const { user, copy, say: setLimits, counted, written } = await planner({ count: 3, bytes: 60 * KIB });
    await setLimits('one').expect(201);
    const refused = await copy(verb).expect(429);
    expect(refused.body).toEqual({
      message: {
        error:
          'This endpoint has been requested too many times. Try again later. The limit notes_create_limit is 3 a minute, set by NOTES_CREATES_PER_MINUTE_COUNT.',
      },
    });
    expect(Number(refused.get('retry-after'))).toBeGreaterThan(0);
    expect([await counted(), await written()]).toEqual([1, NOTHING]);
    await service.database.query(
      `update note_creations set window_started_at = now() - interval '61 seconds' where user_id = $1`,
      [user.id],
    );
    await copy(verb).expect(201);
    await setLimits('no more').expect(429);
  });

  test('content beyond the limit of a minute uses the whole limit', async () => {
    const { copy, counted, written } = await planner({ count: 20, bytes: 60 * KIB });
    await copy('clone').expect(201);
    expect(await counted()).toBe(3);
    const before = await written();
    for (const fields of [{ with_notes: true }, {}]) await copy('clone', fields).expect(429);
    expect(await written()).toEqual(before);
  });

  test('by a command too, which is refused as a whole', async () => {
    const { user, say, counted, written, target } = await planner({ count: 2, bytes: 60 * KIB });
    const { body: there } = await service.app
      .as(service.seed.viewer(user))
      .get(`/api/v4/projects/${target.id}/issues`)
      .expect(200);
    expect(there).toEqual([]);
    const [{ path: home }] = (await service.database.query<{ path: string }>(
      `select n.full_path || '/' || p.path as path from directory_projects p
       join directory_namespaces n on n.id = p.namespace_id where p.id = $1`,
      [target.id],
    )) as [{ path: string }];
    await say('one').expect(201);
    await say('two').expect(201);
    await say(`Look\n/clone ${home} --with_notes`).expect(429);
    expect([await counted(), await written()]).toEqual([2, NOTHING]);
    await service.database.query(
      `update note_creations set window_started_at = now() - interval '61 seconds' where user_id = $1`,
      [user.id],
    );
    await say(`Look\n/clone ${home} --with_notes`).expect(201);
    expect(await counted()).toBe(2);
  });
});

test('an administrator can change the limit and its allowlist at runtime', async () => {
  const [limited, free] = [await aWriter(), await aWriter({ username: 'free-bird' })];
  const issues = path.replace(/\/\d+\/notes$/, '');
  const author = service.app.as(service.seed.viewer(limited.user));
  const { body: issue }: { body: { iid: number } } = await author.post(issues).send({ title: 'x' }).expect(201);
  const notes = `${issues}/${issue.iid}/notes`;
  const say = (settings: Record<string, unknown>) =>
    service.app.get(InstanceSettings).applyAnswer({ version: 1, features: {}, settings });
  try {
    say({ notes_create_limit: 1, notes_create_limit_allowlist: [free.user.id] });
    for (const status of [201, 429]) await limited.write(notes).expect(status);
    for (const status of [201, 201]) await free.write(notes).expect(status);
    await service.seed.put('users', { ...free.user, username: 'renamed-bird' });
    await free.write(notes).expect(201);
    const { write } = await aWriter({ username: 'free-bird' });
    for (const status of [201, 429]) await write(notes).expect(status);
    say({ notes_create_limit: 2 });
    for (const status of [201, 429]) await limited.write(notes).expect(status);
    say({ notes_create_limit: 0 });
    await limited.write(notes).expect(201);
  } finally {
    say({});
  }
});

test('a process that starts while admin is down uses the last known settings', async () => {
  const { user } = await aWriter();
  const issues = path.replace(/\/\d+\/notes$/, '');
  const client = service.app.as(service.seed.viewer(user));
  const { body: issue }: { body: { iid: number } } = await client.post(issues).send({ title: 'x' }).expect(201);
  await service.database.query('update instance_answers set version = 2, answer = $1', [
    { version: 2, features: {}, settings: { notes_create_limit: 1 } },
  ]);
  const restarted = await service.again({});
  try {
    const write = () =>
      restarted.as(service.seed.viewer(user)).post(`${issues}/${issue.iid}/notes`).send({ body: 'x' });
    for (const status of [201, 429]) await write().expect(status);
  } finally {
    await restarted.close();
  }
});

test('a service that has never received settings refuses writes', async () => {
  await service.database.query('delete from instance_answers');
  const restarted = await service.again({});
  try {
    const { user } = await aWriter();
    const refused = await restarted.as(service.seed.viewer(user)).post(path).send({ body: 'x' });
    expect([refused.status, refused.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
  } finally {
    await restarted.close();
  }
});
