import type { Agent } from 'supertest';
import { makeViewer, registerListPagingTests } from '@rookery/testing';
import { inDays } from '../support/groups-and-projects';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let ada: Person;
let bob: Person;
beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
  bob = await identity.person('bob');
});
afterAll(() => identity.close());

interface Group {
  readonly id: number;
  readonly name: string;
  readonly full_path: string;
}
let serial = 0;
const uniquePath = (stem = 'g') => `${stem}-${++serial}`;
async function createGroup(over: Readonly<Record<string, unknown>> = {}, by: Person = ada): Promise<Group> {
  const path = uniquePath();
  const { body } = await by.client
    .post('/api/v4/groups')
    .send({ name: path, path, ...over })
    .expect(201);
  return body;
}
const addMember = (group: Group, person: Person, access_level: number) =>
  identity.root.post(`/api/v4/groups/${group.id}/members`).send({ user_id: person.id, access_level }).expect(201);

const LIST_KEYS = [
  'id',
  'web_url',
  'name',
  'path',
  'description',
  'visibility',
  'share_with_group_lock',
  'require_two_factor_authentication',
  'two_factor_grace_period',
  'project_creation_level',
  'auto_devops_enabled',
  'subgroup_creation_level',
  'emails_disabled',
  'emails_enabled',
  'mentions_disabled',
  'lfs_enabled',
  'math_rendering_limits_enabled',
  'lock_math_rendering_limits_enabled',
  'default_branch',
  'default_branch_protection',
  'default_branch_protection_defaults',
  'avatar_url',
  'request_access_enabled',
  'full_name',
  'full_path',
  'created_at',
  'parent_id',
  'organization_id',
  'shared_runners_setting',
  'max_artifacts_size',
];

