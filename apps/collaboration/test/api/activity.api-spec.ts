import { randomUUID } from 'node:crypto';
import { noteCreated } from '@rookery/contracts';
import type { DirectoryProject } from '@rookery/contracts';
import { Work } from '@rookery/persistence';
import { registerListPagingTests, startNats } from '@rookery/testing';
import type { PrivateNats, SeededService } from '@rookery/testing';
import { ActivityConsumer } from '../../src/following/activity/activity.consumer';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { issueActions } from '../support/issue-actions';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

let service: SeededService;
let nats: PrivateNats;
let worker: Worker;
let project: DirectoryProject;
let cast: Cast;

beforeAll(async () => {
  service = await startCollaboration();
  nats = await startNats();
  worker = await startWorker({ databaseUrl: service.databaseUrl, nats });
});
afterAll(async () => {
  await worker.stop();
  await nats.drop();
  await service.close();
});
const useProject = async (over: Partial<DirectoryProject> = {}): Promise<void> => {
  project = await service.seed.project(over);
  cast = await castOf(service.seed, project);
};
beforeEach(() => useProject());

type Body = Record<string, unknown>;
const { by, anIssue, comment, edit } = issueActions(() => ({ service, project, cast }));
const anonymous = () => service.app.as(service.seed.anonymous());
const feed = async (client: ReturnType<typeof by>, path: string, query: Body = {}): Promise<Body[]> => {
  await worker.drained();
  const { body } = await client.get(path).query(query).expect(200);
  return body;
};
const actionsAndTargetsOf = (events: Body[]) =>
  events.map((event) => `${event['action_name'] as string} ${event['target_type'] as string}`);
const createEvent = <D>(data: D, actorId: number | null = null) => ({
  id: randomUUID(),
  time: new Date().toISOString(),
  aggregateType: 'any',
  aggregateId: 1,
  actorId,
  data,
});
const at = new Date().toISOString();
const activityConsumer = () => worker.get(ActivityConsumer);
const runInTransaction = (run: (tx: never) => Promise<void>) => worker.get(Work).run((tx) => run(tx as never));

