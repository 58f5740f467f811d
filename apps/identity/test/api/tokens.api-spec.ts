import { createHash } from 'node:crypto';
import { INTERNAL_PATHS } from '@rookery/contracts';
import type { TestClient } from '@rookery/testing';
import { paging, TEST_INTERNAL_SECRET, aViewer } from '@rookery/testing';
import { ROOT_TOKEN, startIdentity } from '../support/identity-app';
import type { IdentityApp, Person } from '../support/identity-app';

let identity: IdentityApp;
let ada: Person;
let bob: Person;
beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
  bob = await identity.person('bob');
});
afterAll(() => identity.close());

interface Token {
  readonly id: number;
  readonly token: string;
  readonly expires_at: string;
}
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const give = (userId: number, over: object = {}, kind = 'personal_access') =>
  identity.root
    .post(`/users/${userId}/${kind}_tokens`)
    .body({ name: 'bot', scopes: ['api'], ...over })
    .json<Token>();
const holding = (person: Person, token: { id: number }, scopes = ['api']): TestClient =>
  identity.as({ userId: person.id, username: person.username, tokenId: token.id, scopes });

async function resolve(token: string | null, more: object = {}) {
  const digest = token === null ? null : createHash('sha256').update(token).digest('hex');
  const response = await fetch(`${identity.app.baseUrl}${INTERNAL_PATHS.resolveToken}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_INTERNAL_SECRET}`, 'content-type': 'application/json' },
    body: JSON.stringify({ digest, ip: '127.0.0.1', ...more }),
  });
  return (await response.json()) as Record<string, unknown> & {
    outcome: string;
    version: number;
    holder?: Record<string, unknown>;
  };
}

describe('POST /users/:user_id/personal_access_tokens', () => {
  it('shows the secret once', async () => {
    const { status, body } = await identity.root
      .post(`/users/${ada.id}/personal_access_tokens`)
      .body({ name: 'bot', description: 'for tests', scopes: ['api', 'read_user'] });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(Number),
      name: 'bot',
      revoked: false,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      description: 'for tests',
      scopes: ['api', 'read_user'],
      user_id: ada.id,
      last_used_at: null,
      last_used_ips: [],
      active: true,
      expires_at: inDays(365),
      token: expect.stringMatching(/^glpat-[A-Za-z0-9_-]{20}$/),
    });
    expect((await ada.client.get(`/personal_access_tokens/${body.id}`)).body).not.toHaveProperty('token');
    const [row] = await identity.db.query<{ digest: Buffer }>(`select digest from access_tokens where id = $1`, [
      body.id,
    ]);
    expect(row!.digest).toEqual(createHash('sha256').update(body.token).digest());
  });

  it('splits scopes on commas', async () => {
    const { body } = await identity.root
      .post(`/users/${ada.id}/personal_access_tokens`)
      .form({ name: 'x', scopes: ['api,read_user', 'api'] });
    expect(body.scopes).toEqual(['api', 'read_user']);
  });

  it.each([
    [{ scopes: ['api'] }, { error: 'name is missing' }],
    [{ name: '', scopes: ['api'] }, { error: 'name is empty' }],
    [{ name: 'x'.repeat(256), scopes: ['api'] }, { error: 'name is too long (maximum is 255 characters)' }],
    [{ name: 'x' }, { error: 'scopes is missing' }],
    [{ name: 'x', scopes: [] }, { error: 'scopes is empty' }],
    [{ name: 'x', scopes: ['nope'] }, { message: '400 Bad request - Scopes can only contain available scopes' }],
    [{ name: 'x', scopes: ['sudo'] }, { message: '400 Bad request - Scopes can only contain available scopes' }],
    [{ name: 'x', scopes: ['api'], expires_at: 'soon' }, { error: 'expires_at is invalid' }],
    [
      { name: 'x', scopes: ['api'], expires_at: inDays(-1) },
      { message: '400 Bad request - Expiration date cannot be in the past' },
    ],
    [
      { name: 'x', scopes: ['api'], expires_at: inDays(366) },
      { message: `400 Bad request - Expiration date must be before ${inDays(366)}` },
    ],
  ])('refuses %j', async (body, expected) => {
    const response = await identity.root.post(`/users/${ada.id}/personal_access_tokens`).body(body);
    expect([response.status, response.body]).toEqual([400, expected]);
  });

  it('takes today: the token is dead at once', async () => {
    const token = await give(ada.id, { expires_at: inDays(0) });
    expect(token).toMatchObject({ active: false, expires_at: inDays(0) });
    expect((await resolve(token.token)).outcome).toBe('expired');
  });

  it('lets administrators carry sudo', async () => {
    expect(await give(1, { scopes: ['api', 'sudo'] })).toMatchObject({ scopes: ['api', 'sudo'] });
  });

  it('is for administrators, and for users that exist', async () => {
    expect((await ada.client.post(`/users/${ada.id}/personal_access_tokens`).body({})).body).toEqual({
      message: '403 Forbidden',
    });
    const missing = await identity.root
      .post('/users/99999/personal_access_tokens')
      .body({ name: 'x', scopes: ['api'] });
    expect(missing.body).toEqual({ message: '404 User Not Found' });
  });
});

