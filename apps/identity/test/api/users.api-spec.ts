import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let ada: Person;
let bob: Person;
beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada', { bio: 'Counts', note: 'first', job_title: 'Countess', organization: 'Engine' });
  bob = await identity.person('bob', { private_profile: true });
});
afterAll(() => identity.close());

const NEW = { username: 'carol', name: 'Carol', email: 'carol@example.com', password: 'correct horse' };
const SUMMARY = ['id', 'username', 'public_email', 'name', 'state', 'locked', 'avatar_url', 'web_url'];

describe('POST /users', () => {
  it('creates an active user with a personal namespace', async () => {
    const { body } = await identity.root.post('/api/v4/users').send(NEW).expect(201);
    expect(body).toMatchObject({
      username: 'carol',
      name: 'Carol',
      email: 'carol@example.com',
      state: 'active',
      is_admin: false,
      can_create_group: true,
      web_url: 'http://localhost:8080/carol',
    });
    expect(body.namespace_id).toEqual(expect.any(Number));
    expect(JSON.stringify(body)).not.toContain('password');
  });

  it('stores a password only as a scrypt digest, and none if none was given', async () => {
    const { body } = await identity.root
      .post('/api/v4/users')
      .send({ ...NEW, username: 'cleo', email: 'cleo@example.com', password: undefined, force_random_password: true })
      .expect(201);
    const rows = await identity.db.query<{ password_digest: string | null }>(
      `select password_digest from users where username = 'carol' or id = $1 order by username`,
      [(body as { id: number }).id],
    );
    expect(rows).toEqual([{ password_digest: expect.stringMatching(/^scrypt\$/) }, { password_digest: null }]);
  });

  it('accepts a form with texts for flags', async () => {
    const { body } = await identity.root
      .post('/api/v4/users')
      .type('form')
      .send({
        ...NEW,
        username: 'dan',
        email: 'dan@mail.10',
        admin: '1',
        projects_limit: '3',
        skip_confirmation: 'True',
      })
      .expect(201);
    expect(body).toMatchObject({ is_admin: true, projects_limit: 3 });
  });

  it.each([
    [{ ...NEW, username: 'other' }, 409, { message: 'Email has already been taken' }],
    [{ ...NEW, email: 'ADA@example.com', username: 'other' }, 409, { message: 'Email has already been taken' }],
    [{ ...NEW, email: 'x@example.com', username: 'ADA' }, 409, { message: 'Username has already been taken' }],
    [
      { ...NEW, password: undefined, email: 'y@example.com', username: 'yy' },
      400,
      {
        error: 'password, reset_password, force_random_password are missing, at least one parameter must be provided',
      },
    ],
    [{ name: 'x', password: '12345678' }, 400, { error: 'email is missing, username is missing' }],
    [
      { ...NEW, email: 'z@example.com', username: 'zz', password: 'short' },
      400,
      {
        message: { password: ['is too short (minimum is 8 characters)'] },
      },
    ],
    [{ ...NEW, email: 'no address', username: 'zz' }, 400, { message: { email: ['is invalid'] } }],
    [{ ...NEW, email: 'z@example.com', username: 'api' }, 400, { message: { username: ['api is a reserved name'] } }],
  ])('refuses %j', async (body, status, expected) => {
    const response = await identity.root.post('/api/v4/users').send(body);
    expect([response.status, response.body]).toEqual([status, expected]);
  });

  it('is for administrators', async () => {
    await ada.client.post('/api/v4/users').send({}).expect(403);
    expect((await identity.anonymous.post('/api/v4/users').send({})).body).toEqual({ message: '401 Unauthorized' });
  });

  it('refuses the path of a top-level group', async () => {
    await identity.root.post('/api/v4/groups').send({ name: 'Taken', path: 'taken' }).expect(201);
    const { status, body } = await identity.root
      .post('/api/v4/users')
      .send({ ...NEW, username: 'Taken', email: 't@example.com' });
    expect([status, body]).toEqual([409, { message: 'Username has already been taken' }]);
  });
});

describe('GET /user', () => {
  it('shows the private fields, and administrator fields to administrators', async () => {
    const own = await ada.client.get('/api/v4/user').expect(200);
    expect(own.body).toMatchObject({
      id: ada.id,
      email: 'ada@example.com',
      work_information: 'Countess at Engine',
      bio: 'Counts',
    });
    expect(own.body).not.toHaveProperty('is_admin');
    expect((await identity.root.get('/api/v4/user')).body).toMatchObject({ id: 1, username: 'root', is_admin: true });
    await identity.anonymous.get('/api/v4/user').expect(401);
  });

  it('accepts tokens with read_user', async () => {
    await identity
      .as({ userId: ada.id, username: 'ada', scopes: ['read_user'] })
      .get('/api/v4/user')
      .expect(200);
    await identity
      .as({ userId: ada.id, username: 'ada', scopes: ['k8s_proxy'] })
      .get('/api/v4/user')
      .expect(403);
  });
});

describe('GET /users/:id', () => {
  it('shows the public fields to users and all fields to administrators', async () => {
    const seen = await bob.client.get(`/api/v4/users/${ada.id}`);
    expect(seen.body).toMatchObject({ id: ada.id, bio: 'Counts', bot: false, is_followed: false });
    expect(seen.body).not.toHaveProperty('email');
    expect((await identity.root.get(`/api/v4/users/${ada.id}`)).body).toMatchObject({
      email: 'ada@example.com',
      note: 'first',
      created_by: { id: 1 },
    });
  });

  it('shows a private profile only to its user and administrators', async () => {
    expect((await ada.client.get(`/api/v4/users/${bob.id}`)).body).not.toHaveProperty('created_at');
    expect((await bob.client.get(`/api/v4/users/${bob.id}`)).body).toHaveProperty('created_at');
  });

  it('answers 404 for missing users', async () => {
    expect((await ada.client.get('/api/v4/users/999999')).body).toEqual({ message: '404 User Not Found' });
  });
});

