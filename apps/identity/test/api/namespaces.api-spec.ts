import { makeViewer, registerListPagingTests, registerParameterEncodingTests } from '@rookery/testing';
import { SeatCountsJob } from '../../src/namespaces/plans/seat-counts.job';
import { inDays, maker } from '../support/groups-and-projects';
import type { MadeGroup } from '../support/groups-and-projects';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let ada: Person;
let bob: Person;
const { group, project, person, join, unique } = maker(() => identity);
beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
  bob = await identity.person('bob');
});
afterAll(() => identity.close());

const OPEN_FIELDS = ['id', 'name', 'path', 'kind', 'full_path', 'parent_id', 'avatar_url', 'web_url'];
const fetchStatusAndBody = async (client: typeof identity.anonymous, path: string, query = {}) => {
  const { status, body } = await client.get(path).query(query);
  return [status, body];
};
const NOT_FOUND = [404, { message: '404 Namespace Not Found' }];

describe('GET /namespaces/:id', () => {
  it("returns the caller's own one, and hides those of others", async () => {
    const own = {
      id: ada.namespaceId,
      name: 'Name of ada',
      path: 'ada',
      kind: 'user',
      full_path: 'ada',
      parent_id: null,
      avatar_url: null,
      web_url: 'http://localhost:8080/ada',
      root_repository_size: 0,
      projects_count: 0,
      shared_runners_minutes_limit: null,
      extra_shared_runners_minutes_limit: null,
      additional_purchased_storage_size: 0,
      additional_purchased_storage_ends_on: null,
      billable_members_count: 1,
      plan: 'ultimate',
      end_date: null,
      trial: false,
      trial_ends_on: null,
    };
    for (const ref of [ada.namespaceId, 'ada', 'ADA']) {
      expect(await fetchStatusAndBody(ada.client, `/api/v4/namespaces/${ref}`)).toEqual([200, own]);
      expect(await fetchStatusAndBody(identity.root, `/api/v4/namespaces/${ref}`)).toEqual([200, own]);
      expect(await fetchStatusAndBody(bob.client, `/api/v4/namespaces/${ref}`)).toEqual(NOT_FOUND);
    }
  });

  it('returns a group to callers who can see it, and its seats and plan to owners and administrators', async () => {
    const top = await group(ada, { visibility: 'public' });
    const below = await group(ada, { parent_id: top.id, visibility: 'public' });
    const [guest, developer, blocked, gone] = await Promise.all([person(), person(), person(), person()]);
    await join(`/api/v4/groups/${top.id}`, guest, 10);
    await join(`/api/v4/groups/${below.id}`, developer, 30);
    await join(`/api/v4/groups/${below.id}`, blocked, 30);
    await join(`/api/v4/groups/${below.id}`, gone, 30);
    await identity.db.query(`update users set state = 'blocked' where id = $1`, [blocked.id]);
    await identity.db.query(`update members set expires_on = $2 where user_id = $1`, [gone.id, inDays(0)]);
    const inside = await project(ada, { namespace_id: below.id });
    const [helper, friend] = [await person(), await person()];
    await join(`/api/v4/projects/${inside.id}`, helper, 20);
    const invited = await group(bob, { visibility: 'internal' });
    await join(`/api/v4/groups/${invited.id}`, friend, 40);
    await ada.client
      .post(`/api/v4/groups/${below.id}/share`)
      .send({ group_id: invited.id, group_access: 20 })
      .expect(201);
    await identity.db.query(
      `insert into project_statistics (project_id, repository_size) values ($1, 1234)
      on conflict (project_id) do update set repository_size = 1234`,
      [inside.id],
    );

    const expected = {
      id: top.id,
      kind: 'group',
      web_url: `http://localhost:8080/groups/${top.full_path}`,
      members_count_with_descendants: 3,
      root_repository_size: 1234,
      projects_count: 1,
      // ada, the developer, the helper, bob and bob's friend; guests are free.
      billable_members_count: 5,
      seats_in_use: 5,
      max_seats_used: null,
      max_seats_used_changed_at: null,
      plan: 'ultimate',
      trial: false,
      trial_ends_on: null,
      end_date: null,
    };
    for (const client of [ada.client, identity.root])
      expect((await client.get(`/api/v4/namespaces/${top.id}`)).body).toMatchObject(expected);
    for (const { client } of [guest, bob, developer]) {
      const { status, body } = await client.get(`/api/v4/namespaces/${encodeURIComponent(below.full_path)}`);
      expect([status, body.parent_id, Object.keys(body)]).toEqual([200, top.id, OPEN_FIELDS]);
    }
    const sub = (await ada.client.get(`/api/v4/namespaces/${below.id}`)).body;
    expect(sub).toMatchObject({ members_count_with_descendants: 1, billable_members_count: 4, projects_count: 1 });
    for (const field of ['plan', 'trial', 'seats_in_use', 'max_seats_used']) expect(sub).not.toHaveProperty(field);
    // In other plans guests take a seat too.
    await identity.root.put(`/api/v4/namespaces/${top.id}`).send({ plan: 'premium' }).expect(200);
    expect((await ada.client.get(`/api/v4/namespaces/${top.id}`)).body).toMatchObject({
      seats_in_use: 6,
      plan: 'premium',
    });
  });

  it('keeps the highest number of used seats', async () => {
    const top = await group(ada);
    const counts = identity.app.get(SeatCountsJob);
    const seats = async () => {
      const { seats_in_use, max_seats_used, max_seats_used_changed_at } = (
        await ada.client.get(`/api/v4/namespaces/${top.id}`)
      ).body;
      return { now: seats_in_use, most: max_seats_used, at: max_seats_used_changed_at };
    };
    await counts.run();
    const first = await seats();
    expect(first).toEqual({ now: 1, most: 1, at: expect.any(String) });
    await join(`/api/v4/groups/${top.id}`, bob, 30);
    await counts.run();
    const second = await seats();
    expect([second.now, second.most, second.at > first.at]).toEqual([2, 2, true]);
    await identity.root.delete(`/api/v4/groups/${top.id}/members/${bob.id}`).expect(204);
    await counts.run();
    expect(await seats()).toEqual({ now: 1, most: 2, at: second.at });
  });

  it('answers 404 to callers who cannot see it', async () => {
    const secret = await group(ada);
    const internal = await group(ada, { visibility: 'internal' });
    const external = await person({ external: true });
    expect(await fetchStatusAndBody(bob.client, `/api/v4/namespaces/${secret.id}`)).toEqual(NOT_FOUND);
    expect(await fetchStatusAndBody(bob.client, `/api/v4/namespaces/${secret.path}`)).toEqual(NOT_FOUND);
    expect((await fetchStatusAndBody(bob.client, `/api/v4/namespaces/${internal.id}`))[0]).toBe(200);
    expect(await fetchStatusAndBody(external.client, `/api/v4/namespaces/${internal.id}`)).toEqual(NOT_FOUND);
    for (const ref of ['999999', 'no-such', 'no%2Fsuch', '99999999999999999999'])
      expect(await fetchStatusAndBody(ada.client, `/api/v4/namespaces/${ref}`)).toEqual(NOT_FOUND);
    await ada.client.get('/api/v4/namespaces/a%00b').expect(400);
    expect(await fetchStatusAndBody(identity.anonymous, `/api/v4/namespaces/${internal.id}`)).toEqual([
      401,
      { message: '401 Unauthorized' },
    ]);
    const narrow = identity.as({ userId: ada.id, username: 'ada', scopes: ['read_user'] });
    await narrow.get(`/api/v4/namespaces/${internal.id}`).expect(403);
  });
});

