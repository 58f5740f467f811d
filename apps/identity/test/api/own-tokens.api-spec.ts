import { makeViewer, linksOf, registerParameterEncodingTests } from '@rookery/testing';
import { inDays, maker } from '../support/groups-and-projects';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let ada: Person;
const make = maker(() => identity);
beforeAll(async () => {
  identity = await startIdentity();
  ada = await make.person();
});
afterAll(() => identity.close());

describe('POST /user/personal_access_tokens', () => {
  const path = '/api/v4/user/personal_access_tokens';

  it('creates a token that is valid until the end of the day', async () => {
    const { body } = await ada.client
      .post(path)
      .send({ name: 'cli', scopes: ['k8s_proxy'] })
      .expect(201);
    expect(body).toEqual({
      id: expect.any(Number),
      name: 'cli',
      revoked: false,
      created_at: expect.any(String),
      description: null,
      scopes: ['k8s_proxy'],
      user_id: ada.id,
      last_used_at: null,
      last_used_ips: [],
      active: true,
      expires_at: inDays(1),
      token: expect.stringMatching(/^glpat-[A-Za-z0-9_-]{20}$/),
    });
    expect((await ada.client.get(`/api/v4/personal_access_tokens/${body.id}`)).body).toMatchObject({
      id: body.id,
      name: 'cli',
    });
  });

  registerParameterEncodingTests({
    app: () => identity.app,
    to: () => ({
      viewer: makeViewer({ userId: ada.id, username: ada.username }),
      method: 'POST',
      path,
      params: { name: 'x', description: 'd', scopes: ['k8s_proxy', 'self_rotate'], expires_at: inDays(9) },
    }),
    seen: ({ name, description, scopes, expires_at }) => ({ name, description, scopes, expires_at }),
    expected: { name: 'x', description: 'd', scopes: ['k8s_proxy', 'self_rotate'], expires_at: inDays(9) },
  });

  const good = { name: 'x', scopes: ['self_rotate'] };
  it.each<[object, object]>([
    [{ scopes: ['self_rotate'] }, { error: 'name is missing' }],
    [{ ...good, name: '' }, { error: 'name is empty' }],
    [
      { name: 'x', scopes: ['self_rotate'], description: 'x'.repeat(256) },
      { error: 'description is too long (maximum is 255 characters)' },
    ],
    [{ name: 'x' }, { error: 'scopes is missing' }],
    [{ name: 'x', scopes: [] }, { error: 'scopes is empty' }],
    [{ name: 'x', scopes: ['api'] }, { error: 'scopes does not have a valid value' }],
    [{ name: 'x', scopes: ['self_rotate', 'read_api'] }, { error: 'scopes does not have a valid value' }],
    [{ ...good, expires_at: 'soon' }, { error: 'expires_at is invalid' }],
    [{ ...good, expires_at: inDays(-1) }, { message: '400 Bad request - Expiration date cannot be in the past' }],
    [
      { ...good, expires_at: inDays(366) },
      { message: `400 Bad request - Expiration date must be before ${inDays(366)}` },
    ],
  ])('refuses %j', async (body, expected) => {
    const response = await ada.client.post(path).send(body);
    expect([response.status, response.body]).toEqual([400, expected]);
  });

  it('requires a signed-in caller', async () => {
    const { status, body } = await identity.anonymous.post(path).send(good);
    expect([status, body]).toEqual([401, { message: '401 Unauthorized' }]);
  });
});

