import { makeViewer, registerListPagingTests } from '@rookery/testing';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
const people: Record<string, Person> = {};
/**
 * In the order of creation: root, ann (external), bea (blocked), cat (banned), fay (has a public address), dan (old).
 */
beforeAll(async () => {
  identity = await startIdentity();
  for (const [name, over] of Object.entries({
    ann: { external: true, provider: 'ldap', extern_uid: 'uid-ann', name: 'Zora' },
    bea: {},
    cat: { admin: true, name: 'Ann Other' },
    fay: { public_email: 'fay@example.com' },
    dan: {},
  }))
    people[name] = await identity.person(name, over);
  const { db } = identity;
  await db.query(`update users set state = 'blocked' where username = 'bea'`);
  await db.query(`update users set state = 'banned' where username = 'cat'`);
  await db.query(`update users set created_at = '2020-01-01', updated_at = '2030-01-01' where username = 'dan'`);
  const dan = people['dan']!.client;
  const tool = (await dan.post('/api/v4/projects').send({ name: 'tool', visibility: 'public' }).expect(201)).body;
  const token = { name: 'ci', scopes: ['api'], access_level: 10 };
  await dan.post(`/api/v4/projects/${tool.id}/access_tokens`).send(token).expect(201);
  await db.query(`update users set username = 'bot', name = 'Bot' where kind = 'project_bot'`);
  await db.query(
    `insert into users (username, name, email, kind) values
       ('service', 'Service', 'service@bots.invalid', 'service_account'), ('ghost', 'Ghost', 'g@ghost.invalid', 'ghost')`,
  );
  await db.query(
    `insert into emails (user_id, email) select id, 'claimed@example.com' from users where username = 'dan'`,
  );
  for (const [name, key, value] of [
    ['ann', 'place', 'north'],
    ['dan', 'place', 'north'],
    ['dan', 'desk', '7'],
  ])
    await identity.root.put(`/api/v4/users/${people[name!]!.id}/custom_attributes/${key}`).send({ value }).expect(200);
});
afterAll(() => identity.close());

type Query = Record<string, unknown>;
const listUsernames = async (query: Query, client = identity.root): Promise<string[]> =>
  (await client.get('/api/v4/users').query(query)).body.map((user: { username: string }) => user.username);
const ALL = ['ghost', 'service', 'bot', 'dan', 'fay', 'cat', 'bea', 'ann', 'root'];
const allNamesExcept = (...gone: string[]): string[] => ALL.filter((name) => !gone.includes(name));