describe('GET /users', () => {
  const names = (body: { username: string }[]) => body.map((user) => user.username);

  it('lists summaries, newest first', async () => {
    const { body, headers } = await ada.client.get('/api/v4/users');
    expect(names(body)).toEqual(expect.arrayContaining(['root', 'ada', 'bob']));
    expect(body.map((user: { id: number }) => user.id)).toEqual(
      [...body.map((user: { id: number }) => user.id)].sort((a, b) => b - a),
    );
    expect(Object.keys(body[0])).toEqual(SUMMARY);
    expect(headers['x-total']).toBe(String(body.length));
  });

  it.each<[Record<string, string>, string[]]>([
    [{ username: 'ADA' }, ['ada']],
    [{ search: 'am' + 'e of b' }, ['bob']],
    [{ search: 'ob@example.co' }, []],
    [{ blocked: 'True' }, []],
  ])('filters by %j', async (query, expected) => {
    expect(names((await ada.client.get('/api/v4/users').query(query)).body)).toEqual(expected);
  });

  it.each<[Record<string, string>, string[]]>([
    [{ search: 'bob@example.com' }, ['bob']],
    [{ created_after: '2999-01-01T00:00:00Z' }, []],
  ])('filters by %j for administrators', async (query, expected) => {
    expect(names((await identity.root.get('/api/v4/users').query(query)).body)).toEqual(expected);
  });

  it('ignores administrator filters of other callers', async () => {
    const admins = names(
      (await identity.root.get('/api/v4/users').query({ admins: true, order_by: 'username', sort: 'asc' })).body,
    );
    expect(admins).toEqual(['dan', 'root']);
    expect(names((await ada.client.get('/api/v4/users').query({ admins: true })).body)).toContain('bob');
  });

  it('refuses anonymous callers unless they filter by username', async () => {
    expect((await identity.anonymous.get('/api/v4/users')).body).toEqual({ message: '403 Forbidden' });
    expect(names((await identity.anonymous.get('/api/v4/users').query({ username: 'ada' })).body)).toEqual(['ada']);
  });

  it('continues by cursor', async () => {
    const found: string[] = [];
    let url: string | undefined = '/api/v4/users?pagination=keyset&per_page=2&order_by=username&sort=asc';
    while (url) {
      const { body, headers }: { body: { username: string }[]; headers: Record<string, string> } =
        await identity.root.get(url);
      found.push(...names(body));
      url = /<http:\/\/localhost:8080([^>]+)>; rel="next"/.exec(headers['link'] ?? '')?.[1];
    }
    expect(found).toEqual([...found].sort());
    expect(found).toEqual(expect.arrayContaining(['ada', 'bob', 'carol', 'dan', 'root']));
  });
});

it("a forged cursor and a limit above the column's maximum are 400", async () => {
  const cursor = Buffer.from('{"id":"zz"}').toString('base64url');
  const forged = await identity.root.get('/api/v4/users').query({ pagination: 'keyset', cursor });
  expect([forged.status, forged.body]).toEqual([400, { error: 'cursor is invalid' }]);
  const ofOrderById = Buffer.from('{"id":5}').toString('base64url');
  for (const [path, query] of [
    ['users', { order_by: 'name' }],
    ['groups', {}],
  ] as const) {
    const client = path === 'users' ? identity.root : identity.anonymous;
    const { status, body } = await client
      .get(`/api/v4/${path}`)
      .query({ pagination: 'keyset', cursor: ofOrderById, ...query });
    expect([status, body]).toEqual([400, { error: 'cursor is invalid' }]);
  }
  const body = { email: 'q@x.y', username: 'quin', name: 'Q', password: 'correct horse', projects_limit: 2 ** 31 };
  const made = await identity.root.post('/api/v4/users').send(body);
  expect([made.status, made.body]).toEqual([400, { error: 'projects_limit does not have a valid value' }]);
});

describe('POST /users/:id/block', () => {
  it('answers true, then null, and changes the state', async () => {
    const eve = await identity.person('eve');
    const first = await identity.root.post(`/api/v4/users/${eve.id}/block`);
    expect([first.status, first.text]).toEqual([201, 'true']);
    const again = await identity.root.post(`/api/v4/users/${eve.id}/block`);
    expect([again.status, again.text]).toEqual([201, 'null']);
    expect((await identity.root.get(`/api/v4/users/${eve.id}`)).body.state).toBe('blocked');
    expect(
      (await identity.root.get('/api/v4/users').query({ blocked: true })).body.map((u: { id: number }) => u.id),
    ).toEqual([eve.id]);
  });

  it('refuses oneself, callers who are not administrators, and missing users', async () => {
    expect((await identity.root.post('/api/v4/users/1/block')).body).toEqual({
      message: '403 Forbidden - The API initiating user cannot be blocked by the API',
    });
    await ada.client.post(`/api/v4/users/${bob.id}/block`).expect(403);
    expect((await identity.root.post('/api/v4/users/999999/block')).body).toEqual({ message: '404 User Not Found' });
  });
});