describe('GET /personal_access_tokens', () => {
  let lena: Person;
  beforeAll(async () => {
    lena = await identity.person('lena');
    for (const name of ['b', 'a', 'd', 'c', 'e']) await give(lena.id, { name, expires_at: inDays(name.charCodeAt(0)) });
    const dead = await give(lena.id, { name: 'revoked one' });
    await lena.client.delete(`/personal_access_tokens/${dead.id}`);
    await give(lena.id, { name: 'hidden' }, 'impersonation');
  });
  const names = async (query: Record<string, unknown>) =>
    (await lena.client.get('/personal_access_tokens').query(query)).body.map((token: { name: string }) => token.name);

  it.each<[Record<string, unknown>, string[]]>([
    [{}, ['b', 'a', 'd', 'c', 'e', 'revoked one']],
    [{ sort: 'name_asc' }, ['a', 'b', 'c', 'd', 'e', 'revoked one']],
    [{ sort: 'created_desc' }, ['revoked one', 'e', 'c', 'd', 'a', 'b']],
    [{ sort: 'expires_desc' }, ['revoked one', 'e', 'd', 'c', 'b', 'a']],
    [{ sort: 'id_desc' }, ['b', 'a', 'd', 'c', 'e', 'revoked one']],
    [{ revoked: true }, ['revoked one']],
    [{ revoked: 'False' }, ['b', 'a', 'd', 'c', 'e']],
    [{ state: 'active' }, ['b', 'a', 'd', 'c', 'e']],
    [{ state: 'inactive' }, ['revoked one']],
    [{ search: 'VOKED' }, ['revoked one']],
    [{ expires_before: inDays(99) }, ['b', 'a']],
    [{ expires_after: inDays(99) }, ['d', 'e', 'revoked one']],
    [{ created_after: '2999-01-01' }, []],
    [{ created_before: '2999-01-01' }, ['b', 'a', 'd', 'c', 'e', 'revoked one']],
    [{ last_used_before: '2999-01-01' }, []],
  ])('narrows by %j', async (query, expected) => expect(await names(query)).toEqual(expected));

  it('refuses an unknown state', async () => {
    const { status, body } = await lena.client.get('/personal_access_tokens').query({ state: 'gone' });
    expect([status, body]).toEqual([400, { error: 'state does not have a valid value' }]);
  });

  it('keeps to the caller unless he is an administrator', async () => {
    expect((await ada.client.get('/personal_access_tokens').query({ user_id: lena.id })).body).toEqual({
      message: '401 Unauthorized',
    });
    expect((await identity.root.get('/personal_access_tokens').query({ user_id: lena.id })).body).toHaveLength(6);
    expect((await identity.root.get('/personal_access_tokens').query({ user_id: 99999 })).body).toEqual({
      message: '404 Not Found',
    });
    expect((await identity.nobody.get('/personal_access_tokens')).status).toBe(401);
  });

  paging(() => ({
    app: identity.app,
    viewer: aViewer({ userId: lena.id, username: 'lena' }),
    path: '/personal_access_tokens',
    query: { state: 'active' },
    rows: 5,
  }));
});