describe('GET /personal_access_tokens/self/associations', () => {
  const path = '/api/v4/personal_access_tokens/self/associations';
  const ids = (body: { groups: { id: number }[]; projects: { id: number }[] }) => ({
    groups: body.groups.map((group) => group.id),
    projects: body.projects.map((project) => project.id),
  });

  it('is empty on pages after the last', async () => {
    const ann = await make.person();
    for (const page of [2, 2 ** 31, 10 ** 13]) {
      const { status, body } = await ann.client.get(path).query({ page });
      expect([page, status, body]).toEqual([page, 200, { groups: [], projects: [] }]);
    }
  });

  it('returns groups and projects with access levels', async () => {
    const [owner, bob] = [await make.person(), await make.person()];
    const group = await make.group(owner);
    const project = await make.project(owner, { namespace_id: group.id, description: 'Leet.' });
    await make.join(`/api/v4/groups/${group.id}`, bob, 20);
    await make.join(`/api/v4/projects/${project.id}`, bob, 30);
    const { body } = await bob.client.get(path).expect(200);
    expect(body).toEqual({
      groups: [
        {
          id: group.id,
          web_url: `http://localhost:8080/groups/${group.full_path}`,
          name: group.name,
          parent_id: null,
          organization_id: 1,
          access_levels: 20,
          visibility: 'private',
        },
      ],
      projects: [
        {
          id: project.id,
          description: 'Leet.',
          name: expect.any(String),
          name_with_namespace: expect.stringMatching(new RegExp(`^${group.name} / `)),
          path: expect.any(String),
          path_with_namespace: project.path_with_namespace,
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
          access_levels: { project_access_level: 30, group_access_level: 20 },
          visibility: 'private',
          web_url: `http://localhost:8080/${project.path_with_namespace}`,
          namespace: {
            id: group.id,
            name: group.name,
            path: group.path,
            kind: 'group',
            full_path: group.full_path,
            parent_id: null,
            avatar_url: null,
            web_url: `http://localhost:8080/groups/${group.full_path}`,
          },
        },
      ],
    });
  });

  it('includes groups and projects below groups and those shared with them, but not merely public ones', async () => {
    const [owner, bob] = [await make.person(), await make.person()];
    const group = await make.group(owner);
    const below = await make.group(owner, { parent_id: group.id });
    const project = await make.project(owner, { namespace_id: below.id });
    const inviting = await make.group(owner);
    await owner.client
      .post(`/api/v4/groups/${inviting.id}/share`)
      .send({ group_id: group.id, group_access: 10 })
      .expect(201);
    await make.group(owner, { visibility: 'public' });
    await make.join(`/api/v4/groups/${group.id}`, bob, 30);
    expect(ids((await bob.client.get(path)).body)).toEqual({
      groups: [group.id, below.id, inviting.id],
      projects: [project.id],
    });
    const atLeast = (min_access_level: unknown) => bob.client.get(path).query({ min_access_level });
    expect(ids((await atLeast(30)).body)).toEqual({ groups: [group.id, below.id], projects: [project.id] });
    expect(ids((await atLeast('40')).body)).toEqual({ groups: [], projects: [] });
    const wrong = await atLeast(35);
    expect([wrong.status, wrong.body]).toEqual([400, { error: 'min_access_level does not have a valid value' }]);
  });

  it("includes the user's own projects, without a group level", async () => {
    const bob = await make.person();
    const project = await make.project(bob);
    const { body } = await bob.client.get(path);
    expect(ids(body)).toEqual({ groups: [], projects: [project.id] });
    expect(body.projects[0].access_levels).toEqual({ project_access_level: 50, group_access_level: null });
  });

  it('pages both lists, and sets the headers of the longer one', async () => {
    const bob = await make.person();
    const groups: number[] = [];
    for (let count = 0; count < 5; count += 1) groups.push((await make.group(bob)).id);
    const project = await make.project(bob);
    const first = await bob.client.get(path).query({ per_page: 2 });
    expect(ids(first.body)).toEqual({ groups: groups.slice(0, 2), projects: [project.id] });
    expect(first.get('x-total')).toBe('5');
    expect(Object.keys(linksOf(first))).toEqual(['next', 'first', 'last']);
    const last = await bob.client.get(path).query({ per_page: 2, page: 3 });
    expect(ids(last.body)).toEqual({ groups: groups.slice(4), projects: [] });
    expect(last.get('x-next-page')).toBe('');
    expect((await bob.client.get(path).query({ per_page: 0 })).body).toEqual({
      error: 'per_page has a value not allowed',
    });
  });

  it('requires a signed-in caller', async () => {
    const { status, body } = await identity.anonymous.get(path);
    expect([status, body]).toEqual([401, { message: '401 Unauthorized' }]);
  });
});