describe('an entry', () => {
  test('for an issue and its notes', async () => {
    const issue = await anIssue({ title: 'Title "x"' });
    const note = await comment(issue, 'hello', cast.guest);
    const [noted, opened] = await feed(by(cast.reporter), `/api/v4/projects/${project.id}/events`);
    const author = expect.objectContaining({ id: cast.owner.id, username: cast.owner.username });
    expect(opened).toEqual({
      id: expect.any(Number),
      title: null,
      project_id: project.id,
      action_name: 'opened',
      target_id: issue.id,
      target_iid: issue.iid,
      target_type: 'Issue',
      author_id: cast.owner.id,
      target_title: 'Title "x"',
      created_at: expect.stringMatching(/\.\d{3}Z$/),
      imported: false,
      imported_from: 'none',
      author_username: cast.owner.username,
      data: null,
      author,
    });
    const whole = (await by(cast.reporter).get(`/api/v4/projects/${project.id}/issues/${issue.iid}/notes/${note.id}`))
      .body;
    expect(noted).toMatchObject({
      action_name: 'commented on',
      target_id: note.id,
      target_iid: note.id,
      target_type: 'Note',
      target_title: 'Title "x"',
      author_username: cast.guest.username,
      note: whole,
    });
  });

  test('exists for each action, and not for system notes, titles or assignees', async () => {
    const issue = await anIssue();
    await edit(issue, { state_event: 'close' });
    await edit(issue, { state_event: 'reopen', title: 'Other' });
    await edit(issue, { assignee_ids: [cast.guest.id] });
    const events = await feed(by(cast.owner), '/api/v4/events');
    expect(actionsAndTargetsOf(events)).toEqual(['opened Issue', 'closed Issue', 'opened Issue']);
    const actions = async (action: string) => (await feed(by(cast.owner), '/api/v4/events', { action })).length;
    expect([await actions('created'), await actions('closed'), await actions('reopened')]).toEqual([1, 1, 1]);
  });

  test('for projects and their members', async () => {
    const facts = { user_id: cast.guest.id, source_type: 'project' as const, source_id: project.id };
    const group = { ...facts, source_type: 'group' as const };
    await runInTransaction((tx) =>
      activityConsumer().projectCreated({
        tx,
        events: [createEvent({ project_id: project.id, namespace_id: 1, creator_id: cast.owner.id, created_at: at })],
      }),
    );
    await runInTransaction((tx) =>
      activityConsumer().memberAdded({
        tx,
        events: [
          createEvent({ ...facts, access_level: 10, added_at: at }),
          createEvent({ ...group, access_level: 10, added_at: at }),
        ],
      }),
    );
    const removed = (reason: 'left' | 'removed' | 'expired') => createEvent({ ...facts, reason, removed_at: at });
    await runInTransaction((tx) =>
      activityConsumer().memberRemoved({ tx, events: [removed('left'), removed('removed'), removed('expired')] }),
    );
    const events = await feed(by(cast.owner), `/api/v4/projects/${project.id}/events`, { sort: 'asc' });
    expect(actionsAndTargetsOf(events)).toEqual([
      'created Project',
      'joined Project',
      'left Project',
      'left Project',
      'removed due to membership expiration from Project',
    ]);
    expect(events[0]).toMatchObject({ target_id: project.id, target_iid: project.id, target_title: project.name });
    expect(
      await feed(by(cast.owner), `/api/v4/projects/${project.id}/events`, { target_type: 'project' }),
    ).toHaveLength(5);
    expect(await feed(by(cast.owner), `/api/v4/projects/${project.id}/events`, { action: 'expired' })).toHaveLength(1);
  });

  test('for imported projects says so', async () => {
    const { id: imported } = await service.seed.project();
    await service.seed.member(cast.owner, { ...project, id: imported }, 'owner');
    const facts = { project_id: imported, namespace_id: 1, creator_id: cast.owner.id, created_at: at };
    await runInTransaction((tx) =>
      activityConsumer().projectCreated({ tx, events: [createEvent({ ...facts, imported_from: 'remote' })] }),
    );
    const [entry] = await feed(by(cast.owner), `/api/v4/projects/${imported}/events`);
    expect(entry).toMatchObject({ action_name: 'imported', imported: true, imported_from: 'remote' });
  });

  test('for a note in a thread has another target type, which the filter `note` does not match', async () => {
    const issue = await anIssue();
    const threads = `/api/v4/projects/${project.id}/issues/${issue.iid}/discussions`;
    const { body: thread } = await by(cast.owner).post(threads).send({ body: 'one' }).expect(201);
    const { body: answer } = await by(cast.guest)
      .post(`${threads}/${thread.id}/notes`)
      .send({ body: 'two' })
      .expect(201);
    const hidden = await comment(issue, 'internal', cast.owner, { internal: true });
    const entries = `/api/v4/projects/${project.id}/events`;
    const [last, first] = await feed(by(cast.guest), entries);
    expect(first).toMatchObject({ target_type: 'DiscussionNote', note: { id: thread.notes[0].id } });
    expect(last).toMatchObject({ target_type: 'DiscussionNote', target_id: answer.id, note: { body: 'two' } });
    expect(await feed(by(cast.guest), entries, { target_type: 'note' })).toEqual([]);
    expect((await feed(by(cast.owner), entries, { target_type: 'note' }))[0]).toMatchObject({ target_id: hidden.id });
    await by(cast.guest).delete(`${threads}/${thread.id}/notes/${answer.id}`).expect(204);
    expect(actionsAndTargetsOf(await feed(by(cast.guest), entries))).toEqual([
      'commented on DiscussionNote',
      'opened Issue',
    ]);
  });

  test('is deleted with its note, its issue or its project', async () => {
    const issue = await anIssue();
    const note = await comment(issue, 'x');
    await comment(issue, 'y');
    expect(await feed(by(cast.owner), '/api/v4/events')).toHaveLength(3);
    await by(cast.owner).delete(`/api/v4/projects/${project.id}/issues/${issue.iid}/notes/${note.id}`);
    expect(await feed(by(cast.owner), '/api/v4/events')).toHaveLength(2);
    await by(cast.owner).delete(`/api/v4/projects/${project.id}/issues/${issue.iid}`);
    expect(await feed(by(cast.owner), '/api/v4/events')).toEqual([]);
    await anIssue();
    await worker.drained();
    await service.database.query('delete from directory_projects where id = $1', [project.id]);
    await runInTransaction((tx) =>
      activityConsumer().projectDeleted({ tx, events: [createEvent({ project_id: project.id })] }),
    );
    const left = await service.database.query('select 1 from activity_events where project_id = $1', [project.id]);
    expect(left).toEqual([]);
  });

  test('is written once, even if its event is redelivered', async () => {
    const issue = await anIssue();
    await comment(issue, 'x');
    await worker.drained();
    const [row] = await service.database.query<{ event_id: string; payload: never }>(
      'select event_id, payload from outbox where subject = $1 order by id desc limit 1',
      [noteCreated.subject],
    );
    const again = { ...createEvent(row!.payload, cast.owner.id), id: row!.event_id };
    for (let run = 0; run < 2; run++)
      await runInTransaction((tx) => activityConsumer().noteCreated({ tx, events: [again] }));
    expect(await feed(by(cast.owner), '/api/v4/events', { action: 'commented' })).toHaveLength(1);
  });
});

