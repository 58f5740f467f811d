import { makeViewer, registerListPagingTests } from '@rookery/testing';
import { maker } from '../support/groups-and-projects';
import type { MadeProject } from '../support/groups-and-projects';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let ada: Person;
let bob: Person;
let shy: Person;
const ids: Record<string, number> = {};
const { group, project, join, person } = maker(() => identity);
beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
  bob = await identity.person('Bob');
  shy = await identity.person('shy', { private_profile: true });
  const home = await group(ada, { visibility: 'public' });
  const made = async (name: string, over: object, by = ada) => {
    ids[name] = (await project(by, { name, ...over })).id;
  };
  await made('open', { visibility: 'public', topics: ['sea'] });
  await made('inner', { visibility: 'internal' });
  await made('hidden', {});
  await made('of group', { namespace_id: home.id, visibility: 'public' });
  await made('of bob', { visibility: 'public' }, bob);
  await made('last', { visibility: 'public' });
  for (const name of ['of bob', 'hidden', 'open', 'of group', 'inner']) {
    await ada.client.post(`/api/v4/projects/${ids[name]}/star`).expect(201);
  }
  await shy.client.post(`/api/v4/projects/${ids['open']}/star`).expect(201);
});
afterAll(() => identity.close());

const namesOf = (rows: readonly MadeProject[]) =>
  rows.map(({ id }) => Object.keys(ids).find((name) => ids[name] === id));
async function listProjectNames(path: string, query: object = {}, client = identity.anonymous) {
  const { status, body } = await client.get(path).query({ ...query });
  expect([status, body]).toEqual([200, expect.any(Array)]);
  return namesOf(body);
}

describe.each([['projects'], ['starred_projects']])('GET /users/:user_id/%s', (what) => {
  it('answers 404 for unknown users', async () => {
    for (const ref of ['nobody-here', '999999', '99999999999999999999']) {
      const { status, body } = await ada.client.get(`/api/v4/users/${ref}/${what}`);
      expect([ref, status, body]).toEqual([ref, 404, { message: '404 User Not Found' }]);
    }
    const odd = await ada.client.get(`/api/v4/users/a%00b/${what}`);
    expect([odd.status, odd.body]).toEqual([400, { error: 'user_id is invalid' }]);
    expect(await listProjectNames(`/api/v4/users/${shy.id}/${what}`, {}, bob.client)).toEqual([]);
  });

  it('finds users by id and by username, ignoring case', async () => {
    const whole = await listProjectNames(`/api/v4/users/${ada.id}/${what}`, {}, ada.client);
    expect(whole.length).toBeGreaterThan(3);
    for (const ref of ['ada', 'ADA'])
      expect(await listProjectNames(`/api/v4/users/${ref}/${what}`, {}, ada.client)).toEqual(whole);
  });

  it.each(['asc', 'desc'])('continues by id, %s', async (sort) => {
    const found: number[] = [];
    let url: string | undefined = `/api/v4/users/ada/${what}?pagination=keyset&order_by=id&sort=${sort}&per_page=2`;
    while (url) {
      const { body, headers }: { body: MadeProject[]; headers: Record<string, string> } = await ada.client.get(url);
      found.push(...body.map((one) => one.id));
      url = /<http:\/\/localhost:8080([^>]+)>; rel="next"/.exec(headers['link'] ?? '')?.[1];
      if (url) expect(url).toMatch(sort === 'asc' ? /id_after=/ : /id_before=/);
    }
    expect(namesOf(found.map((id) => ({ id, name: '', path: '', path_with_namespace: '' })))).toEqual(
      await listProjectNames(`/api/v4/users/ada/${what}`, { order_by: 'id', sort }, ada.client),
    );
    const { status, body } = await ada.client.get(`/api/v4/users/ada/${what}?pagination=keyset&order_by=name`);
    expect([status, body]).toEqual([405, { error: 'Keyset pagination is not yet available for this type of request' }]);
  });

  it('checks parameters before it resolves the user', async () => {
    const { status, body } = await ada.client.get(`/api/v4/users/none/${what}?order_by=x`);
    expect([status, body]).toEqual([400, { error: 'order_by does not have a valid value' }]);
  });
});