describe('POST /groups', () => {
  it('creates a top-level group owned by the creator', async () => {
    const { body } = await ada.client
      .post('/api/v4/groups')
      .send({ name: 'Team (one)', path: 'team-one', description: 'd' })
      .expect(201);
    expect(body).toMatchObject({
      name: 'Team (one)',
      path: 'team-one',
      full_path: 'team-one',
      full_name: 'Team (one)',
      web_url: 'http://localhost:8080/groups/team-one',
      visibility: 'private',
      parent_id: null,
      shared_with_groups: [],
      two_factor_grace_period: 48,
      default_branch_protection_defaults: { allowed_to_push: [{ access_level: 40 }], allow_force_push: false },
    });
    for (const key of ['projects', 'shared_projects', 'runners_token', 'enabled_git_access_protocol'])
      expect(body).not.toHaveProperty(key);
    expect((await ada.client.get(`/api/v4/groups/${body.id}/members`)).body).toEqual([
      expect.objectContaining({ id: ada.id, access_level: 50 }),
    ]);
  });

  it('creates a subgroup', async () => {
    const parent = await createGroup({ name: 'Parent' });
    const { body } = await ada.client
      .post('/api/v4/groups')
      .send({ name: 'Child', path: 'child', parent_id: String(parent.id) });
    expect(body).toMatchObject({
      parent_id: parent.id,
      full_path: `${parent.full_path}/child`,
      full_name: 'Parent / Child',
    });
    // The creator inherits the level that would be granted.
    expect((await ada.client.get(`/api/v4/groups/${body.id}/members`)).body).toEqual([]);
  });

  it.each([
    [{ path: 'x' }, { error: 'name is missing' }],
    [{ name: 'x' }, { error: 'path is missing' }],
    [{ name: 'x', path: 'team-one', visibility: 'secret' }, { error: 'visibility does not have a valid value' }],
    [{ name: 'x', path: 'TEAM-one' }, { message: 'Failed to save group {:path=>["has already been taken"]}' }],
    [{ name: 'x', path: 'ada' }, { message: 'Failed to save group {:path=>["has already been taken"]}' }],
    [{ name: 'x', path: 'api' }, { message: 'Failed to save group {:path=>["api is a reserved name"]}' }],
    [
      { name: '<b>', path: 'fine-path' },
      {
        message: `Failed to save group {:name=>["can contain only letters, digits, emoji, '_', '.', dash, space, parenthesis. It must start with letter, digit, emoji or '_'."]}`,
      },
    ],
  ])('refuses %j', async (body, expected) => {
    const response = await ada.client.post('/api/v4/groups').send(body);
    expect([response.status, response.body]).toEqual([400, expected]);
  });

  it('refuses a subgroup that is more visible than its parent', async () => {
    const parent = await createGroup();
    const { body } = await ada.client
      .post('/api/v4/groups')
      .send({ name: 'c', path: 'cc', parent_id: parent.id, visibility: 'public' });
    expect(body).toEqual({
      message:
        'Failed to save group {:visibility_level=>["public is not allowed since the parent group has a private visibility."]}',
    });
  });

  it('is limited to 20 levels', async () => {
    let parent = await createGroup();
    for (let depth = 2; depth <= 20; depth++) parent = await createGroup({ parent_id: parent.id });
    const { status, body } = await ada.client
      .post('/api/v4/groups')
      .send({ name: 'deep', path: 'deep', parent_id: parent.id });
    expect([status, body]).toEqual([
      400,
      { message: 'Failed to save group {:parent_id=>["has too deep level of nesting"]}' },
    ]);
  });

  it("lets maintainers create subgroups if the group's setting allows it", async () => {
    const open = await createGroup();
    const closed = await createGroup({ subgroup_creation_level: 'owner' });
    for (const group of [open, closed]) await addMember(group, bob, 40);
    const made = await bob.client
      .post('/api/v4/groups')
      .send({ name: 'sub', path: 'sub', parent_id: open.id })
      .expect(201);
    expect((await bob.client.get(`/api/v4/groups/${made.body.id}/members`)).body).toEqual([
      expect.objectContaining({ id: bob.id, access_level: 50 }),
    ]);
    const refused = await bob.client.post('/api/v4/groups').send({ name: 'sub', path: 'sub', parent_id: closed.id });
    expect([refused.status, refused.body]).toEqual([403, { message: '403 Forbidden' }]);
  });

  it('refuses callers without permission, and hides parents that they cannot see', async () => {
    const outsider = await identity.person('outsider', { external: true });
    await outsider.client.post('/api/v4/groups').send({ name: 'xx', path: 'xx' }).expect(403);
    const secret = await createGroup();
    const { status, body } = await bob.client
      .post('/api/v4/groups')
      .send({ name: 'xx', path: 'xx', parent_id: secret.id });
    expect([status, body]).toEqual([404, { message: '404 Group Not Found' }]);
    await identity.anonymous.post('/api/v4/groups').send({}).expect(401);
  });

  it('gives a path to one of several concurrent requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => ada.client.post('/api/v4/groups').send({ name: 'Race', path: 'race' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400, 400, 400, 400]);
  });
});

