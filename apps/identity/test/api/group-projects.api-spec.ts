import { makeViewer, registerListPagingTests, registerVisibilityTests } from '@rookery/testing';
import { inDays, maker } from '../support/groups-and-projects';
import type { MadeGroup, MadeProject } from '../support/groups-and-projects';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';
import { standpoint } from '../support/standings';

let identity: IdentityApp;
let ada: Person;
let bob: Person;
let top: MadeGroup;
let home: MadeGroup;
let other: MadeGroup;
const ids: Record<string, number> = {};
const { group, project, join, person } = maker(() => identity);
const shareProject = (id: number, group_id: number, over: object = {}) =>
  ada.client
    .post(`/api/v4/projects/${id}/share`)
    .send({ group_id, group_access: 30, ...over })
    .expect(201);

beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
  bob = await identity.person('bob');
  top = await group(ada, { visibility: 'public' });
  home = await group(ada, { parent_id: top.id, visibility: 'public' });
  const below = await group(ada, { parent_id: home.id, visibility: 'public' });
  other = await group(ada, { visibility: 'public' });
  const made = async (name: string, namespace: MadeGroup, over: object = {}) => {
    ids[name] = (await project(ada, { name, namespace_id: namespace.id, visibility: 'public', ...over })).id;
  };
  await made('above', top);
  await made('above hidden', top, { visibility: 'private' });
  await made('open', home, { topics: ['Sea', 'salt'], description: 'needle' });
  await made('inner', home, { visibility: 'internal', issues_enabled: false });
  await made('hidden', home, { visibility: 'private', topics: ['sea'], merge_requests_enabled: false });
  await made('below', below);
  await made('below hidden', below, { visibility: 'private' });
  await made('shared', other);
  await made('shared hidden', other, { visibility: 'private' });
  await made('once shared', other);
  await made('shared below', other);
  await shareProject(ids['shared']!, home.id);
  await shareProject(ids['shared hidden']!, home.id);
  await shareProject(ids['once shared']!, home.id, { expires_at: inDays(5) });
  await shareProject(ids['shared below']!, below.id);
  await shareProject(ids['above']!, home.id);
  // Such a share cannot be created, but a move of the project may leave one.
  await identity.db.query(
    `insert into shares (source_type, source_id, group_id, access_level) values ('project', $1, $2, 30)`,
    [ids['below'], home.id],
  );
  await identity.db.query(`update shares set expires_on = current_date where source_id = $1`, [ids['once shared']]);
});
afterAll(() => identity.close());

const namesOf = (rows: readonly MadeProject[]) =>
  rows.map(({ id }) => Object.keys(ids).find((name) => ids[name] === id));
async function listGroupProjects(query: object = {}, client = ada.client, path = 'projects') {
  const { status, body } = await client.get(`/api/v4/groups/${home.id}/${path}`).query({ ...query });
  expect([status, body]).toEqual([200, expect.any(Array)]);
  return namesOf(body);
}