describe('GET /users', () => {
  it.each<[Query, string[]]>([
    [{}, ALL],
    [{ active: true }, allNamesExcept('ghost', 'cat', 'bea')],
    [{ active: false }, ALL],
    [{ blocked: true }, ['bea']],
    [{ blocked: 'False' }, ALL],
    [{ external: false }, ALL],
    [{ humans: true }, allNamesExcept('ghost', 'service', 'bot')],
    [{ exclude_humans: true }, ['ghost', 'service', 'bot']],
    [{ exclude_active: true }, ['cat', 'bea']],
    [{ exclude_internal: true }, allNamesExcept('ghost')],
    [{ without_project_bots: true }, allNamesExcept('bot')],
    [{ username: 'DAN' }, ['dan']],
    [{ username: 'da' }, []],
    [{ search: 'ann' }, ['cat', 'ann']],
    [{ search: 'FAY@example.com' }, ['fay']],
    [{ search: 'fay@example' }, []],
    [{ search: '%' }, []],
  ])('is filtered for all callers by %j', async (query, expected) => {
    expect(await listUsernames(query)).toEqual(expected);
    expect(await listUsernames(query, people['dan']!.client)).toEqual(expected);
  });

  it.each<[Query, string[]]>([
    [{ admins: true }, ['cat', 'root']],
    [{ provider: 'ldap', extern_uid: 'uid-ann' }, ['ann']],
    [{ provider: 'saml', extern_uid: 'uid-ann' }, []],
    [{ two_factor: 'enabled' }, []],
    [{ without_projects: true }, allNamesExcept('bot', 'dan')],
    [{ custom_attributes: { place: 'north' } }, ['dan', 'ann']],
    [{ custom_attributes: { place: 'north', desk: '7' } }, ['dan']],
    [{ custom_attributes: { place: 'nor' } }, []],
    [{ external: true }, ['ann']],
    [{ exclude_external: true }, allNamesExcept('ann')],
    [{ active: true, external: true }, ['ann']],
    [{ created_before: '2020-01-02T00:00:00Z' }, ['dan']],
    [{ created_after: '2020-01-02T00:00:00Z', humans: true }, ['fay', 'cat', 'bea', 'ann', 'root']],
    [{ search: 'BEA@example.com' }, ['bea']],
    [{ search: 'bea@example' }, []],
    [{ search: 'claimed@example.com' }, ['dan']],
    [{ order_by: 'username', sort: 'asc', humans: true }, ['ann', 'bea', 'cat', 'dan', 'fay', 'root']],
    [{ order_by: 'name', humans: true, exclude_active: true }, ['bea', 'cat']],
    [{ order_by: 'created_at', sort: 'asc', humans: true }, ['dan', 'root', 'ann', 'bea', 'cat', 'fay']],
    [{ order_by: 'updated_at', humans: true, blocked: false, active: true }, ['dan', 'fay', 'ann', 'root']],
  ])('is filtered and ordered for administrators by %j', async (query, expected) => {
    expect(await listUsernames(query)).toEqual(expected);
  });

  it.each<[Query, string[]]>([
    [{ admins: true }, ALL],
    [{ provider: 'ldap', extern_uid: 'uid-ann' }, ALL],
    [{ two_factor: 'enabled' }, ALL],
    [{ without_projects: true }, ALL],
    [{ custom_attributes: { place: 'north' } }, ALL],
    [{ order_by: 'name' }, ALL],
    [{ order_by: 'created_at', sort: 'asc' }, [...ALL].reverse()],
    [{ order_by: 'updated_at' }, ALL],
    [{ created_before: '2020-01-02T00:00:00Z' }, ALL],
    [{ created_after: '2999-01-02T00:00:00Z' }, ALL],
    [{ external: true }, ALL],
    [{ exclude_external: true }, ALL],
    // Users are not found by unconfirmed or hidden addresses.
    [{ search: 'claimed@example.com' }, []],
    [{ search: 'BEA@example.com' }, []],
  ])('ignores %j of other callers', async (query, expected) => {
    expect(await listUsernames(query, people['dan']!.client)).toEqual(expected);
  });

  it.each<[Query, string[]]>([
    [{ username: 'dan', created_before: '1999-01-02T00:00:00Z' }, ['dan']],
    [{ username: 'ann', exclude_external: true }, ['ann']],
    [{ username: 'dan', external: true }, ['dan']],
    [{ username: 'dan', search: 'dan@example.com' }, []],
    [{ username: 'fay', search: 'fay@example.com' }, []],
    [{ username: 'fay', search: 'fa' }, ['fay']],
  ])('discloses nothing hidden to anonymous callers, by %j', async (query, expected) => {
    expect(await listUsernames(query, identity.anonymous)).toEqual(expected);
  });

  it('shows custom attributes to administrators on request', async () => {
    const attributes = [
      { key: 'desk', value: '7' },
      { key: 'place', value: 'north' },
    ];
    const query = { username: 'dan', with_custom_attributes: 'True' };
    expect((await identity.root.get('/api/v4/users').query(query)).body[0].custom_attributes).toEqual(attributes);
    expect((await identity.root.get('/api/v4/users').query({ username: 'dan' })).body[0]).not.toHaveProperty(
      'custom_attributes',
    );
    expect((await people['ann']!.client.get('/api/v4/users').query(query)).body[0]).not.toHaveProperty(
      'custom_attributes',
    );
    const path = `/api/v4/users/${people['dan']!.id}`;
    expect((await identity.root.get(path).query({ with_custom_attributes: true })).body.custom_attributes).toEqual(
      attributes,
    );
    expect((await identity.root.get(path)).body).not.toHaveProperty('custom_attributes');
    expect((await people['ann']!.client.get(path).query({ with_custom_attributes: true })).body).not.toHaveProperty(
      'custom_attributes',
    );
  });

  it.each([
    [{ order_by: 'email' }, { error: 'order_by does not have a valid value' }],
    [{ sort: 'up' }, { error: 'sort does not have a valid value' }],
    [{ active: 'maybe' }, { error: 'active is invalid' }],
    [{ created_after: 'soon' }, { error: 'created_after is invalid' }],
    [{ two_factor: 'perhaps' }, { error: 'two_factor does not have a valid value' }],
    [{ username: 'a\0b' }, { error: 'username is invalid' }],
    [{ custom_attributes: 'x' }, { error: 'custom_attributes is invalid' }],
  ])('refuses %j', async (query, expected) => {
    const { status, body } = await identity.root.get('/api/v4/users').query(query);
    expect([status, body]).toEqual([400, expected]);
  });

  it('has cursors in the supported orders only', async () => {
    const page = { pagination: 'keyset', per_page: 3, order_by: 'name', sort: 'desc', exclude_internal: true };
    const first = await identity.root.get('/api/v4/users').query(page);
    expect(first.get('x-total')).toBeUndefined();
    const next = /<http:\/\/localhost:8080([^>]+)>; rel="next"/.exec(first.get('link')!)![1]!;
    const second = await identity.root.get(next);
    const both = [...first.body, ...second.body].map((user: { name: string }) => user.name);
    expect(both).toHaveLength(6);
    expect(new Set(both).size).toBe(6);
    const refused = await identity.root.get('/api/v4/users').query({ ...page, order_by: 'created_at' });
    expect([refused.status, refused.body]).toEqual([
      405,
      { error: 'Keyset pagination is not yet available for this type of request' },
    ]);
  });

  registerListPagingTests(() => ({
    app: identity.app,
    viewer: makeViewer({ userId: people['dan']!.id, username: 'dan' }),
    path: '/api/v4/users',
    query: { exclude_internal: true },
    rows: 8,
  }));
});