describe('GET /groups/:id', () => {
  it('returns a group by id and by encoded path, ignoring case', async () => {
    const parent = await createGroup({ visibility: 'public' });
    const child = await createGroup({ parent_id: parent.id, visibility: 'public' });
    for (const ref of [
      child.id,
      encodeURIComponent(child.full_path),
      encodeURIComponent(child.full_path).toUpperCase(),
    ]) {
      expect((await identity.anonymous.get(`/api/v4/groups/${ref}`)).body).toMatchObject({ id: child.id });
    }
    expect((await identity.anonymous.get('/api/v4/groups/no-such')).body).toEqual({ message: '404 Group Not Found' });
  });

  it('reads a number longer than any id as a path', async () => {
    const digits = '98765432109876543210';
    expect((await ada.client.get(`/api/v4/groups/${digits}`)).body).toEqual({ message: '404 Group Not Found' });
    const { body: made }: { body: Group } = await ada.client
      .post('/api/v4/groups')
      .send({ name: digits, path: digits })
      .expect(201);
    expect((await ada.client.get(`/api/v4/groups/${digits}`)).body).toMatchObject({ id: made.id, path: digits });
  });

  it('limits the length of settings', async () => {
    const group = await createGroup();
    const long = (max: number) => `is too long (maximum is ${max} characters)`;
    const refused = await ada.client.put(`/api/v4/groups/${group.id}`).send({
      default_branch: 'b'.repeat(256),
      allowed_email_domains_list: 'd'.repeat(4097),
      unique_project_download_limit_allowlist: ['ada', 'u'.repeat(256)],
    });
    expect([refused.status, refused.body.message]).toEqual([
      400,
      {
        default_branch: [long(255)],
        allowed_email_domains_list: [long(4096)],
        unique_project_download_limit_allowlist: ['is invalid'],
      },
    ]);
    const made = { name: uniquePath(), path: uniquePath(), default_branch: 'b'.repeat(256) };
    expect((await ada.client.post('/api/v4/groups').send(made)).body).toEqual({
      message: `Failed to save group {:default_branch=>["${long(255)}"]}`,
    });
    const fits = { default_branch: 'b'.repeat(255), allowed_email_domains_list: 'd'.repeat(4096) };
    expect((await ada.client.put(`/api/v4/groups/${group.id}`).send(fits)).body).toMatchObject(fits);
  });

  it('refuses lone surrogates in settings', async () => {
    const group = await createGroup();
    const half = await ada.client
      .put(`/api/v4/groups/${group.id}`)
      .send({ default_branch: 'egg\ud83d', unique_project_download_limit_allowlist: ['\ude00'] });
    expect([half.status, half.body]).toEqual([
      400,
      { error: 'default_branch is invalid, unique_project_download_limit_allowlist is invalid' },
    ]);
    const whole = await ada.client.put(`/api/v4/groups/${group.id}`).send({ default_branch: 'egg\ud83d\udc23' });
    expect(whole.body).toMatchObject({ default_branch: 'egg🐣' });
  });

  it('shows secrets to owners, projects unless excluded, and limits for descendants on top-level groups', async () => {
    const group = await createGroup({ visibility: 'public' });
    await ada.client
      .post('/api/v4/projects')
      .send({ name: 'web', namespace_id: group.id, visibility: 'private' })
      .expect(201);
    const own = (await ada.client.get(`/api/v4/groups/${group.id}`)).body;
    expect(own).toMatchObject({
      runners_token: expect.stringMatching(/^GR1348941.{20}$/),
      enabled_git_access_protocol: 'all',
      prevent_sharing_groups_outside_hierarchy: false,
    });
    expect(own.projects).toEqual([
      expect.objectContaining({ name: 'web', path_with_namespace: `${group.full_path}/web`, issues_enabled: true }),
    ]);
    expect(own.shared_projects).toEqual([]);
    const stranger = (await bob.client.get(`/api/v4/groups/${group.id}`)).body;
    expect(stranger).not.toHaveProperty('runners_token');
    expect(stranger.projects).toEqual([]);
    expect(
      (await ada.client.get(`/api/v4/groups/${group.id}`).query({ with_projects: 'False' })).body,
    ).not.toHaveProperty('projects');
    expect(await createGroup({ parent_id: group.id })).not.toHaveProperty('prevent_sharing_groups_outside_hierarchy');
  });

  it.each<[string, () => Agent, 'basic' | 'full']>([
    ['anonymous callers', () => identity.anonymous, 'basic'],
    ['a stranger', () => bob.client, 'full'],
    ['its owner', () => ada.client, 'full'],
    ['an administrator', () => identity.root, 'full'],
  ])('shows %s its projects like the lists of projects', async (_, getPerson, shape) => {
    const [group, other] = [await createGroup({ visibility: 'public' }), await createGroup({ visibility: 'public' })];
    const project = async (name: string, namespace_id: number): Promise<number> =>
      (await ada.client.post('/api/v4/projects').send({ name, namespace_id, visibility: 'public' }).expect(201)).body
        .id;
    await project('web', group.id);
    const shared = await project('lent', other.id);
    const share = { group_id: group.id, group_access: 10 };
    await ada.client.post(`/api/v4/projects/${shared}/share`).send(share).expect(201);
    const client = getPerson();
    const get = async (path: string) => (await client.get(`/api/v4/groups/${group.id}${path}`).expect(200)).body;
    const { projects, shared_projects } = await get('');
    expect(projects).toEqual(await get('/projects?with_shared=false'));
    expect(shared_projects).toEqual(await get('/projects/shared'));
    for (const one of [...projects, ...shared_projects]) {
      expect(one).toMatchObject({ visibility: 'public', star_count: 0 });
      for (const field of ['creator_id', 'open_issues_count', 'permissions', 'shared_with_groups', 'issues_enabled'])
        expect([field, field in one]).toEqual([field, shape === 'full']);
    }
    expect([projects.length, shared_projects.length]).toEqual([1, 1]);
  });

  it('has all fields that clients read', async () => {
    const group = await createGroup();
    expect(Object.keys((await ada.client.get(`/api/v4/groups/${group.id}`)).body)).toEqual(
      expect.arrayContaining(LIST_KEYS),
    );
    expect(Object.keys((await ada.client.get('/api/v4/groups').query({ owned: true })).body[0])).toEqual(
      expect.arrayContaining(LIST_KEYS),
    );
  });
});