describe('filters', () => {
  test('exclude the given days, sort, and validate their values', async () => {
    const issue = await anIssue();
    await comment(issue, 'x');
    await worker.drained();
    const noon = Date.parse('2026-02-03T12:00:00Z');
    // Shifts all entries by the same time, so that their order stays.
    await service.database.query(
      `update activity_events e set created_at = $2::timestamptz + (e.created_at - first.at)
       from (select min(created_at) as at from activity_events where project_id = $1) first where e.project_id = $1`,
      [project.id, new Date(noon)],
    );
    const day = (offset: number) => new Date(noon + offset * 86_400_000).toISOString().slice(0, 10);
    const count = async (query: Body) => (await feed(by(cast.owner), '/api/v4/events', query)).length;
    expect(await count({ before: day(0) })).toBe(0);
    expect(await count({ before: day(1) })).toBe(2);
    expect(await count({ after: day(0) })).toBe(0);
    expect(await count({ after: day(-1) })).toBe(2);
    expect(await count({ after: day(-1), before: day(1), target_type: 'note', action: 'commented' })).toBe(1);
    expect(await count({ target_type: 'epic' })).toBe(0);
    expect(await count({ target_type: 'issue' })).toBe(1);
    expect(await count({ scope: 'other' })).toBe(2);
    expect(actionsAndTargetsOf(await feed(by(cast.owner), '/api/v4/events', { sort: 'asc' }))).toEqual([
      'opened Issue',
      'commented on Note',
    ]);
    const refusals: [Body, string][] = [
      [{ before: 'x' }, 'before is invalid'],
      [{ after: '2026-13-01' }, 'after is invalid'],
      [{ action: 'opened' }, 'action does not have a valid value'],
      [{ target_type: 'Issue' }, 'target_type does not have a valid value'],
      [{ sort: 'up' }, 'sort does not have a valid value'],
    ];
    for (const [query, error] of refusals) {
      const { status, body } = await by(cast.owner).get('/api/v4/events').query(query);
      expect([status, body]).toEqual([400, { error }]);
    }
  });
});

