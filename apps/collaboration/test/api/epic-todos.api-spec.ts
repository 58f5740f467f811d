import { groupDeleted } from '@rookery/contracts';
import type { DirectoryNamespace } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import { registerForeignParentTests, startNats, until } from '@rookery/testing';
import type { PrivateNats, SeededService, SeededUser, RoleCase } from '@rookery/testing';
import { startCollaboration } from '../support/app';
import { epicPlaces } from '../support/epics';
import type { ShownEpic } from '../support/epics';
import { publish } from '../support/publish';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

type Todo = Record<string, unknown> & { id: number; action_name: string; target: { id: number } };

let service: SeededService;
let nats: PrivateNats;
let worker: Worker;
let group: DirectoryNamespace;
let owner: SeededUser;
let planner: SeededUser;
let guest: SeededUser;
let epic: ShownEpic;
const { as, pathOf, standing, group: groupOf, open, who } = epicPlaces(() => service);
const mentionOf = (user: SeededUser): string => `@${user.username}`;
const markForLater = (viewer: Viewer, one = epic, place = group) => as(viewer).post(`${pathOf(place)}/${one.iid}/todo`);
const createNote = async (text: string, user = owner, fields: object = {}, one = epic): Promise<{ id: number }> =>
  (
    await as(who(user))
      .post(`${pathOf(group)}/${one.id}/notes`)
      .send({ body: text, ...fields })
      .expect(201)
  ).body as { id: number };
const edit = (fields: object, user = owner) =>
  as(who(user))
    .put(`${pathOf(group)}/${epic.iid}`)
    .send(fields)
    .expect(200);
const todosOf = async (user: SeededUser, query: object = {}): Promise<Todo[]> => {
  await worker.drained();
  const { body, headers } = await as(who(user)).get('/api/v4/todos').query(query).expect(200);
  expect(headers['x-total']).toBe(String((body as Todo[]).length));
  return body as Todo[];
};
const actionsOf = async (user: SeededUser, query: object = {}): Promise<string[]> =>
  (await todosOf(user, query)).map((todo) => todo.action_name);

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
beforeEach(async () => {
  const { seed } = service;
  group = await groupOf({ visibility: 'private' });
  [owner, planner, guest] = [await seed.user(), await seed.user(), await seed.user()];
  for (const [user, role] of [
    [owner, 'owner'],
    [planner, 'planner'],
    [guest, 'guest'],
  ] as const)
    await seed.member(user, group, role);
  epic = await open(who(owner), group, { title: 'A "goal"' });
});