describe('one personal access token', () => {
  it('is seen by its owner and administrators; others learn nothing', async () => {
    const token = await give(ada.id);
    expect((await ada.client.get(`/personal_access_tokens/${token.id}`)).status).toBe(200);
    expect((await identity.root.get(`/personal_access_tokens/${token.id}`)).status).toBe(200);
    for (const id of [token.id, 999999]) {
      expect((await bob.client.get(`/personal_access_tokens/${id}`)).body).toEqual({ message: '401 Unauthorized' });
      expect((await bob.client.delete(`/personal_access_tokens/${id}`)).status).toBe(401);
      expect((await bob.client.post(`/personal_access_tokens/${id}/rotate`)).status).toBe(401);
    }
    expect((await identity.root.get('/personal_access_tokens/999999')).status).toBe(404);
  });

  it('knows itself, with any scope, and can revoke itself', async () => {
    const token = await give(ada.id, { scopes: ['read_repository'] });
    const self = holding(ada, token, ['read_repository']);
    expect((await self.get('/personal_access_tokens/self')).body).toMatchObject({ id: token.id });
    const gone = await self.delete('/personal_access_tokens/self');
    expect([gone.status, gone.text]).toEqual([204, '']);
    expect((await resolve(token.token)).outcome).toBe('revoked');
  });

  it('is revoked with 204', async () => {
    const token = await give(ada.id);
    const { status, text, headers } = await ada.client.delete(`/personal_access_tokens/${token.id}`).body({});
    expect([status, text]).toEqual([204, '']);
    expect(Number(headers.get('x-rookery-directory-version'))).toBeGreaterThan(0);
    expect((await ada.client.get(`/personal_access_tokens/${token.id}`)).body).toMatchObject({
      revoked: true,
      active: false,
    });
  });
});

describe('rotation', () => {
  it('replaces the token at once, for a week', async () => {
    const old = await give(ada.id, { name: 'deploy', description: 'd', scopes: ['read_api'] });
    const { status, body } = await ada.client.post(`/personal_access_tokens/${old.id}/rotate`).body({});
    expect(status).toBe(200);
    expect(body).toMatchObject({
      name: 'deploy',
      description: 'd',
      scopes: ['read_api'],
      active: true,
      expires_at: inDays(7),
    });
    expect(body.id).not.toBe(old.id);
    expect((await resolve(old.token)).outcome).toBe('revoked');
    expect((await resolve(body.token)).outcome).toBe('valid');
  });

  it('takes a day', async () => {
    const old = await give(ada.id);
    expect(
      (await ada.client.post(`/personal_access_tokens/${old.id}/rotate`).body({ expires_at: inDays(30) })).body
        .expires_at,
    ).toBe(inDays(30));
  });

  it('of a revoked token fails and takes the family with it', async () => {
    const first = await give(ada.id);
    const second = await ada.client.post(`/personal_access_tokens/${first.id}/rotate`).json<Token>();
    const third = await ada.client.post(`/personal_access_tokens/${second.id}/rotate`).json<Token>();
    const reuse = await ada.client.post(`/personal_access_tokens/${first.id}/rotate`);
    expect([reuse.status, reuse.body]).toEqual([400, { message: '400 Bad request - Token already revoked' }]);
    expect((await resolve(third.token)).outcome).toBe('revoked');
  });

  it('with a revoked token as the credential takes the family with it', async () => {
    const first = await give(ada.id);
    const second = await ada.client.post(`/personal_access_tokens/${first.id}/rotate`).json<Token>();
    expect((await resolve(first.token)).outcome).toBe('revoked');
    expect((await resolve(second.token)).outcome).toBe('valid');
    const before = await resolve(null);
    const reuse = await resolve(first.token, { rotating: true });
    expect(reuse.outcome).toBe('revoked');
    expect(reuse.version).toBeGreaterThan(before.version);
    expect((await resolve(second.token)).outcome).toBe('revoked');
  });

  it('of itself needs api or self_rotate', async () => {
    const token = await give(ada.id, { scopes: ['self_rotate'] });
    const denied = await holding(ada, token, ['read_api']).post('/personal_access_tokens/self/rotate').body({});
    expect([denied.status, denied.body.scope]).toEqual([403, 'api self_rotate']);
    expect(
      (await holding(ada, token, ['self_rotate']).post('/personal_access_tokens/self/rotate').body({})).status,
    ).toBe(200);
  });

  it.each([1, 2, 3])('40 times at once never leaves two working tokens, round %i', async () => {
    const token = await give(ada.id);
    // Connections that are only just being made would let the first request win before the others begin.
    await Promise.all(Array.from({ length: 10 }, () => identity.db.query('select pg_sleep(0.05)')));
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => ada.client.post(`/personal_access_tokens/${token.id}/rotate`).body({}).send()),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status !== 200 && status !== 400)).toEqual([]);
    const [row] = await identity.db.query<{ count: number }>(
      `select count(*)::int as count from access_tokens where family_id = $1 and not revoked`,
      [token.id],
    );
    expect(row!.count).toBeLessThanOrEqual(1);
  });
});

