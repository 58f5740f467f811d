import { accessRequestChanged, groupDeleted } from '@rookery/contracts';
import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import { startNats } from '@rookery/testing';
import type { PrivateNats, SeededService, SeededUser } from '@rookery/testing';
import { startCollaboration } from '../support/app';
import { publish } from '../support/publish';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

type Todo = Record<string, unknown> & { id: number; target: { id: number } };
type AccessRequestState = 'requested' | 'accepted' | 'denied' | 'withdrawn';

let service: SeededService;
let nats: PrivateNats;
let worker: Worker;
let above: DirectoryNamespace;
let group: DirectoryNamespace;
let project: DirectoryProject;
let asker: SeededUser;
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
  above = await seed.group({ plan: 'free' });
  group = await seed.group({ parent: above, plan: 'free' });
  project = await seed.project({ namespace_id: group.id });
  asker = await seed.user();
});

const as = (user: SeededUser) => service.app.as(service.seed.viewer(user));
const member = async (of: DirectoryNamespace | DirectoryProject, level: 'owner' | 'maintainer' | 'developer') => {
  const user = await service.seed.user();
  await service.seed.member(user, of, level);
  return user;
};
let second = 0;
async function change(kind: 'group' | 'project', state: AccessRequestState, who = asker): Promise<void> {
  const id = kind === 'group' ? group.id : project.id;
  second += 1;
  const changed_at = new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString();
  const data = { user_id: who.id, source_type: kind, source_id: id, state, changed_at };
  await publish(nats, accessRequestChanged.of({ aggregateId: 1, actorId: who.id, data }));
  await worker.drained();
}
const todosOf = async (user: SeededUser, query: object = {}): Promise<Todo[]> => {
  const { body, headers } = await as(user).get('/api/v4/todos').query(query).expect(200);
  expect(headers['x-total']).toBe(String((body as Todo[]).length));
  return body as Todo[];
};
const namesOfTodoReceivers = async (people: Readonly<Record<string, SeededUser>>): Promise<string[]> => {
  const named = await Promise.all(
    Object.entries(people).map(async ([name, user]) => ((await todosOf(user)).length > 0 ? [name] : [])),
  );
  return named.flat();
};