describe('the feed of a user', () => {
  test('needs a token scope and an existing user, and hides private profiles', async () => {
    await anIssue();
    await worker.drained();
    const scoped = (scopes: string[]) => service.app.as(service.seed.viewer(cast.owner, { scopes }));
    for (const path of ['/api/v4/events', `/api/v4/users/${cast.owner.id}/events`]) {
      await scoped(['read_user']).get(path).expect(200);
      await scoped(['read_repository']).get(path).expect(403);
    }
    await anonymous().get('/api/v4/events').expect(401);
    expect(await feed(anonymous(), `/api/v4/users/${cast.owner.username.toUpperCase()}/events`)).toHaveLength(1);
    expect(await feed(anonymous(), `/api/v4/users/${cast.owner.id}/events`, { scope: 'all' })).toEqual([]);
    const unknown = await anonymous().get('/api/v4/users/nobody-at-all/events').query({ scope: 'all' });
    expect([unknown.status, unknown.body]).toEqual([404, { message: '404 User Not Found' }]);
    const { status, body } = await by(cast.owner).get('/api/v4/users/nobody-there/events');
    expect([status, body]).toEqual([404, { message: '404 User Not Found' }]);
    await by(cast.owner).get('/api/v4/users/999999/events').expect(404);
    expect((await by(cast.owner).get('/api/v4/projects/999999/events')).body).toEqual({
      message: '404 Project Not Found',
    });
    await service.seed.put('users', { ...cast.owner, private_profile: true });
    const seen = async (client: ReturnType<typeof by>) =>
      (await feed(client, `/api/v4/users/${cast.owner.id}/events`)).length;
    expect([await seen(by(cast.guest)), await seen(anonymous())]).toEqual([0, 0]);
    expect([await seen(by(cast.owner)), await seen(by(cast.admin))]).toEqual([1, 1]);
  });

  test('exists for a bot if the caller sees its group or project', async () => {
    const inside = await service.seed.project({ visibility: 'private' });
    await service.seed.member(cast.owner, inside, 'guest');
    const bot = await service.seed.user({ kind: 'project_bot', bot_project_id: inside.id });
    for (const ref of [bot.id, bot.username]) {
      const statusFor = async (client: ReturnType<typeof by>) =>
        (await client.get(`/api/v4/users/${ref}/events`)).status;
      expect([ref, await statusFor(by(cast.owner)), await statusFor(by(cast.admin)), await statusFor(by(bot))]).toEqual(
        [ref, 200, 200, 200],
      );
      for (const client of [by(cast.guest), anonymous()]) {
        const { status, body } = await client.get(`/api/v4/users/${ref}/events`);
        expect([status, body]).toEqual([404, { message: '404 User Not Found' }]);
      }
    }
  });

  test('shows created_at of a private profile only to its owner and administrators', async () => {
    const privateUser = await service.seed.user({ private_profile: true });
    await service.seed.member(privateUser, project, 'reporter');
    const { iid } = await anIssue();
    await by(privateUser).post(`/api/v4/projects/${project.id}/issues/${iid}/notes`).send({ body: 'x' }).expect(201);
    await worker.drained();
    const joined = async (client: ReturnType<typeof by>, path: string): Promise<string | undefined> => {
      const [entry] = await feed(client, path, { target_type: 'note' });
      return (entry!['note'] as { author: { created_at?: string } }).author.created_at;
    };
    const ofProject = `/api/v4/projects/${project.id}/events`;
    for (const client of [anonymous(), by(cast.owner)]) expect(await joined(client, ofProject)).toBeUndefined();
    for (const one of [privateUser, cast.admin]) {
      for (const path of [ofProject, `/api/v4/users/${privateUser.id}/events`])
        expect(await joined(by(one), path)).toBe(privateUser.created_at);
    }
  });

  test('with scope=all shows entries of all users in projects of the caller, direct, through groups and shares', async () => {
    const member = await service.seed.user();
    const [direct, foreign] = [await service.seed.project(), await service.seed.project()];
    const group = await service.seed.group();
    const below = await service.seed.project({ namespace_id: (await service.seed.group({ parent: group })).id });
    const [lent, lentGroup] = [await service.seed.project(), await service.seed.group()];
    const projectInSharedGroup = await service.seed.project({ namespace_id: lentGroup.id });
    const own = await service.seed.project({ namespace_id: member.namespace_id });
    await service.seed.member(member, direct, 'guest');
    await service.seed.member(member, group, 'reporter');
    await service.seed.share(lent, group, 'guest');
    await service.seed.share(lentGroup, group, 'developer');
    for (const place of [direct, foreign, below, lent, projectInSharedGroup, own]) {
      project = place;
      await anIssue({ title: place.path }, cast.admin);
      await anIssue({ title: 'hidden', confidential: true }, cast.admin);
    }
    const events = await feed(by(member), '/api/v4/events', { scope: 'all' });
    const titles = events.map((one) => one['target_title']);
    // Reporters and above read confidential issues; guests do not.
    const expected = [
      direct.path,
      below.path,
      'hidden',
      lent.path,
      projectInSharedGroup.path,
      'hidden',
      own.path,
      'hidden',
    ];
    expect([...titles].sort()).toEqual(expected.sort());
    const ids = events.map((one) => one['id'] as number);
    expect(ids).toEqual([...ids].sort((a, b) => b - a));
    expect(await feed(by(member), '/api/v4/events')).toEqual([]);
    const second = await by(member).get('/api/v4/events').query({ scope: 'all', per_page: 3, page: 2 });
    expect([second.body.map((one: Body) => one['id']), second.get('x-total')]).toEqual([ids.slice(3, 6), '8']);
  });
});