describe('impersonation tokens', () => {
  it('are made, listed, shown and revoked by administrators', async () => {
    const made = await identity.root
      .post(`/users/${bob.id}/impersonation_tokens`)
      .body({ name: 'imp', scopes: ['api'], expires_at: inDays(10) });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ impersonation: true, active: true, user_id: bob.id });
    const path = `/users/${bob.id}/impersonation_tokens`;
    expect((await identity.root.get(path).query({ state: 'active' })).body).toHaveLength(1);
    expect((await identity.root.get(`${path}/${made.body.id}`)).body).toMatchObject({
      id: made.body.id,
      impersonation: true,
    });
    expect((await resolve(made.body.token)).holder).toMatchObject({ user_id: bob.id, impersonator_id: 1 });
    const successor = await holding(bob, made.body).post('/personal_access_tokens/self/rotate').body({}).json<Token>();
    expect((await resolve(successor.token)).holder).toMatchObject({ user_id: bob.id, impersonator_id: 1 });
    expect((await identity.root.delete(`${path}/${successor.id}`)).status).toBe(204);
    expect((await identity.root.get(path).query({ state: 'inactive' })).body).toHaveLength(2);
  });

  it.each([
    ['get', '/users/99999/impersonation_tokens', { message: '404 User Not Found' }],
    ['get', '/users/1/impersonation_tokens/424242', { message: '404 Impersonation Token Not Found' }],
    ['delete', '/users/1/impersonation_tokens/424242', { message: '404 Impersonation Token Not Found' }],
  ] as const)('%s %s is 404', async (method, path, expected) => {
    const { status, body } = await identity.root[method](path);
    expect([status, body]).toEqual([404, expected]);
  });

  it('are not for others', async () => {
    expect((await bob.client.get(`/users/${bob.id}/impersonation_tokens`)).body).toEqual({ message: '403 Forbidden' });
  });

  it('honours If-Unmodified-Since', async () => {
    const token = await give(bob.id, {}, 'impersonation');
    const { status, body } = await identity.root
      .delete(`/users/${bob.id}/impersonation_tokens/${token.id}`)
      .header('if-unmodified-since', 'Thu, 01 Jan 2015 00:00:00 GMT');
    expect([status, body]).toEqual([412, { message: '412 Precondition Failed' }]);
  });
});