describe('an access request', () => {
  test.each(['group', 'project'] as const)('to a %s is shown to its owner', async (kind) => {
    const place = kind === 'group' ? group : project;
    const owner = await member(place, 'owner');
    await change(kind, 'requested');
    const full = kind === 'group' ? group.full_path : `${group.full_path}/${project.path}`;
    const base = 'http://localhost:8080';
    const groupShown = {
      id: group.id,
      name: group.name,
      path: group.path,
      kind: 'group',
      full_path: group.full_path,
      parent_id: above.id,
      avatar_url: null,
      web_url: `${base}/groups/${group.full_path}`,
    };
    const projectShown = {
      id: project.id,
      description: null,
      name: project.name,
      name_with_namespace: `${group.full_name} / ${project.name}`,
      path: project.path,
      path_with_namespace: full,
      created_at: expect.stringMatching(/Z$/),
    };
    const todo = {
      id: expect.any(Number),
      ...(kind === 'group' ? { group: groupShown } : { project: projectShown }),
      author: expect.objectContaining({ id: asker.id, username: asker.username }),
      action_name: 'member_access_requested',
      target_type: kind === 'group' ? 'Namespace' : 'Project',
      target: kind === 'group' ? groupShown : { ...projectShown, web_url: `${base}/${full}` },
      target_url:
        kind === 'group'
          ? `${base}/groups/${full}/-/group_members?tab=access_requests`
          : `${base}/${full}/-/project_members?tab=access_requests`,
      body: full,
      state: 'pending',
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    };
    expect(await todosOf(owner)).toEqual([todo]);
    expect((await as(owner).get('/api/v4/user_counts').expect(200)).body).toMatchObject({ todos: 1 });
    for (const query of [
      { action: 'member_access_requested' },
      { type: todo.target_type },
      { author_id: asker.id },
      { group_id: above.id },
      kind === 'project' ? { project_id: project.id } : { group_id: group.id },
    ])
      expect(await todosOf(owner, query)).toHaveLength(1);
    for (const query of [{ action: 'mentioned' }, { type: 'Issue' }, { author_id: owner.id }])
      expect(await todosOf(owner, query)).toEqual([]);
    const [{ id }] = (await todosOf(owner)) as [Todo];
    const { body: done } = await as(owner).post(`/api/v4/todos/${id}/mark_as_done`).expect(201);
    expect(done).toEqual({ ...todo, state: 'done' });
    expect(await todosOf(owner)).toEqual([]);
  });

  test('to a project reaches owners and maintainers of the nearest place that has any', async () => {
    const people = {
      ofAbove: await member(above, 'owner'),
      ofGroup: await member(group, 'maintainer'),
      developer: await member(project, 'developer'),
    };
    await change('project', 'requested');
    expect(await namesOfTodoReceivers(people)).toEqual(['ofGroup']);
    const own = { maintainer: await member(project, 'maintainer'), owner: await member(project, 'owner') };
    const next = await service.seed.user();
    await change('project', 'requested', next);
    expect(await namesOfTodoReceivers(own)).toEqual(['maintainer', 'owner']);
    expect(await todosOf(people.ofGroup)).toHaveLength(1);
  });

  test('to a group reaches owners only, of a group above if it has none', async () => {
    const people = { ofAbove: await member(above, 'owner'), maintainer: await member(group, 'maintainer') };
    await change('group', 'requested');
    expect(await namesOfTodoReceivers(people)).toEqual(['ofAbove']);
  });

  test('to a project in a personal namespace reaches its owner', async () => {
    const owner = await service.seed.user();
    project = await service.seed.project({ namespace_id: owner.namespace_id });
    await change('project', 'requested');
    expect(await todosOf(owner)).toHaveLength(1);
  });

  test('reaches the ten newest active members, no bots and no expired ones', async () => {
    const { seed } = service;
    const owners: SeededUser[] = [];
    for (let count = 0; count < 12; count += 1) owners.push(await member(project, 'owner'));
    const others = [await seed.user({ state: 'blocked' }), await seed.user({ kind: 'service_account' })];
    for (const user of others) await seed.member(user, project, 'owner');
    const ended = await seed.user();
    await seed.member(ended, project, 'owner', '2020-01-01');
    await change('project', 'requested');
    const rows = await service.database.query<{ user_id: number }>(
      `select user_id from todos where target_type = 'Project' and target_id = $1 order by user_id`,
      [project.id],
    );
    expect(rows.map((row) => row.user_id)).toEqual(owners.slice(2).map(({ id }) => id));
  });

  test.each(['accepted', 'denied', 'withdrawn'] as const)('that is %s is done for all', async (state) => {
    const owners = [await member(project, 'owner'), await member(project, 'maintainer')];
    const other = await service.seed.user();
    await change('project', 'requested');
    await change('project', 'requested', other);
    await change('project', state);
    for (const owner of owners) {
      expect((await todosOf(owner)).map(({ author }) => (author as { id: number }).id)).toEqual([other.id]);
      expect(await todosOf(owner, { state: 'done' })).toHaveLength(1);
    }
    // A new request is a new item.
    await change('project', 'requested');
    expect(await todosOf(owners[0]!)).toHaveLength(2);
  });

  test('is hidden from a former member, and dropped with the group', async () => {
    const [owner, left] = [await member(group, 'owner'), await member(group, 'owner')];
    await change('group', 'requested');
    await service.database.query('delete from directory_memberships where user_id = $1', [left.id]);
    expect(await namesOfTodoReceivers({ owner, left })).toEqual(['owner']);
    await service.seed.remove('namespaces', group.id);
    await publish(nats, groupDeleted.of({ aggregateId: group.id, actorId: owner.id, data: { group_id: group.id } }));
    await worker.drained();
    expect(await service.database.query('select 1 from todos where group_id = $1', [group.id])).toEqual([]);
  });
});