describe('visibility of a group', () => {
  const people = ['anonymous', 'external', 'stranger', 'guest', 'owner', 'administrator'] as const;
  const sees: Record<string, readonly (typeof people)[number][]> = {
    private: ['guest', 'owner', 'administrator'],
    internal: ['stranger', 'guest', 'owner', 'administrator'],
    public: people,
  };
  it.each(Object.keys(sees))('%s', async (visibility) => {
    const group = await createGroup({ visibility });
    const guest = await identity.person(uniquePath('guest'));
    const external = await identity.person(uniquePath('ext'), { external: true });
    await addMember(group, guest, 10);
    const clients = {
      anonymous: identity.anonymous,
      external: external.client,
      stranger: bob.client,
      guest: guest.client,
      owner: ada.client,
      administrator: identity.root,
    };
    for (const who of people) {
      const { status } = await clients[who].get(`/api/v4/groups/${group.id}`);
      expect([who, status]).toEqual([who, sees[visibility]!.includes(who) ? 200 : 404]);
      const put = await clients[who].put(`/api/v4/groups/${group.id}`).send({ description: 'new' });
      const expected =
        who === 'anonymous'
          ? 401
          : !sees[visibility]!.includes(who)
            ? 404
            : who === 'owner' || who === 'administrator'
              ? 200
              : 403;
      expect([who, put.status]).toEqual([who, expected]);
    }
  });
});