describe('adding a to-do', () => {
  const ROUTES = ['/epics/:iid/todo', '/-/epics/:iid/todo', '/epics/:iid/todos'];
  it.each(ROUTES)("puts an epic on the caller's list, once (%s)", async (route) => {
    const calling = `/api/v4/groups/${encodeURIComponent(group.full_path)}${route.replace(':iid', String(epic.iid))}`;
    const path = calling.replace(/\/todos?$/, '');
    const { body } = await as(who(guest)).post(calling).expect(201);
    const { body: target } = await as(who(guest)).get(path).expect(200);
    const page = `http://localhost:8080/groups/${group.full_path}`;
    const todo = {
      id: expect.any(Number),
      group: {
        id: group.id,
        name: group.name,
        path: group.path,
        kind: 'group',
        full_path: group.full_path,
        parent_id: null,
        avatar_url: null,
        web_url: page,
      },
      author: expect.objectContaining({ id: guest.id }),
      action_name: 'marked',
      target_type: 'Epic',
      target,
      target_url: `${page}/-/epics/${epic.iid}`,
      body: 'A "goal"',
      state: 'pending',
      created_at: expect.stringMatching(/\.\d{3}Z$/),
      updated_at: (body as Todo)['created_at'],
    };
    expect(body).toEqual(todo);
    const { subscribed: _, ...plain } = target as Record<string, unknown>;
    expect(await todosOf(guest)).toEqual([{ ...todo, target: plain }]);
    expect((await as(who(guest)).post(calling).expect(304)).text).toBe('');
    const done = await as(who(guest))
      .post(`/api/v4/todos/${(body as Todo).id}/mark_as_done`)
      .expect(201);
    expect(done.body).toEqual({ ...todo, state: 'done', updated_at: expect.any(String) });
    expect(await todosOf(guest)).toEqual([]);
    expect(await actionsOf(guest, { state: 'done' })).toEqual(['marked']);
    await as(who(guest)).post(calling).expect(201);
  });

  it('with twenty calls at once creates one', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => markForLater(who(guest))));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 19 }, () => 304)]);
    expect(await actionsOf(guest)).toEqual(['marked']);
  });

  it('is also done by a command, and undone by one', async () => {
    const command = (body: string) =>
      as(who(guest))
        .post(`${pathOf(group)}/${epic.id}/notes`)
        .send({ body });
    expect((await command('/todo').expect(202)).body).toMatchObject({ commands_changes: { todo_event: 'mark' } });
    expect(await actionsOf(guest)).toEqual(['marked']);
    await command('/done').expect(202);
    expect(await actionsOf(guest)).toEqual([]);
  });

  const STATUS: Readonly<Record<string, Readonly<Partial<Record<RoleCase, number>>>>> = {
    private: { anonymous: 401, outsider: 404, external: 404, guest: 201, planner: 201, admin: 201 },
    internal: { anonymous: 401, outsider: 201, external: 404, guest: 201, admin: 201 },
    public: { anonymous: 401, outsider: 201, external: 201, guest: 201, admin: 201 },
    confidential: { outsider: 404, guest: 404, planner: 201, reporter: 201, admin: 201 },
    free: { outsider: 403, guest: 403, planner: 403, admin: 403 },
  };
  it.each(Object.entries(STATUS))('for an epic that is %s', async (how, wanted) => {
    const visibility = how === 'private' || how === 'internal' ? how : 'public';
    const place = await groupOf({ visibility });
    await service.seed.member(owner, place, 'owner');
    const goal = await open(who(owner), place, { confidential: how === 'confidential' });
    if (how === 'free') await service.seed.put('namespaces', { ...place, plan: 'free' });
    const statuses: Record<string, number> = {};
    for (const one of Object.keys(wanted) as RoleCase[]) {
      statuses[one] = (await markForLater(await standing(place, one), goal, place)).status;
    }
    expect(statuses).toEqual(wanted);
    if (how !== 'confidential') return;
    const answer = await markForLater(await standing(place, 'guest'), goal, place).expect(404);
    expect(answer.body).toEqual({ message: '404 Epic Not Found' });
  });

  registerForeignParentTests({
    app: () => service.app,
    viewer: () => who(owner),
    requests: async () => {
      const other = await groupOf();
      await service.seed.member(owner, other, 'owner');
      for (const title of ['a', 'b']) await open(who(owner), other, { title });
      return [{ method: 'POST', path: `${pathOf(group)}/2/todo` }];
    },
  });
});