describe('resolving a token', () => {
  it('knows root from the bootstrap, once and for all', async () => {
    const answer = await resolve(ROOT_TOKEN);
    expect(answer).toMatchObject({
      outcome: 'valid',
      holder: { user_id: 1, username: 'root', admin: true, expires_at: null },
    });
    expect(answer.holder!['scopes']).toEqual(expect.arrayContaining(['api', 'sudo']));
  });

  it('tells anonymous, unknown and valid apart, always with the version', async () => {
    expect(await resolve(null)).toMatchObject({
      outcome: 'anonymous',
      version: expect.any(Number),
      epoch: expect.any(String),
    });
    expect((await resolve('glpat-unknown')).outcome).toBe('unknown');
  });

  it('refuses blocked people with the reason', async () => {
    const eve = await identity.person('eve');
    const token = await give(eve.id);
    await identity.root.post(`/users/${eve.id}/block`);
    expect(await resolve(token.token)).toMatchObject({
      outcome: 'user_refused',
      reason: 'Your account has been blocked',
    });
  });

  it('records the use at most every ten minutes, without touching updated_at', async () => {
    const token = await give(ada.id);
    await resolve(token.token);
    const used = await until(
      async () => (await ada.client.get(`/personal_access_tokens/${token.id}`)).body.last_used_at as string | null,
    );
    await resolve(token.token);
    expect((await ada.client.get(`/personal_access_tokens/${token.id}`)).body.last_used_at).toBe(used);
    const [row] = await identity.db.query<{ same: boolean }>(
      `select updated_at = created_at as same from access_tokens where id = $1`,
      [token.id],
    );
    expect(row!.same).toBe(true);
  });

  it('shows the last five addresses of use, newest first, with one new one a minute', async () => {
    const token = await give(ada.id);
    const ips = async (): Promise<string[]> =>
      (await ada.client.get(`/personal_access_tokens/${token.id}`)).body.last_used_ips as string[];
    const usedFrom = async (ip: string | null, expected: readonly string[]): Promise<void> => {
      await resolve(token.token, { ip });
      await until(async () => JSON.stringify(await ips()) === JSON.stringify(expected) || null);
    };
    const minuteLater = () =>
      identity.db.query(
        `update access_tokens set ips_changed_at = ips_changed_at - interval '1 minute' where id = $1`,
        [token.id],
      );
    expect(await ips()).toEqual([]);
    await usedFrom('192.0.2.1', ['192.0.2.1']);
    await resolve(token.token, { ip: '192.0.2.2' });
    await minuteLater();
    await usedFrom('::ffff:192.0.2.3', ['192.0.2.3', '192.0.2.1']);
    await minuteLater();
    for (const ip of ['192.0.2.1', 'nowhere', null]) await resolve(token.token, { ip });
    for (const [last, ip] of ['2001:db8::4', '192.0.2.5', '192.0.2.6', '192.0.2.7'].entries()) {
      const all = ['192.0.2.7', '192.0.2.6', '192.0.2.5', '2001:db8::4', '192.0.2.3', '192.0.2.1'];
      await usedFrom(ip, all.slice(3 - last, 8 - last));
      await minuteLater();
    }
  });

  it('needs the internal secret', async () => {
    const response = await fetch(`${identity.app.baseUrl}${INTERNAL_PATHS.resolveToken}`, {
      method: 'POST',
      body: '{}',
    });
    expect(response.status).toBe(401);
  });

  it('finds people for sudo by id and by username', async () => {
    const ask = async (ref: unknown) => {
      const response = await fetch(`${identity.app.baseUrl}${INTERNAL_PATHS.resolveSudo}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TEST_INTERNAL_SECRET}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ref }),
      });
      return ((await response.json()) as { user: { id: number } | null }).user?.id ?? null;
    };
    expect(await ask('a\0')).toBeNull();
    expect([await ask(String(ada.id)), await ask('ADA'), await ask('nobody'), await ask('0')]).toEqual([
      ada.id,
      ada.id,
      null,
      null,
    ]);
  });
});

async function until<T>(read: () => Promise<T | null>): Promise<T> {
  const end = Date.now() + 5000;
  for (;;) {
    const value = await read();
    if (value !== null) return value;
    if (Date.now() > end) throw new Error('waited 5 s in vain');
  }
}