describe('GET /groups', () => {
  const paths = (body: { path: string }[]) => body.map((group) => group.path);
  let lena: Person;
  let mine: Group;
  let below: Group;
  beforeAll(async () => {
    lena = await identity.person('lena');
    mine = await createGroup({ name: 'Beta', path: 'lena-beta' }, lena);
    below = await createGroup({ name: 'Sub', path: 'lena-sub', parent_id: mine.id }, lena);
    await createGroup({ name: 'Alpha', path: 'lena-alpha', visibility: 'public' }, lena);
    const other = await createGroup({ name: 'Other', path: 'lena-other' });
    await addMember(other, lena, 20);
    for (const path of ['lena-x1', 'lena-x2']) await createGroup({ name: path, path }, lena);
  });
  const list = async (query: Record<string, unknown> = {}) =>
    paths((await lena.client.get('/api/v4/groups').query(query)).body);

  it('lists groups of the caller by name, with subgroups', async () => {
    expect(await list()).toEqual(['lena-alpha', 'lena-beta', 'lena-other', 'lena-sub', 'lena-x1', 'lena-x2']);
  });
  it.each<[Record<string, unknown>, string[]]>([
    [{ owned: true }, ['lena-alpha', 'lena-beta', 'lena-sub', 'lena-x1', 'lena-x2']],
    [{ min_access_level: 20, search: 'other' }, ['lena-other']],
    [{ min_access_level: 30, search: 'other' }, []],
    [{ top_level_only: true, visibility: 'public' }, ['lena-alpha']],
    [{ search: 'SUB' }, ['lena-sub']],
    [{ search: 'lena-beta/lena' }, ['lena-sub']],
    [{ search: 'al' }, []],
    [{ order_by: 'path', sort: 'desc', per_page: 2 }, ['lena-x2', 'lena-x1']],
    [{ order_by: 'similarity', search: 'sub' }, ['lena-sub']],
    [{ marked_for_deletion_on: '2020-01-01' }, []],
  ])('filters by %j', async (query, expected) => expect(await list(query)).toEqual(expected));

  it('excludes groups, given as a list and as a text', async () => {
    expect(await list({ 'skip_groups[]': [mine.id, below.id] })).not.toContain('lena-beta');
    expect(await list({ skip_groups: `${mine.id},${below.id}` })).not.toContain('lena-sub');
  });

  it('lists all visible groups on request, and all groups for administrators', async () => {
    const secret = await createGroup();
    const open = await createGroup({ visibility: 'internal', name: 'A open' });
    const all = (await lena.client.get('/api/v4/groups').query({ all_available: 1, per_page: 100 })).body.map(
      (group: Group) => group.id,
    );
    expect(all).toContain(open.id);
    expect(all).not.toContain(secret.id);
    const everything = (await identity.root.get('/api/v4/groups').query({ search: secret.full_path })).body;
    expect(everything.map((group: Group) => group.id)).toEqual([secret.id]);
  });

  it('lists public groups for anonymous callers, also by cursor', async () => {
    const plain = (await identity.anonymous.get('/api/v4/groups').query({ per_page: 100 })).body;
    expect(plain.every((group: { visibility: string }) => group.visibility === 'public')).toBe(true);
    const found: string[] = [];
    let url: string | undefined = '/api/v4/groups?pagination=keyset&per_page=2';
    while (url) {
      const { body, headers }: { body: { path: string }[]; headers: Record<string, string> } =
        await identity.anonymous.get(url);
      expect(headers['x-total']).toBeUndefined();
      found.push(...paths(body));
      url = /<http:\/\/localhost:8080([^>]+)>; rel="next"/.exec(headers['link'] ?? '')?.[1];
    }
    expect(found).toEqual(paths(plain));
    const signedIn = await lena.client.get('/api/v4/groups?pagination=keyset');
    expect(signedIn.get('x-page')).toBe('1');
    await identity.anonymous.get('/api/v4/groups?page=2501').expect(405);
    expect((await lena.client.get('/api/v4/groups?page=2501')).body).toEqual([]);
    expect((await lena.client.get('/api/v4/groups?min_access_level=x')).body).toEqual({
      error: 'min_access_level is invalid',
    });
  });

  registerListPagingTests(() => ({
    app: identity.app,
    viewer: makeViewer({ userId: lena.id, username: 'lena' }),
    path: '/api/v4/groups',
    query: { sort: 'asc' },
    rows: 6,
  }));
});