describe('the feed over many projects', () => {
  /** Creates entries of `count` issues in each project in turn; every `hidden`th issue is confidential. */
  const createEntries = async (
    places: readonly DirectoryProject[],
    count: number,
    hidden = Infinity,
  ): Promise<void> => {
    for (const place of places) {
      await service.database.query(
        `with made as (
           insert into issues (project_id, iid, author_id, title, confidential)
           select $1, 1000 + n, $2, 'Number ' || n, n % $4::float8::integer = 0 from generate_series(1, $3::integer) n
           returning id, iid, project_id, author_id)
         insert into activity_events (project_id, author_id, action, target_type, target_id, noteable_type, noteable_id,
           source_event_id, created_at)
         select project_id, author_id, 'created', 'Issue', id, 'Issue', id, gen_random_uuid(),
           '2026-01-01'::timestamptz + (iid * 10 + project_id % 10) * interval '1 second' from made`,
        [place.id, cast.admin.id, count, hidden === Infinity ? 1_000_000 : hidden],
      );
    }
  };
  test.each([
    ['all visible', 'reporter', Infinity],
    ['all visible, some confidential', 'reporter', 3],
    ['every third hidden', 'guest', 3],
    ['most hidden', 'guest', 1],
  ] as const)('has pages that equal the complete list in order: %s', async (_, role, hidden) => {
    const member = await service.seed.user();
    const places = [await service.seed.project(), await service.seed.project(), await service.seed.project()];
    for (const place of places) await service.seed.member(member, place, role);
    await createEntries(places, 30, hidden);
    const rows = await service.database.query<{ id: number }>(
      `select e.id::int as id from activity_events e join issues i on i.id = e.noteable_id
       where e.project_id = any($1) and ($2 or not i.confidential) order by e.created_at desc, e.id desc`,
      [places.map(({ id }) => id), role === 'reporter'],
    );
    const found: unknown[] = [];
    for (let page = 1; page <= Math.ceil(rows.length / 7) + 1; page += 1) {
      const { body } = await by(member).get('/api/v4/events').query({ scope: 'all', per_page: 7, page }).expect(200);
      expect(body).toHaveLength(Math.max(0, Math.min(7, rows.length - (page - 1) * 7)));
      found.push(...(body as Body[]).map((one) => one['id']));
    }
    expect(found).toEqual(rows.map(({ id }) => id));
  });
});

describe('visibility', () => {
  // Numbers of visible entries of: an open issue and its note, its internal note, a confidential issue and its note.
  const ALL = 5;
  const table: Record<string, number> = {
    anonymous: 2,
    external: 2,
    stranger: 2,
    guest: 2,
    planner: 4,
    reporter: ALL,
    developer: ALL,
    owner: ALL,
    admin: ALL,
  };
  test.each(['public', 'internal', 'private'] as const)('in a %s project, by role', async (visibility) => {
    await useProject({ visibility });
    const open = await anIssue({}, cast.maintainer);
    await comment(open, 'a', cast.maintainer);
    await comment(open, 'internal secret', cast.maintainer, { internal: true });
    const confidential = await anIssue({ confidential: true }, cast.maintainer);
    await comment(confidential, 'confidential secret', cast.maintainer);
    await worker.drained();
    const outside = { public: [], internal: ['anonymous', 'external'], private: ['anonymous', 'external', 'stranger'] };
    for (const [name, count] of Object.entries(table)) {
      const client = name === 'anonymous' ? anonymous() : by(cast[name as keyof Cast]);
      const isOutside = (outside[visibility] as string[]).includes(name);
      const ofProject = await client.get(`/api/v4/projects/${project.id}/events`);
      const ofUser = await client.get(`/api/v4/users/${cast.maintainer.id}/events`);
      expect([name, ofProject.status, ofProject.body.length]).toEqual([
        name,
        isOutside ? 404 : 200,
        isOutside ? ofProject.body.length : count,
      ]);
      expect([name, ofUser.body.length, ofUser.get('x-total')]).toEqual([
        name,
        isOutside ? 0 : count,
        String(isOutside ? 0 : count),
      ]);
      if (count < ALL) expect(ofUser.text).not.toContain('internal secret');
      if (count < 4) expect(ofUser.text).not.toContain('secret');
    }
  });

  test('leaves pages full although entries between are hidden', async () => {
    for (let i = 0; i < 6; i++) await anIssue({ confidential: i % 2 === 0 }, cast.maintainer);
    await worker.drained();
    const page = await by(cast.guest).get(`/api/v4/projects/${project.id}/events`).query({ per_page: 2 });
    expect([page.body.length, page.get('x-total'), page.get('x-next-page')]).toEqual([2, '3', '2']);
  });

  test('ends as soon as access ends', async () => {
    await useProject({ visibility: 'private' });
    await anIssue({}, cast.developer);
    expect(await feed(by(cast.developer), '/api/v4/events')).toHaveLength(1);
    await service.database.query('delete from directory_memberships where user_id = $1', [cast.developer.id]);
    expect(await feed(by(cast.developer), '/api/v4/events')).toEqual([]);
    expect(await feed(by(cast.developer), '/api/v4/events', { scope: 'all' })).toEqual([]);
  });
});