describe('GET /namespaces', () => {
  let lena: Person;
  let mine: MadeGroup;
  let below: MadeGroup;
  let joined: MadeGroup;
  beforeAll(async () => {
    lena = await identity.person('lena');
    mine = await group(lena, { name: 'Mine', path: 'lena-mine' });
    below = await group(lena, { name: 'Below', path: 'under', parent_id: mine.id });
    joined = await group(bob, { name: 'Joined', path: unique('joined') });
    await join(`/api/v4/groups/${joined.id}`, lena, 20);
    await group(lena, { name: 'Fifth', path: 'lena-fifth' });
    await group(bob, { visibility: 'public' });
  });
  const paths = async (query: object = {}, client = lena.client): Promise<string[]> =>
    (await client.get('/api/v4/namespaces').query({ ...query })).body.map(
      (one: { full_path: string }) => one.full_path,
    );

  it('lists the own one and groups with membership, by id', async () => {
    expect(await paths()).toEqual(['lena', 'lena-mine', 'lena-mine/under', joined.path, 'lena-fifth']);
  });

  it.each<[object, () => string[]]>([
    [{ owned_only: true }, () => ['lena', 'lena-mine', 'lena-mine/under', 'lena-fifth']],
    [{ top_level_only: 'True' }, () => ['lena', 'lena-mine', joined.path, 'lena-fifth']],
    [{ search: 'JOIN' }, () => [joined.path]],
    [{ search: 'mine' }, () => ['lena-mine']],
    [{ search: 'mine', full_path_search: true }, () => ['lena-mine', 'lena-mine/under']],
    [{ search: 'un' }, () => []],
    [{ search: '_' }, () => []],
  ])('filters by %j', async (query, expected) => expect(await paths(query)).toEqual(expected()));

  it('shows seats and plans only of owned ones', async () => {
    const { body } = await lena.client.get('/api/v4/namespaces');
    const plans = Object.fromEntries(body.map((one: { path: string; plan?: string }) => [one.path, one.plan]));
    expect(plans).toEqual({
      lena: 'ultimate',
      'lena-mine': 'ultimate',
      [joined.path]: undefined,
      under: undefined,
      'lena-fifth': 'ultimate',
    });
    expect(body[3]).toEqual({
      id: joined.id,
      name: 'Joined',
      path: joined.path,
      kind: 'group',
      full_path: joined.path,
      parent_id: null,
      avatar_url: null,
      web_url: `http://localhost:8080/groups/${joined.path}`,
    });
  });

  it('lists all for administrators, and none without a token', async () => {
    expect(await paths({ search: 'lena' }, identity.root)).toEqual(['lena', 'lena-mine', 'lena-fifth']);
    expect(await paths({ per_page: 100 }, identity.root)).toEqual(expect.arrayContaining(['ada', 'bob', 'root']));
    expect(await fetchStatusAndBody(identity.anonymous, '/api/v4/namespaces')).toEqual([
      401,
      { message: '401 Unauthorized' },
    ]);
    expect(await fetchStatusAndBody(lena.client, '/api/v4/namespaces', { owned_only: 'x' })).toEqual([
      400,
      { error: 'owned_only is invalid' },
    ]);
    expect((await lena.client.get('/api/v4/namespaces').query({ search: 'a\0b' })).status).toBeLessThan(500);
    expect(below.parent_id).toBe(mine.id);
  });

  registerListPagingTests(() => ({
    app: identity.app,
    viewer: makeViewer({ userId: lena.id, username: 'lena' }),
    path: '/api/v4/namespaces',
    query: { top_level_only: false },
    rows: 5,
  }));
});