describe('GET /groups/:id/projects', () => {
  it.each<[object, string[]]>([
    [{}, ['shared hidden', 'shared', 'below', 'hidden', 'inner', 'open', 'above']],
    [{ with_shared: false }, ['hidden', 'inner', 'open']],
    [{ with_shared: 'False', include_subgroups: true }, ['below hidden', 'below', 'hidden', 'inner', 'open']],
    [
      { include_subgroups: true },
      ['shared hidden', 'shared', 'below hidden', 'below', 'hidden', 'inner', 'open', 'above'],
    ],
    [{ include_ancestor_groups: true, with_shared: false }, ['hidden', 'inner', 'open', 'above hidden', 'above']],
    [
      { include_ancestor_groups: true, include_subgroups: true, sort: 'asc', order_by: 'id' },
      ['above', 'above hidden', 'open', 'inner', 'hidden', 'below', 'below hidden', 'shared', 'shared hidden'],
    ],
    [{ with_shared: false, order_by: 'name', sort: 'asc' }, ['hidden', 'inner', 'open']],
    [{ with_shared: false, order_by: 'path' }, ['open', 'inner', 'hidden']],
    [{ with_shared: false, order_by: 'updated_at' }, ['hidden', 'inner', 'open']],
    [{ with_shared: false, order_by: 'last_activity_at', sort: 'asc' }, ['open', 'inner', 'hidden']],
    [{ with_shared: false, order_by: 'star_count', sort: 'asc' }, ['open', 'inner', 'hidden']],
    [{ with_shared: false, order_by: 'similarity', sort: 'desc' }, ['hidden', 'inner', 'open']],
    [{ order_by: 'similarity', search: 'shared' }, ['shared', 'shared hidden']],
    [{ search: 'NEEDLE' }, ['open']],
    [{ visibility: 'private' }, ['shared hidden', 'hidden']],
    [{ topic: 'SEA' }, ['hidden', 'open']],
    [{ topic: 'sea,salt' }, ['open']],
    [{ starred: true }, []],
    [{ archived: true }, []],
    [{ active: true, with_shared: false }, ['hidden', 'inner', 'open']],
    [{ owned: true, with_shared: false }, ['hidden', 'inner', 'open']],
    [{ min_access_level: 50, with_shared: false }, ['hidden', 'inner', 'open']],
    [{ with_issues_enabled: true, with_shared: false }, ['hidden', 'open']],
    [{ with_merge_requests_enabled: true, with_shared: false }, ['inner', 'open']],
    [{ with_security_reports: true }, []],
    [{ per_page: 2, page: 2 }, ['below', 'hidden']],
  ])('returns to its owner %j', async (query, expected) => expect(await listGroupProjects(query)).toEqual(expected));

  it('returns only projects that the caller can see', async () => {
    expect(await listGroupProjects({}, identity.anonymous)).toEqual(['shared', 'below', 'open', 'above']);
    expect(await listGroupProjects({ with_shared: false }, bob.client)).toEqual(['inner', 'open']);
    expect(await listGroupProjects({ owned: true }, bob.client)).toEqual([]);
    expect(await listGroupProjects({ min_access_level: 10 }, bob.client)).toEqual([]);
    const insider = await person();
    await join(`/api/v4/groups/${home.id}`, insider, 10);
    expect(await listGroupProjects({ include_ancestor_groups: true }, insider.client)).toEqual([
      'shared hidden',
      'shared',
      'below',
      'hidden',
      'inner',
      'open',
      'above',
    ]);
    expect(await listGroupProjects({ include_subgroups: true, with_shared: false }, insider.client)).toHaveLength(5);
    const direct = await person();
    await join(`/api/v4/projects/${ids['hidden']!}`, direct, 10);
    expect(await listGroupProjects({ with_shared: false }, direct.client)).toEqual(['hidden', 'inner', 'open']);
    expect(await listGroupProjects({ min_access_level: 10 }, direct.client)).toEqual(['hidden']);
    const external = await person({ external: true });
    expect(await listGroupProjects({ with_shared: false }, external.client)).toEqual(['open']);
    expect(await listGroupProjects({}, identity.root)).toEqual(await listGroupProjects());
  });

  it('returns full projects, or the basic shape', async () => {
    const [whole] = (
      await ada.client.get(`/api/v4/groups/${encodeURIComponent(home.full_path)}/projects?search=needle`)
    ).body;
    expect(whole).toMatchObject({
      id: ids['open'],
      topics: ['Sea', 'salt'],
      tag_list: ['Sea', 'salt'],
      open_issues_count: 0,
      namespace: { id: home.id, kind: 'group', full_path: home.full_path, parent_id: top.id },
      permissions: { project_access: null, group_access: { access_level: 50, notification_level: 3 } },
      _links: { self: `http://localhost:8080/api/v4/projects/${ids['open']}` },
    });
    const [simple] = (await ada.client.get(`/api/v4/groups/${home.id}/projects?simple=true`)).body;
    const [anonymous] = (await identity.anonymous.get(`/api/v4/groups/${home.id}/projects`)).body;
    for (const one of [simple, anonymous]) expect(one).not.toHaveProperty('permissions');
    expect(simple).not.toHaveProperty('custom_attributes');
    const [shared] = (await ada.client.get(`/api/v4/groups/${home.id}/projects?search=shared&order_by=similarity`))
      .body;
    expect(shared).toMatchObject({
      namespace: { id: other.id },
      shared_with_groups: [
        {
          group_id: home.id,
          group_name: home.name,
          group_full_path: home.full_path,
          group_access_level: 30,
          expires_at: null,
        },
      ],
    });
  });

  it('shows custom attributes to administrators', async () => {
    await identity.root.put(`/api/v4/projects/${ids['open']}/custom_attributes/site`).send({ value: 'n' }).expect(200);
    const query = { custom_attributes: { site: 'n' }, with_custom_attributes: true, with_shared: false };
    expect(await listGroupProjects(query, identity.root)).toEqual(['open']);
    expect(await listGroupProjects(query)).toEqual(['hidden', 'inner', 'open']);
    const { body } = await identity.root.get(`/api/v4/groups/${home.id}/projects`).query(query);
    expect(body[0].custom_attributes).toEqual([{ key: 'site', value: 'n' }]);
  });

  it.each([
    [{ order_by: 'storage_size' }, 'order_by does not have a valid value'],
    [{ with_shared: 'x' }, 'with_shared is invalid'],
    [{ min_access_level: 1 }, 'min_access_level does not have a valid value'],
  ])('refuses %j', async (query, error) => {
    const { status, body } = await ada.client.get(`/api/v4/groups/${home.id}/projects`).query(query);
    expect([status, body]).toEqual([400, { error }]);
  });

  it('answers 404 for an unknown group', async () => {
    for (const path of ['projects', 'projects/shared']) {
      const { status, body } = await ada.client.get(`/api/v4/groups/999999/${path}`);
      expect([status, body]).toEqual([404, { message: '404 Group Not Found' }]);
    }
  });

  registerVisibilityTests({
    app: () => identity.app,
    from: async (level, standing) => {
      const { id } = await group(ada, { visibility: level });
      return standpoint(identity, standing, `/api/v4/groups/${id}`, `/api/v4/groups/${id}/projects`);
    },
  });

  registerListPagingTests(() => ({
    app: identity.app,
    viewer: makeViewer({ userId: ada.id, username: 'ada' }),
    path: `/api/v4/groups/${home.id}/projects`,
    query: { include_subgroups: true },
    rows: 8,
  }));
});