describe('GET /groups/:id/subgroups', () => {
  it('lists direct subgroups: an anonymous caller may see more than a non-member', async () => {
    const parent = await createGroup({ visibility: 'public' });
    const child = await createGroup({ parent_id: parent.id, visibility: 'public' });
    await createGroup({ parent_id: child.id, visibility: 'public' });
    const ids = async (client: typeof identity.anonymous, query = {}) =>
      (await client.get(`/api/v4/groups/${parent.id}/subgroups`).query(query)).body.map((group: Group) => group.id);
    expect(await ids(identity.anonymous)).toEqual([child.id]);
    expect(await ids(bob.client)).toEqual([]);
    expect(await ids(bob.client, { all_available: true })).toEqual([child.id]);
    expect(await ids(ada.client)).toEqual([child.id]);
  });
});

describe('PUT /groups/:id', () => {
  it('returns the full group', async () => {
    const group = await createGroup();
    const { body } = await ada.client
      .put(`/api/v4/groups/${group.id}`)
      .send({
        name: 'New',
        description: 'text',
        emails_disabled: true,
        default_branch_protection: 0,
        shared_runners_setting: 'disabled_with_override',
      })
      .expect(200);
    expect(body).toMatchObject({
      name: 'New',
      full_name: 'New',
      description: 'text',
      emails_enabled: false,
      emails_disabled: true,
      default_branch_protection: 0,
      default_branch_protection_defaults: { allowed_to_push: [{ access_level: 30 }], allow_force_push: true },
      shared_runners_setting: 'disabled_and_overridable',
      projects: [],
      runners_token: expect.any(String),
    });
  });

  it('publishes whether the group may be mentioned', async () => {
    const group = await createGroup();
    const known = async (): Promise<unknown> => {
      const [row] = await identity.db.query<{ state: { mentions_disabled: unknown } }>(
        `select state from directory_changes where kind = 'namespace' and entity_id = $1 order by version desc limit 1`,
        [group.id],
      );
      return row!.state.mentions_disabled;
    };
    expect(await known()).toBeNull();
    for (const mentions_disabled of [true, false]) {
      await ada.client.put(`/api/v4/groups/${group.id}`).send({ mentions_disabled }).expect(200);
      expect(await known()).toBe(mentions_disabled);
    }
  });

  it('moves all contents when the path changes, in one version', async () => {
    const top = await createGroup();
    const child = await createGroup({ parent_id: top.id });
    const { body: project }: { body: { id: number; path_with_namespace: string } } = await ada.client
      .post('/api/v4/projects')
      .send({ name: 'web', namespace_id: child.id })
      .expect(201);
    const versions = async () =>
      (await identity.db.query<{ version: number }>(`select version from directory_head`))[0]!.version;
    const before = await versions();
    await ada.client.put(`/api/v4/groups/${top.id}`).send({ path: 'moved-away' }).expect(200);
    expect(await versions()).toBe(before + 1);
    const child2 = (await ada.client.get(`/api/v4/groups/${child.id}`)).body;
    expect(child2.full_path).toBe(`moved-away/${child.full_path.split('/')[1]}`);
    expect((await ada.client.get(`/api/v4/projects/${project.id}`)).body.path_with_namespace).toBe(
      `${child2.full_path}/web`,
    );
    const old = await ada.client.get(`/api/v4/projects/${encodeURIComponent(project.path_with_namespace)}`);
    expect([old.status, old.get('location')]).toEqual([301, `http://localhost:8080/api/v4/projects/${project.id}`]);
  });

  it.each([
    [{ path: 'ada' }, { message: { path: ['has already been taken'] } }],
    [{ path: 'bad path' }, { message: { path: [expect.stringContaining('can contain only')] } }],
    [{ description: 'x'.repeat(501) }, { message: { description: ['is too long (maximum is 500 characters)'] } }],
  ])('refuses %j', async (body, expected) => {
    const group = await createGroup();
    const response = await ada.client.put(`/api/v4/groups/${group.id}`).send(body);
    expect([response.status, response.body]).toEqual([400, expected]);
  });

  it('keeps the visibility between that of the parent and that of the contents', async () => {
    const top = await createGroup({ visibility: 'internal' });
    const child = await createGroup({ parent_id: top.id, visibility: 'internal' });
    const refuse = async (group: Group, visibility: string) =>
      (await ada.client.put(`/api/v4/groups/${group.id}`).send({ visibility })).body.message;
    expect(await refuse(child, 'public')).toEqual({
      visibility_level: ['public is not allowed since the parent group has a internal visibility.'],
    });
    expect(await refuse(top, 'private')).toEqual({
      visibility_level: ['private is not allowed since there are sub-groups with higher visibility.'],
    });
    await ada.client
      .post('/api/v4/projects')
      .send({ name: 'p', namespace_id: child.id, visibility: 'internal' })
      .expect(201);
    expect(await refuse(child, 'private')).toEqual({
      visibility_level: ['private is not allowed since this group contains projects with higher visibility.'],
    });
  });
});