describe('GET /namespaces/:namespace/exists', () => {
  // Each check is by another user, because checks are counted.
  const exists = async (path: string, query: object = {}, who?: Person) =>
    (await (who ?? (await person())).client.get(`/api/v4/namespaces/${path}/exists`).query({ ...query })).body;

  it('checks groups and users at the top level, and suggests the first free number', async () => {
    const own = await group(ada, { path: 'wanted' });
    expect(await exists('free-path')).toEqual({ exists: false, suggests: [] });
    expect(await exists('WANTED')).toEqual({ exists: true, suggests: ['WANTED1'] });
    for (const path of ['wanted1', 'Wanted2']) await group(bob, { path });
    expect(await exists('wanted')).toEqual({ exists: true, suggests: ['wanted3'] });
    expect(await exists('ada')).toEqual({ exists: true, suggests: ['ada1'] });
    expect(await exists(encodeURIComponent(own.full_path))).toMatchObject({ exists: true });
    expect(await exists('%2F%00')).toEqual({ error: 'namespace is invalid' });
  });

  it('checks below a parent that the caller can see', async () => {
    const top = await group(ada);
    const child = await group(ada, { parent_id: top.id, path: 'child' });
    await project(ada, { namespace_id: top.id, path: 'child1', name: 'One' });
    expect(await exists('child')).toEqual({ exists: false, suggests: [] });
    expect(await exists('child', { parent_id: top.id }, ada)).toEqual({ exists: true, suggests: ['child2'] });
    // A project is not a namespace.
    expect(await exists('child1', { parent_id: top.id }, ada)).toEqual({ exists: false, suggests: [] });
    expect(await exists('child', { parent_id: top.id })).toEqual({ exists: false, suggests: [] });
    expect(await exists('child', { parent_id: 999_999 })).toEqual({ exists: false, suggests: [] });
    expect(await exists('child', { parent_id: 'x' })).toEqual({ error: 'parent_id is invalid' });
    expect(await exists(top.path, { parent_id: '' }, ada)).toMatchObject({ exists: true });
    expect(child.parent_id).toBe(top.id);
  });

  it('tells callers who are not members of the parent only about namespaces that they can see', async () => {
    const top = await group(ada, { visibility: 'public' });
    await group(ada, { parent_id: top.id, path: 'open', visibility: 'public' });
    await group(ada, { parent_id: top.id, path: 'hidden' });
    const at = { parent_id: top.id };
    expect(await exists('open', at)).toEqual({ exists: true, suggests: [] });
    expect(await exists('OPEN', at)).toEqual({ exists: true, suggests: [] });
    expect(await exists('hidden', at)).toEqual({ exists: false, suggests: [] });
    expect(await exists('nothing', at)).toEqual({ exists: false, suggests: [] });
    const member = await person();
    const joining = { user_id: member.id, access_level: 10 };
    await ada.client.post(`/api/v4/groups/${top.id}/members`).send(joining).expect(201);
    expect(await exists('hidden', at, member)).toEqual({ exists: true, suggests: ['hidden1'] });
    const { body } = await identity.root.get('/api/v4/namespaces/hidden/exists').query(at);
    expect(body).toEqual({ exists: true, suggests: ['hidden1'] });
  });

  it('requires a token and is limited to 20 checks per minute', async () => {
    expect(await fetchStatusAndBody(identity.anonymous, '/api/v4/namespaces/x/exists')).toEqual([
      401,
      { message: '401 Unauthorized' },
    ]);
    const curious = await person();
    const asked = await Promise.all(
      Array.from({ length: 22 }, () => curious.client.get('/api/v4/namespaces/whatever/exists')),
    );
    expect(asked.filter(({ status }) => status === 200)).toHaveLength(20);
    const [refused] = asked.filter(({ status }) => status === 429);
    expect(refused!.body).toEqual({
      message: {
        error:
          'This endpoint has been requested too many times. Try again later. The limit namespace_exists is 20 a minute, set by NAMESPACE_CHECKS_PER_MINUTE_COUNT.',
      },
    });
    expect(Number(refused!.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(refused!.get('retry-after'))).toBeLessThanOrEqual(60);
    const bot = identity.as({ userId: curious.id + 1_000_000, username: 'bot', isBot: true, creatorId: curious.id });
    await bot.get('/api/v4/namespaces/whatever/exists').expect(429);
    await identity.db.query(
      `update namespace_checks set window_started_at = now() - interval '61 seconds' where user_id = $1`,
      [curious.id],
    );
    await curious.client.get('/api/v4/namespaces/whatever/exists').expect(200);
  });
});

describe('PUT /namespaces/:id', () => {
  it('sets the plan of the whole tree, in one version', async () => {
    const top = await group(ada);
    const below = await group(ada, { parent_id: top.id });
    const [{ version }] = (await identity.db.query(`select version from directory_head`)) as [{ version: number }];
    const { status, body } = await identity.root.put(`/api/v4/namespaces/${top.full_path}`).send({ plan: 'free' });
    expect([status, body.id, body.plan]).toEqual([200, top.id, 'free']);
    const changes = await identity.db.query<{ version: number; entity_id: number; state: { plan: string } }>(
      `select version, entity_id, state from directory_changes where version > $1 order by ordinal`,
      [version],
    );
    expect(changes.map((row) => [row.version, row.entity_id, row.state.plan])).toEqual([
      [version + 1, top.id, 'free'],
      [version + 1, below.id, 'free'],
    ]);
    const later = await group(ada, { parent_id: below.id });
    const [row] = await identity.db.query<{ plan: string }>(`select plan from namespaces where id = $1`, [later.id]);
    expect(row).toEqual({ plan: 'free' });
    expect(
      (await identity.root.put(`/api/v4/namespaces/${bob.namespaceId}`).send({ plan: 'premium' })).body,
    ).toMatchObject({
      kind: 'user',
      plan: 'premium',
    });
  });

  it('refuses with the documented bodies', async () => {
    const top = await group(ada);
    const below = await group(ada, { parent_id: top.id });
    const put = async (client: typeof identity.anonymous, id: number | string, body: object) => {
      const response = await client.put(`/api/v4/namespaces/${id}`).send(body);
      return [response.status, response.body];
    };
    const good = { plan: 'free' };
    expect(await put(identity.anonymous, top.id, good)).toEqual([401, { message: '401 Unauthorized' }]);
    expect(await put(ada.client, top.id, { plan: 'x' })).toEqual([403, { message: '403 Forbidden' }]);
    expect(await put(identity.root, top.id, {})).toEqual([400, { error: 'plan is missing' }]);
    expect(await put(identity.root, top.id, { plan: 'gold' })).toEqual([
      400,
      { error: 'plan does not have a valid value' },
    ]);
    expect(await put(identity.root, 999_999, good)).toEqual(NOT_FOUND);
    expect(await put(identity.root, below.id, good)).toEqual([
      400,
      { message: '400 Bad request - Plan can be changed for top-level namespaces only' },
    ]);
  });

  registerParameterEncodingTests({
    app: () => identity.app,
    to: async () => {
      const { id } = await group(ada);
      const viewer = makeViewer({ userId: 1, username: 'root', isAdmin: true });
      return { viewer, method: 'PUT', path: `/api/v4/namespaces/${id}`, params: { plan: 'premium' } };
    },
    seen: (body) => body['plan'],
    expected: 'premium',
  });
});