describe('GET /groups/:id/projects/shared', () => {
  const shared = (query: object = {}, client = ada.client) => listGroupProjects(query, client, 'projects/shared');

  it('lists projects of other namespaces that are currently shared with the group, if the caller can see them', async () => {
    expect(await shared()).toEqual(['shared hidden', 'shared', 'below', 'above']);
    expect(await shared({}, identity.anonymous)).toEqual(['shared', 'below', 'above']);
    expect(await shared({}, bob.client)).toEqual(['shared', 'below', 'above']);
    const insider = await person();
    await join(`/api/v4/groups/${home.id}`, insider, 10);
    expect(await shared({}, insider.client)).toEqual(['shared hidden', 'shared', 'below', 'above']);
    expect(await shared({ min_access_level: 10 }, insider.client)).toHaveLength(4);
    expect(await shared({ min_access_level: 20 }, insider.client)).toEqual([]);
  });

  it.each<[object, string[]]>([
    [{ search: 'shared' }, ['shared hidden', 'shared']],
    [{ visibility: 'private' }, ['shared hidden']],
    [{ order_by: 'name', sort: 'asc' }, ['above', 'below', 'shared', 'shared hidden']],
    [{ starred: true }, []],
    [{ topic: 'sea' }, []],
    [{ archived: true }, []],
  ])('filters by %j', async (query, expected) => expect(await shared(query)).toEqual(expected));

  it('has no order by similarity', async () => {
    const { status, body } = await ada.client.get(`/api/v4/groups/${home.id}/projects/shared?order_by=similarity`);
    expect([status, body]).toEqual([400, { error: 'order_by does not have a valid value' }]);
    const simple = (await ada.client.get(`/api/v4/groups/${home.id}/projects/shared?simple=True`)).body;
    expect(simple[0]).not.toHaveProperty('permissions');
  });

  registerVisibilityTests({
    app: () => identity.app,
    from: async (level, standing) => {
      const { id } = await group(ada, { visibility: level });
      return standpoint(identity, standing, `/api/v4/groups/${id}`, `/api/v4/groups/${id}/projects/shared`);
    },
  });

  let many: MadeGroup;
  beforeAll(async () => {
    many = await group(ada);
    for (const _ of Array(5)) await shareProject((await project(ada)).id, many.id);
  });
  registerListPagingTests(() => ({
    app: identity.app,
    viewer: makeViewer({ userId: ada.id, username: 'ada' }),
    path: `/api/v4/groups/${many.id}/projects/shared`,
    rows: 5,
  }));
});