describe('DELETE /groups/:id', () => {
  it('marks for deletion first, and removes with the flag and the full path', async () => {
    const top = await createGroup();
    const child = await createGroup({ parent_id: top.id });
    const { body: project }: { body: { id: number } } = await ada.client
      .post('/api/v4/projects')
      .send({ name: 'web', namespace_id: child.id })
      .expect(201);
    const remove = (body: object = {}) => ada.client.delete(`/api/v4/groups/${top.id}`).send(body);
    expect((await remove({ permanently_remove: true, full_path: top.full_path })).body).toEqual({
      message: 'Group must be marked for deletion first.',
    });
    const day = inDays(0);
    const first = await remove();
    expect([first.status, first.body]).toEqual([202, { message: '202 Accepted' }]);
    const { body: marked } = await ada.client.get(`/api/v4/groups/${top.id}`);
    expect([day, inDays(0)]).toContain(marked.marked_for_deletion_on);
    expect((await remove()).body).toEqual({ message: 'Group has been already marked for deletion' });
    expect((await remove({ permanently_remove: true, full_path: 'wrong' })).body.message).toContain('is incorrect');
    const scheduled = `${top.full_path}-deletion_scheduled-${top.id}`;
    expect(marked).toMatchObject({
      full_path: scheduled,
      path: scheduled,
      name: `${top.name}-deletion_scheduled-${top.id}`,
    });
    expect((await remove({ permanently_remove: true, full_path: top.full_path })).body.message).toContain(
      'is incorrect',
    );
    await remove({ permanently_remove: 'true', full_path: scheduled }).expect(202);
    for (const path of [`/api/v4/groups/${top.id}`, `/api/v4/groups/${child.id}`, `/api/v4/projects/${project.id}`]) {
      await identity.root.get(path).expect(404);
    }
    const gone = await identity.db.query<{ kind: string }>(
      `select kind from directory_changes where state is null and kind <> 'token' and entity_id = any($1)`,
      [[top.id, child.id, project.id]],
    );
    expect(gone.map((row) => row.kind).sort()).toEqual(expect.arrayContaining(['namespace', 'namespace', 'project']));
    const events = await identity.db.query<{ subject: string }>(`select * from outbox`);
    expect(JSON.stringify(events)).toContain('identity.group.deleted');
    expect((await createGroup({ path: top.full_path })).full_path).toBe(top.full_path);
  });

  it('refuses maintainers, answers 404 to callers who cannot see it, and honours If-Unmodified-Since', async () => {
    const group = await createGroup();
    await addMember(group, bob, 40);
    expect((await bob.client.delete(`/api/v4/groups/${group.id}`)).body).toEqual({ message: '403 Forbidden' });
    const stranger = await identity.person(uniquePath('stranger'));
    expect((await stranger.client.delete(`/api/v4/groups/${group.id}`)).body).toEqual({
      message: '404 Group Not Found',
    });
    const late = await ada.client
      .delete(`/api/v4/groups/${group.id}`)
      .set('if-unmodified-since', 'Thu, 01 Jan 2015 00:00:00 GMT');
    expect([late.status, late.body]).toEqual([412, { message: '412 Precondition Failed' }]);
  });
});