describe('GET /users/:user_id/projects', () => {
  it("lists the projects in the user's own namespace that the caller can see", async () => {
    expect(await listProjectNames('/api/v4/users/ada/projects', {}, ada.client)).toEqual([
      'last',
      'hidden',
      'inner',
      'open',
    ]);
    expect(await listProjectNames('/api/v4/users/ada/projects', {}, identity.root)).toEqual([
      'last',
      'hidden',
      'inner',
      'open',
    ]);
    expect(await listProjectNames('/api/v4/users/ada/projects', {}, bob.client)).toEqual(['last', 'inner', 'open']);
    expect(await listProjectNames('/api/v4/users/ada/projects')).toEqual(['last', 'open']);
    const external = await person({ external: true });
    expect(await listProjectNames('/api/v4/users/ada/projects', {}, external.client)).toEqual(['last', 'open']);
    await join(`/api/v4/projects/${ids['hidden']!}`, external, 10);
    expect(await listProjectNames('/api/v4/users/ada/projects', {}, external.client)).toEqual([
      'last',
      'hidden',
      'open',
    ]);
    expect(await listProjectNames('/api/v4/users/bob/projects')).toEqual(['of bob']);
    const fresh = await person();
    expect(await listProjectNames(`/api/v4/users/${fresh.id}/projects`, {}, fresh.client)).toEqual([]);
  });

  it.each<[object, string[]]>([
    [{ visibility: 'private' }, ['hidden']],
    [{ topic: 'SEA' }, ['open']],
    [{ order_by: 'name', sort: 'asc' }, ['hidden', 'inner', 'last', 'open']],
    [{ search: 'inn' }, ['inner']],
    [{ starred: true }, ['hidden', 'inner', 'open']],
    [{ membership: true }, ['last', 'hidden', 'inner', 'open']],
    [{ archived: true }, []],
  ])('filters by %j', async (query, expected) =>
    expect(await listProjectNames('/api/v4/users/ada/projects', query, ada.client)).toEqual(expected),
  );

  it('returns full projects, with statistics for callers who may see them', async () => {
    const [whole] = (await ada.client.get(`/api/v4/users/${ada.id}/projects?search=hidden&statistics=true`)).body;
    expect(whole).toMatchObject({
      owner: { id: ada.id },
      permissions: { project_access: { access_level: 50 }, group_access: null },
      statistics: { storage_size: 0 },
    });
    const [simple] = (await ada.client.get(`/api/v4/users/${ada.id}/projects?simple=1`)).body;
    expect(simple).not.toHaveProperty('owner');
  });

  let many: Person;
  beforeAll(async () => {
    many = await person();
    for (const _ of Array(5)) await project(many);
  });
  registerListPagingTests(() => ({
    app: identity.app,
    viewer: makeViewer({ userId: many.id, username: many.username }),
    path: `/api/v4/users/${many.username}/projects`,
    query: { owned: true },
    rows: 5,
  }));
});

describe('GET /users/:user_id/starred_projects', () => {
  it("lists the user's starred projects that the caller can see", async () => {
    const all = ['of bob', 'of group', 'hidden', 'inner', 'open'];
    expect(await listProjectNames('/api/v4/users/ada/starred_projects', {}, ada.client)).toEqual(all);
    expect(await listProjectNames('/api/v4/users/ada/starred_projects', {}, identity.root)).toEqual(all);
    expect(await listProjectNames('/api/v4/users/ada/starred_projects', {}, bob.client)).toEqual(
      all.filter((one) => one !== 'hidden'),
    );
    expect(await listProjectNames('/api/v4/users/ada/starred_projects')).toEqual(['of bob', 'of group', 'open']);
    expect(await listProjectNames('/api/v4/users/ada/starred_projects', { owned: true }, bob.client)).toEqual([
      'of bob',
    ]);
    expect(await listProjectNames('/api/v4/users/bob/starred_projects', {}, ada.client)).toEqual([]);
  });

  it('shows the stars of a private profile only to its user and to administrators', async () => {
    const path = `/api/v4/users/${shy.id}/starred_projects`;
    expect(await listProjectNames(path)).toEqual([]);
    expect(await listProjectNames(path, {}, ada.client)).toEqual([]);
    expect(await listProjectNames(path, {}, shy.client)).toEqual(['open']);
    expect(await listProjectNames(path, {}, identity.root)).toEqual(['open']);
  });

  registerListPagingTests(() => ({
    app: identity.app,
    viewer: makeViewer({ userId: ada.id, username: 'ada' }),
    path: '/api/v4/users/ada/starred_projects',
    query: { simple: true },
    rows: 5,
  }));
});