describe('pages', () => {
  beforeEach(async () => {
    for (let i = 0; i < 6; i++) await anIssue({}, cast.owner);
    await worker.drained();
  });
  const list = (path: () => string, query: Body = {}) =>
    registerListPagingTests(() => ({
      app: service.app,
      viewer: service.seed.viewer(cast.owner),
      path: path(),
      rows: 6,
      query,
    }));
  describe('of a project', () => list(() => `/api/v4/projects/${project.id}/events`));
  describe('of a user', () => list(() => `/api/v4/users/${cast.owner.username}/events`, { sort: 'asc' }));
  describe('of all projects', () => list(() => '/api/v4/events', { scope: 'all' }));
});

describe('the total', () => {
  const COUNT_LIMIT = 50;
  /** Inserts entries that every reader of the project sees; entries of confidential issues are for members. */
  const createEntries = (times: number): Promise<unknown> =>
    service.database.query(
      `insert into activity_events (project_id, author_id, action, target_type, target_id, source_event_id, created_at)
       select $1, $2, 'joined', 'Project', $1, gen_random_uuid(), now() from generate_series(1, $3::integer)`,
      [project.id, cast.owner.id, times],
    );
  const feeds = () => [
    `/api/v4/projects/${project.id}/events`,
    `/api/v4/users/${cast.owner.id}/events`,
    '/api/v4/events?scope=all',
  ];
  const rels = (link: string) => [...link.matchAll(/rel="(\w+)"/g)].map(([, rel]) => rel).sort();

  test('is shown up to fifty, counting visible entries', async () => {
    await anIssue({ confidential: true });
    await worker.drained();
    await createEntries(COUNT_LIMIT);
    for (const path of feeds()) {
      const page = await by(cast.guest).get(path);
      expect([path, page.body.length, page.get('x-total'), page.get('x-total-pages')]).toEqual([path, 20, '50', '3']);
      expect(rels(page.get('link')!)).toEqual(['first', 'last', 'next']);
      const end = await by(cast.guest).get(path).query({ page: 3 });
      expect([end.body.length, end.get('x-next-page')]).toEqual([10, '']);
    }
    const all = await by(cast.reporter).get(feeds()[0]!);
    expect([all.get('x-total'), all.get('x-next-page')]).toEqual([undefined, '2']);
  });

  test('is omitted beyond fifty, while pages continue', async () => {
    await createEntries(COUNT_LIMIT + 31);
    for (const path of feeds()) {
      const [ids, lasts]: [number[], unknown[]] = [[], []];
      for (let next = '1'; next !== '';) {
        const page = await by(cast.guest).get(path).query({ page: next });
        ids.push(...page.body.map((one: Body) => one['id'] as number));
        next = page.get('x-next-page')!;
        lasts.push(page.get('x-total'), page.get('x-total-pages'));
        expect(rels(page.get('link')!)).toEqual([
          'first',
          ...(next === '' ? [] : ['next']),
          ...(page.get('x-page') === '1' ? [] : ['prev']),
        ]);
      }
      expect([path, ids.length, new Set(ids).size]).toEqual([path, COUNT_LIMIT + 31, COUNT_LIMIT + 31]);
      expect(lasts.every((total) => total === undefined)).toBe(true);
      const one = await by(cast.guest).get(path).query({ per_page: 81 });
      expect([one.body.length, one.get('x-next-page'), one.get('x-total')]).toEqual([81, '', undefined]);
    }
  });
});