describe('the bot of a token', () => {
  it('is known to callers who can see its group or project', async () => {
    const { ann, dan, fay } = people as Record<string, Person>;
    const made = async (path: string, body: object) =>
      (await dan!.client.post(`/api/v4/${path}`).send(body).expect(201)).body as { id: number; user_id: number };
    const open = await made('projects', { name: 'marked', visibility: 'public' });
    for (const visibility of ['private', 'internal', 'public']) {
      const group = await made('groups', { name: `Nest ${visibility}`, path: `nest-${visibility}`, visibility });
      const project = await made('projects', { name: 'egg', namespace_id: group.id, visibility });
      for (const place of [`groups/${group.id}`, `projects/${project.id}`]) {
        const token = { name: 'deploy', scopes: ['api'], access_level: 10 };
        const { user_id: id } = await made(`${place}/access_tokens`, token);
        const { username } = (await identity.root.get(`/api/v4/users/${id}`).expect(200)).body as { username: string };
        const bot = identity.as({ userId: id, username, isBot: true });
        await bot.post(`/api/v4/projects/${open.id}/star`).send({}).expect(201);
        const knownTo = async (client: Person['client'], isSignedIn = true) => {
          const listed = (await listUsernames({ username }, client)).includes(username);
          for (const list of ['projects', 'starred_projects'])
            for (const ref of [id, username])
              expect((await client.get(`/api/v4/users/${ref}/${list}`)).status).toBe(listed ? 200 : 404);
          const { body } = await client
            .get(`/api/v4/projects/${open.id}/starrers`)
            .query({ per_page: 100 })
            .expect(200);
          expect((body as { user: { id: number } }[]).some(({ user }) => user.id === id)).toBe(listed);
          if (!isSignedIn) return listed;
          const { status } = await client.get(`/api/v4/users/${id}`);
          const found = (await listUsernames({ search: username }, client)).includes(username);
          expect([visibility, place, status, found]).toEqual([visibility, place, listed ? 200 : 404, listed]);
          return listed;
        };
        expect(await knownTo(dan!.client)).toBe(true);
        expect(await knownTo(identity.root)).toBe(true);
        expect(await knownTo(fay!.client)).toBe(visibility !== 'private');
        expect(await knownTo(ann!.client)).toBe(visibility === 'public');
        expect(await knownTo(identity.anonymous, false)).toBe(visibility === 'public');
        await bot.get(`/api/v4/users/${id}`).expect(200);
      }
    }
  });
});

describe('GET /users/:id', () => {
  it('shows administrator fields only to administrators', async () => {
    const { body } = await people['dan']!.client.get(`/api/v4/users/${people['ann']!.id}`);
    expect(Object.keys(body)).toEqual([
      'id',
      'username',
      'public_email',
      'name',
      'state',
      'locked',
      'avatar_url',
      'web_url',
      'created_at',
      'bio',
      'bot',
      'location',
      'linkedin',
      'twitter',
      'discord',
      'website_url',
      'github',
      'organization',
      'job_title',
      'pronouns',
      'work_information',
      'followers',
      'following',
      'is_followed',
      'local_time',
    ]);
    const blank = await identity.anonymous.get('/api/v4/users').query({ username: '' });
    expect([blank.status, blank.body]).toEqual([403, { message: '403 Forbidden' }]);
    expect((await identity.anonymous.get(`/api/v4/users/${people['ann']!.id}`)).body).toEqual({
      message: '401 Unauthorized',
    });
  });
});