describe('a to-do is created', () => {
  it('by mentions in title, description and notes, as on issues', async () => {
    const named = await open(who(owner), group, { title: 'Named', description: `hey ${mentionOf(guest)}` });
    expect(await actionsOf(guest)).toEqual(['mentioned']);
    await edit({ description: `${mentionOf(guest)} and ${mentionOf(planner)} look` });
    expect(await actionsOf(guest)).toEqual(['directly_addressed', 'mentioned']);
    expect(await actionsOf(planner)).toEqual(['mentioned']);
    const note = await createNote(`see ${mentionOf(guest)}`);
    const [todo] = await todosOf(guest, { action: 'mentioned' });
    expect(todo).toMatchObject({
      body: `see ${mentionOf(guest)}`,
      target: { id: epic.id },
      target_url: `http://localhost:8080/groups/${group.full_path}/-/epics/${epic.iid}#note_${note.id}`,
    });
    expect(await todosOf(guest, { type: 'Epic' })).toHaveLength(3);
    expect(await todosOf(guest, { type: 'Issue' })).toEqual([]);
    expect(await todosOf(guest, { group_id: group.id })).toHaveLength(3);
    const below = await groupOf({ parent: group });
    expect(await todosOf(guest, { group_id: below.id })).toEqual([]);
    expect(await todosOf(guest, { project_id: 1 })).toEqual([]);
    expect(await todosOf(guest, { author_id: owner.id })).toHaveLength(3);
    await as(who(owner))
      .delete(`${pathOf(group)}/${named.iid}`)
      .expect(204);
    expect(await todosOf(guest)).toHaveLength(2);
    await as(who(owner))
      .delete(`${pathOf(group)}/${epic.id}/notes/${note.id}`)
      .expect(204);
    expect(await actionsOf(guest)).toEqual(['directly_addressed']);
  });

  it('for title and description separately, each by its last editor', async () => {
    const secret = await groupOf({ visibility: 'private' });
    const member = await service.seed.user();
    await service.seed.member(member, secret, 'guest');
    await service.seed.member(member, group, 'guest');
    await service.seed.member(owner, secret, 'guest');
    epic = await open(who(planner), group, { title: 'x', description: `hey @${secret.full_path}` });
    await edit({ title: 'better' });
    expect(await actionsOf(member)).toEqual([]);
    await edit({ title: `better @${secret.full_path}` });
    expect(await actionsOf(member)).toEqual(['mentioned']);
  });

  it('only for readers, and is visible to them while they can read', async () => {
    const stranger = await service.seed.user();
    const texts = `${mentionOf(guest)} ${mentionOf(planner)} ${mentionOf(stranger)} ${mentionOf(owner)}`;
    await createNote(texts, owner, { internal: true });
    await open(who(owner), group, { confidential: true, description: `x ${texts}` });
    expect(await actionsOf(stranger)).toEqual([]);
    expect(await actionsOf(guest)).toEqual([]);
    expect(await actionsOf(planner)).toEqual(['mentioned']);
    expect(await actionsOf(owner)).toEqual(['mentioned', 'directly_addressed']);
    await createNote(`see ${mentionOf(guest)}`);
    expect(await actionsOf(guest)).toEqual(['mentioned']);
    const counts = async () => (await as(who(guest)).get('/api/v4/user_counts').expect(200)).body as { todos: number };
    expect((await counts()).todos).toBe(1);
    await edit({ confidential: true });
    expect([await actionsOf(guest), (await counts()).todos]).toEqual([[], 0]);
    const [todo] = await service.database.query<{ id: number }>('select id from todos where user_id = $1', [guest.id]);
    await as(who(guest)).post(`/api/v4/todos/${todo!.id}/mark_as_done`).expect(404);
    await edit({ confidential: false });
    await service.seed.put('namespaces', { ...group, plan: 'free' });
    expect([await actionsOf(guest), (await counts()).todos]).toEqual([[], 0]);
    await service.seed.put('namespaces', group);
    expect([await actionsOf(guest), (await counts()).todos]).toEqual([['mentioned'], 1]);
  });
});

describe('a to-do is done', () => {
  const ANSWERS: Readonly<Record<string, () => Promise<unknown>>> = {
    'a note': () => createNote('done', planner),
    'a title': async () => edit({ title: 'Newer' }, planner),
    labels: async () => edit({ labels: 'goal' }, planner),
    closing: async () => edit({ state_event: 'close' }, planner),
    'an emoji': async () =>
      as(who(planner))
        .post(`${pathOf(group)}/${epic.iid}/award_emoji`)
        .send({ name: 'heart' })
        .expect(201),
  };
  it.each(Object.entries(ANSWERS))('by %s of its owner, and of no other user', async (_, answer) => {
    await createNote(`${mentionOf(planner)} ${mentionOf(guest)}`);
    expect(await actionsOf(planner)).toEqual(['directly_addressed']);
    await answer();
    expect(await actionsOf(planner)).toEqual([]);
    expect(await actionsOf(guest)).toEqual(['directly_addressed']);
  });
});

const countTodos = async ({ id }: SeededUser): Promise<number> =>
  (await service.database.query('select 1 from todos where user_id = $1', [id])).length;
it('to-dos are deleted with their group', async () => {
  await markForLater(who(guest)).expect(201);
  await service.seed.remove('namespaces', group.id);
  await publish(nats, groupDeleted.of({ aggregateId: group.id, actorId: 1, data: { group_id: group.id } }));
  await until(async () => (await countTodos(guest)) === 0);
  expect((await as(who(guest)).get('/api/v4/todos').expect(200)).body).toEqual([]);
});
