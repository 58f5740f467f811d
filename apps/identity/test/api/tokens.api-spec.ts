import { createHash } from 'node:crypto';
import { INTERNAL_PATHS } from '@rookery/contracts';
import type { ResolveSudoAnswer } from '@rookery/contracts';
import { makeViewer, registerListPagingTests, until } from '@rookery/testing';
import type { Agent } from 'supertest';
import { ROOT_TOKEN, startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';
import { internalCall } from '../support/internal-calls';

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
const dayAfterDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const createToken = async (userId: number, over: object = {}, kind = 'personal_access') =>
  (
    await identity.root
      .post(`/api/v4/users/${userId}/${kind}_tokens`)
      .send({ name: 'bot', scopes: ['api'], ...over })
      .expect(201)
  ).body as Token;
const asTokenHolder = (person: Person, token: { id: number }, scopes = ['api']): Agent =>
  identity.as({ userId: person.id, username: person.username, tokenId: token.id, scopes });

interface ResolvedToken extends Record<string, unknown> {
  readonly outcome: string;
  readonly version: number;
  readonly holder?: Record<string, unknown>;
}
function resolveToken(token: string | null, more: object = {}) {
  const digest = token === null ? null : createHash('sha256').update(token).digest('hex');
  return internalCall<ResolvedToken>(identity, INTERNAL_PATHS.resolveToken, { digest, ip: '127.0.0.1', ...more });
}

describe('POST /users/:user_id/personal_access_tokens', () => {
  it('shows the secret once', async () => {
    const { body } = await identity.root
      .post(`/api/v4/users/${ada.id}/personal_access_tokens`)
      .send({ name: 'bot', description: 'for tests', scopes: ['api', 'read_user'] })
      .expect(201);
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
      expires_at: dayAfterDays(365),
      token: expect.stringMatching(/^glpat-[A-Za-z0-9_-]{20}$/),
    });
    expect((await ada.client.get(`/api/v4/personal_access_tokens/${body.id}`)).body).not.toHaveProperty('token');
    const [row] = await identity.db.query<{ digest: Buffer }>(`select digest from access_tokens where id = $1`, [
      body.id,
    ]);
    expect(row!.digest).toEqual(createHash('sha256').update(body.token).digest());
  });

  it('splits scopes on commas', async () => {
    const { body } = await identity.root
      .post(`/api/v4/users/${ada.id}/personal_access_tokens`)
      .type('form')
      .send({ name: 'x', 'scopes[]': ['api,read_user', 'api'] });
    expect(body.scopes).toEqual(['api', 'read_user']);
  });

  it.each([
    [{ scopes: ['api'] }, { error: 'name is missing' }],
    [{ name: '', scopes: ['api'] }, { error: 'name is empty' }],
    [{ name: 'x'.repeat(256), scopes: ['api'] }, { error: 'name is too long (maximum is 255 characters)' }],
    [
      { name: 'x', scopes: ['api'], description: 'x'.repeat(256) },
      { error: 'description is too long (maximum is 255 characters)' },
    ],
    [{ name: 'x' }, { error: 'scopes is missing' }],
    [{ name: 'x', scopes: [] }, { error: 'scopes is empty' }],
    [{ name: 'x', scopes: ['nope'] }, { message: '400 Bad request - Scopes can only contain available scopes' }],
    [{ name: 'x', scopes: ['sudo'] }, { message: '400 Bad request - Scopes can only contain available scopes' }],
    [{ name: 'x', scopes: ['api'], expires_at: 'soon' }, { error: 'expires_at is invalid' }],
    [
      { name: 'x', scopes: ['api'], expires_at: dayAfterDays(-1) },
      { message: '400 Bad request - Expiration date cannot be in the past' },
    ],
    [
      { name: 'x', scopes: ['api'], expires_at: dayAfterDays(366) },
      { message: `400 Bad request - Expiration date must be before ${dayAfterDays(366)}` },
    ],
  ])('refuses %j', async (body, expected) => {
    const response = await identity.root.post(`/api/v4/users/${ada.id}/personal_access_tokens`).send(body);
    expect([response.status, response.body]).toEqual([400, expected]);
  });

  it('accepts today: the token is expired at once', async () => {
    const token = await createToken(ada.id, { expires_at: dayAfterDays(0) });
    expect(token).toMatchObject({ active: false, expires_at: dayAfterDays(0) });
    expect((await resolveToken(token.token)).outcome).toBe('expired');
  });

  it('lets administrators have sudo', async () => {
    expect(await createToken(1, { scopes: ['api', 'sudo'] })).toMatchObject({ scopes: ['api', 'sudo'] });
  });

  it('is for administrators, and for existing users', async () => {
    expect((await ada.client.post(`/api/v4/users/${ada.id}/personal_access_tokens`).send({})).body).toEqual({
      message: '403 Forbidden',
    });
    const missing = await identity.root
      .post('/api/v4/users/99999/personal_access_tokens')
      .send({ name: 'x', scopes: ['api'] });
    expect(missing.body).toEqual({ message: '404 User Not Found' });
  });
});

describe('GET /personal_access_tokens', () => {
  let lena: Person;
  beforeAll(async () => {
    lena = await identity.person('lena');
    for (const name of ['b', 'a', 'd', 'c', 'e'])
      await createToken(lena.id, { name, expires_at: dayAfterDays(name.charCodeAt(0)) });
    const dead = await createToken(lena.id, { name: 'revoked one' });
    await lena.client.delete(`/api/v4/personal_access_tokens/${dead.id}`);
    await createToken(lena.id, { name: 'hidden' }, 'impersonation');
  });
  const names = async (query: Record<string, unknown>) =>
    (await lena.client.get('/api/v4/personal_access_tokens').query(query)).body.map(
      (token: { name: string }) => token.name,
    );

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
    [{ expires_before: dayAfterDays(99) }, ['b', 'a']],
    [{ expires_after: dayAfterDays(99) }, ['d', 'e', 'revoked one']],
    [{ created_after: '2999-01-01' }, []],
    [{ created_before: '2999-01-01' }, ['b', 'a', 'd', 'c', 'e', 'revoked one']],
    [{ last_used_before: '2999-01-01' }, []],
  ])('filters by %j', async (query, expected) => expect(await names(query)).toEqual(expected));

  it('refuses an unknown state', async () => {
    const { status, body } = await lena.client.get('/api/v4/personal_access_tokens').query({ state: 'gone' });
    expect([status, body]).toEqual([400, { error: 'state does not have a valid value' }]);
  });

  it('is restricted to the caller except for administrators', async () => {
    expect((await ada.client.get('/api/v4/personal_access_tokens').query({ user_id: lena.id })).body).toEqual({
      message: '401 Unauthorized',
    });
    expect((await identity.root.get('/api/v4/personal_access_tokens').query({ user_id: lena.id })).body).toHaveLength(
      6,
    );
    expect((await identity.root.get('/api/v4/personal_access_tokens').query({ user_id: 99999 })).body).toEqual({
      message: '404 Not Found',
    });
    await identity.anonymous.get('/api/v4/personal_access_tokens').expect(401);
  });

  registerListPagingTests(() => ({
    app: identity.app,
    viewer: makeViewer({ userId: lena.id, username: 'lena' }),
    path: '/api/v4/personal_access_tokens',
    query: { state: 'active' },
    rows: 5,
  }));
});

describe('one personal access token', () => {
  it('is visible to its user and administrators; for other callers it does not exist', async () => {
    const token = await createToken(ada.id);
    await ada.client.get(`/api/v4/personal_access_tokens/${token.id}`).expect(200);
    await identity.root.get(`/api/v4/personal_access_tokens/${token.id}`).expect(200);
    for (const id of [token.id, 999999]) {
      expect((await bob.client.get(`/api/v4/personal_access_tokens/${id}`)).body).toEqual({
        message: '401 Unauthorized',
      });
      await bob.client.delete(`/api/v4/personal_access_tokens/${id}`).expect(401);
      await bob.client.post(`/api/v4/personal_access_tokens/${id}/rotate`).expect(401);
    }
    await identity.root.get('/api/v4/personal_access_tokens/999999').expect(404);
  });

  it('can read itself with any scope, and revoke itself', async () => {
    const token = await createToken(ada.id, { scopes: ['read_repository'] });
    const self = asTokenHolder(ada, token, ['read_repository']);
    expect((await self.get('/api/v4/personal_access_tokens/self')).body).toMatchObject({ id: token.id });
    const gone = await self.delete('/api/v4/personal_access_tokens/self');
    expect([gone.status, gone.text]).toEqual([204, '']);
    expect((await resolveToken(token.token)).outcome).toBe('revoked');
  });

  it('is revoked with 204', async () => {
    const token = await createToken(ada.id);
    const { status, text, headers } = await ada.client.delete(`/api/v4/personal_access_tokens/${token.id}`).send({});
    expect([status, text]).toEqual([204, '']);
    expect(Number(headers['x-rookery-directory-version'])).toBeGreaterThan(0);
    expect((await ada.client.get(`/api/v4/personal_access_tokens/${token.id}`)).body).toMatchObject({
      revoked: true,
      active: false,
    });
  });
});

describe('rotation', () => {
  it('replaces the token at once, for a week', async () => {
    const old = await createToken(ada.id, { name: 'deploy', description: 'd', scopes: ['read_api'] });
    const { body } = await ada.client.post(`/api/v4/personal_access_tokens/${old.id}/rotate`).send({}).expect(200);
    expect(body).toMatchObject({
      name: 'deploy',
      description: 'd',
      scopes: ['read_api'],
      active: true,
      expires_at: dayAfterDays(7),
    });
    expect(body.id).not.toBe(old.id);
    expect((await resolveToken(old.token)).outcome).toBe('revoked');
    expect((await resolveToken(body.token)).outcome).toBe('valid');
  });

  it('accepts a day', async () => {
    const old = await createToken(ada.id);
    expect(
      (await ada.client.post(`/api/v4/personal_access_tokens/${old.id}/rotate`).send({ expires_at: dayAfterDays(30) }))
        .body.expires_at,
    ).toBe(dayAfterDays(30));
  });

  it('of a revoked token fails and revokes the family', async () => {
    const first = await createToken(ada.id);
    const { body: second }: { body: Token } = await ada.client
      .post(`/api/v4/personal_access_tokens/${first.id}/rotate`)
      .expect(200);
    const { body: third }: { body: Token } = await ada.client
      .post(`/api/v4/personal_access_tokens/${second.id}/rotate`)
      .expect(200);
    const reuse = await ada.client.post(`/api/v4/personal_access_tokens/${first.id}/rotate`);
    expect([reuse.status, reuse.body]).toEqual([400, { message: '400 Bad request - Token already revoked' }]);
    expect((await resolveToken(third.token)).outcome).toBe('revoked');
  });

  it('with a revoked token as the credential revokes the family', async () => {
    const first = await createToken(ada.id);
    const { body: second }: { body: Token } = await ada.client
      .post(`/api/v4/personal_access_tokens/${first.id}/rotate`)
      .expect(200);
    expect((await resolveToken(first.token)).outcome).toBe('revoked');
    expect((await resolveToken(second.token)).outcome).toBe('valid');
    const before = await resolveToken(null);
    const reuse = await resolveToken(first.token, { rotating: true });
    expect(reuse.outcome).toBe('revoked');
    expect(reuse.version).toBeGreaterThan(before.version);
    expect((await resolveToken(second.token)).outcome).toBe('revoked');
  });

  it('of itself requires api or self_rotate', async () => {
    const token = await createToken(ada.id, { scopes: ['self_rotate'] });
    const denied = await asTokenHolder(ada, token, ['read_api'])
      .post('/api/v4/personal_access_tokens/self/rotate')
      .send({});
    expect([denied.status, denied.body.scope]).toEqual([403, 'api self_rotate']);
    await asTokenHolder(ada, token, ['self_rotate'])
      .post('/api/v4/personal_access_tokens/self/rotate')
      .send({})
      .expect(200);
  });

  it.each([1, 2, 3])('40 concurrent ones never leave two valid tokens, round %i', async () => {
    const token = await createToken(ada.id);
    // While connections are being opened, the first request could finish before the others begin.
    await Promise.all(Array.from({ length: 10 }, () => identity.db.query('select pg_sleep(0.05)')));
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => ada.client.post(`/api/v4/personal_access_tokens/${token.id}/rotate`).send({})),
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
  it('can be created, listed, read and revoked by administrators', async () => {
    const made = await identity.root
      .post(`/api/v4/users/${bob.id}/impersonation_tokens`)
      .send({ name: 'imp', scopes: ['api'], expires_at: dayAfterDays(10) })
      .expect(201);
    expect(made.body).toMatchObject({ impersonation: true, active: true, user_id: bob.id });
    const path = `/api/v4/users/${bob.id}/impersonation_tokens`;
    expect((await identity.root.get(path).query({ state: 'active' })).body).toHaveLength(1);
    expect((await identity.root.get(`${path}/${made.body.id}`)).body).toMatchObject({
      id: made.body.id,
      impersonation: true,
    });
    expect((await resolveToken(made.body.token)).holder).toMatchObject({ user_id: bob.id, impersonator_id: 1 });
    const { body: successor }: { body: Token } = await asTokenHolder(bob, made.body)
      .post('/api/v4/personal_access_tokens/self/rotate')
      .send({})
      .expect(200);
    expect((await resolveToken(successor.token)).holder).toMatchObject({ user_id: bob.id, impersonator_id: 1 });
    await identity.root.delete(`${path}/${successor.id}`).expect(204);
    expect((await identity.root.get(path).query({ state: 'inactive' })).body).toHaveLength(2);
  });

  it.each([
    ['get', '/api/v4/users/99999/impersonation_tokens', { message: '404 User Not Found' }],
    ['get', '/api/v4/users/1/impersonation_tokens/424242', { message: '404 Impersonation Token Not Found' }],
    ['delete', '/api/v4/users/1/impersonation_tokens/424242', { message: '404 Impersonation Token Not Found' }],
  ] as const)('%s %s is 404', async (method, path, expected) => {
    const { status, body } = await identity.root[method](path);
    expect([status, body]).toEqual([404, expected]);
  });

  it('are refused to other callers', async () => {
    expect((await bob.client.get(`/api/v4/users/${bob.id}/impersonation_tokens`)).body).toEqual({
      message: '403 Forbidden',
    });
  });

  it('honours If-Unmodified-Since', async () => {
    const token = await createToken(bob.id, {}, 'impersonation');
    const { status, body } = await identity.root
      .delete(`/api/v4/users/${bob.id}/impersonation_tokens/${token.id}`)
      .set('if-unmodified-since', 'Thu, 01 Jan 2015 00:00:00 GMT');
    expect([status, body]).toEqual([412, { message: '412 Precondition Failed' }]);
  });
});

const REVOKED = { outcome: 'revoked' };
let serial = 0;
const createAdministrator = () => identity.person(`admin-${++serial}`, { admin: true });
const changeState = (userId: number, to: string) => identity.root.post(`/api/v4/users/${userId}/${to}`).expect(201);
/** Ways in which an administrator loses the role. */
const ENDINGS: [string, (ann: Person) => Promise<unknown>][] = [
  ['is blocked', (ann) => changeState(ann.id, 'block')],
  ['is banned', (ann) => changeState(ann.id, 'ban')],
  ['is deactivated', (ann) => changeState(ann.id, 'deactivate')],
  ['loses the administrator role', (ann) => identity.root.put(`/api/v4/users/${ann.id}`).send({ admin: false })],
  ['is being removed', (ann) => identity.root.delete(`/api/v4/users/${ann.id}`).expect(204)],
  [
    'has no confirmed address',
    (ann) => identity.db.query(`update users set confirmed_at = null where id = $1`, [ann.id]),
  ],
];
/** Requests as root with the given token. */
const AS_ROOT: [string, (ann: Person) => Agent][] = [
  [
    'by sudo',
    (ann) => identity.as({ userId: 1, username: 'root', isAdmin: true, impersonatorId: ann.id, tokenId: null }),
  ],
  [
    'with an impersonation token of another administrator',
    (ann) => identity.as({ userId: 1, username: 'root', isAdmin: true, impersonatorId: ann.id, tokenId: 424242 }),
  ],
];
/** Tokens that gateways must forget after a change of this user, in addition to the new version. */
async function expectTokensForgotten(ann: Person, token: string): Promise<void> {
  const before = (await resolveToken(token)).version;
  await changeState(ann.id, 'block');
  const rows = await identity.db.query(
    `select distinct kind, entity_id from directory_changes where version > $1 and kind = 'user'`,
    [before],
  );
  expect(rows).toEqual([{ kind: 'user', entity_id: ann.id }]);
  expect((await resolveToken(token)).version).toBeGreaterThan(before);
}

describe('the administrator behind an impersonation token', () => {
  const impersonate = (by: Agent, userId: number) =>
    by.post(`/api/v4/users/${userId}/impersonation_tokens`).send({ name: 'imp', scopes: ['api'] });

  it.each<[string, (ann: Person) => Promise<unknown>]>([
    ...ENDINGS,
    ['is gone', (ann) => identity.db.query(`delete from users where id = $1`, [ann.id])],
  ])('who %s loses it', async (_, ends) => {
    const ann = await createAdministrator();
    const { body: token } = await impersonate(ann.client, 1).expect(201);
    expect(await resolveToken(token.token)).toMatchObject({ outcome: 'valid', holder: { impersonator_id: ann.id } });
    await ends(ann);
    expect(await resolveToken(token.token)).toMatchObject(REVOKED);
    expect(await resolveToken(token.token, { rotating: true })).toMatchObject(REVOKED);
    // Root's own tokens are not affected.
    expect(await resolveToken(ROOT_TOKEN)).toMatchObject({ outcome: 'valid' });
  });

  it('gets it back with the role', async () => {
    const ann = await createAdministrator();
    const { body: token } = await impersonate(ann.client, bob.id).expect(201);
    await changeState(ann.id, 'block');
    await changeState(ann.id, 'unblock');
    expect(await resolveToken(token.token)).toMatchObject({ outcome: 'valid' });
  });

  it('is named in the lease, so a change of that user reaches the gateways', async () => {
    const ann = await createAdministrator();
    const { body: token } = await impersonate(ann.client, bob.id).expect(201);
    expect(await resolveToken(token.token)).toMatchObject({ holder: { impersonator_id: ann.id, given_by_id: ann.id } });
    await expectTokensForgotten(ann, token.token);
  });

  it.each(AS_ROOT)('is the actor, also %s', async (_, acting) => {
    const ann = await createAdministrator();
    const { body: token } = await impersonate(acting(ann), bob.id).expect(201);
    expect(await resolveToken(token.token)).toMatchObject({ outcome: 'valid', holder: { impersonator_id: ann.id } });
    await changeState(ann.id, 'block');
    expect(await resolveToken(token.token)).toMatchObject(REVOKED);
  });

  it('stays the issuer of a token that rotates itself, and is replaced by an administrator who rotates it', async () => {
    const [ann, ben] = [await createAdministrator(), await createAdministrator()];
    const { body: first } = await impersonate(ann.client, bob.id).expect(201);
    const itself = identity.as({ userId: bob.id, username: 'bob', tokenId: first.id, impersonatorId: ann.id });
    const { body: second } = await itself.post('/api/v4/personal_access_tokens/self/rotate').send({}).expect(200);
    expect(await resolveToken(second.token)).toMatchObject({ holder: { impersonator_id: ann.id } });
    const renewal = ben.client.post(`/api/v4/personal_access_tokens/${second.id}/rotate`).send({});
    const { body: third } = await renewal.expect(200);
    await changeState(ann.id, 'block');
    expect(await resolveToken(third.token)).toMatchObject({ outcome: 'valid', holder: { impersonator_id: ben.id } });
    await changeState(ben.id, 'block');
    expect(await resolveToken(third.token)).toMatchObject(REVOKED);
  });
});

describe('the administrator who issued a token to another user', () => {
  const giving = (by: Agent, userId: number, scopes = ['api']) =>
    by.post(`/api/v4/users/${userId}/personal_access_tokens`).send({ name: 'given', scopes });
  const rotated = async (by: Agent, token: Token | 'self'): Promise<Token> =>
    (
      await by
        .post(`/api/v4/personal_access_tokens/${token === 'self' ? token : token.id}/rotate`)
        .send({})
        .expect(200)
    ).body as Token;
  const outcome = async (token: Token): Promise<string> => (await resolveToken(token.token)).outcome;

  it.each(ENDINGS)('who %s makes it invalid', async (_, ends) => {
    const ann = await createAdministrator();
    const { body: ofRoot } = await giving(ann.client, 1, ['api', 'sudo']).expect(201);
    const { body: ofBob } = await giving(ann.client, bob.id).expect(201);
    for (const token of [ofRoot, ofBob]) {
      const holder = { impersonator_id: null, given_by_id: ann.id };
      expect(await resolveToken(token.token)).toMatchObject({ outcome: 'valid', holder });
    }
    await ends(ann);
    for (const token of [ofRoot, ofBob]) {
      expect(await resolveToken(token.token)).toMatchObject(REVOKED);
      expect(await resolveToken(token.token, { rotating: true })).toMatchObject(REVOKED);
    }
    // Root's own tokens are not affected, and neither are those that no other user issued.
    expect(await resolveToken(ROOT_TOKEN)).toMatchObject({ outcome: 'valid', holder: { given_by_id: null } });
    const { body: own } = await giving(identity.root, 1).expect(201);
    expect(await resolveToken(own.token)).toMatchObject({ outcome: 'valid', holder: { given_by_id: null } });
  });

  it('makes it valid again with the role', async () => {
    const ann = await createAdministrator();
    const { body: token } = await giving(ann.client, bob.id).expect(201);
    await changeState(ann.id, 'block');
    await changeState(ann.id, 'unblock');
    expect(await outcome(token)).toBe('valid');
  });

  it('is named in the lease, so a change of that user reaches the gateways', async () => {
    const ann = await createAdministrator();
    const { body: token } = await giving(ann.client, bob.id).expect(201);
    await expectTokensForgotten(ann, token.token);
  });

  it("revokes it with the removal, so that it does not become another user's", async () => {
    const ann = await createAdministrator();
    const { body: token } = await giving(ann.client, bob.id).expect(201);
    const kept = await rotated(bob.client, (await giving(ann.client, bob.id).expect(201)).body);
    await identity.root.delete(`/api/v4/users/${ann.id}`).expect(204);
    expect(await identity.db.query(`select 1 from users where id = $1`, [ann.id])).toEqual([]);
    const { body: shown } = await identity.root.get(`/api/v4/personal_access_tokens/${token.id}`).expect(200);
    expect(shown).toMatchObject({ revoked: true, active: false });
    expect([await outcome(token), await outcome(kept)]).toEqual(['revoked', 'valid']);
  });

  it.each(AS_ROOT)('is the actor, also %s', async (_, acting) => {
    const ann = await createAdministrator();
    const { body: given } = await giving(acting(ann), 1).expect(201);
    const own = { name: 'own', scopes: ['self_rotate'] };
    const { body: made } = await acting(ann).post('/api/v4/user/personal_access_tokens').send(own).expect(201);
    const replaced = await rotated(acting(ann), (await giving(identity.root, 1).expect(201)).body);
    for (const token of [given, made, replaced]) {
      expect(await resolveToken(token.token)).toMatchObject({ outcome: 'valid', holder: { given_by_id: ann.id } });
    }
    await changeState(ann.id, 'block');
    for (const token of [given, made, replaced]) expect(await outcome(token)).toBe('revoked');
  });

  it.each<[string, (token: Token) => Promise<Token>]>([
    ['with another token of theirs', (token) => rotated(bob.client, token)],
    ['with itself', (token) => rotated(asTokenHolder(bob, token), 'self')],
  ])('is no longer responsible after its user has rotated it %s', async (_, rotate) => {
    const ann = await createAdministrator();
    const token = await rotate((await giving(ann.client, bob.id).expect(201)).body);
    expect(await resolveToken(token.token)).toMatchObject({ outcome: 'valid', holder: { given_by_id: null } });
    await changeState(ann.id, 'block');
    expect(await outcome(token)).toBe('valid');
  });

  it('is replaced by another administrator who rotates it', async () => {
    const [ann, ben] = [await createAdministrator(), await createAdministrator()];
    const token = await rotated(ben.client, (await giving(ann.client, bob.id).expect(201)).body);
    await changeState(ann.id, 'block');
    expect(await resolveToken(token.token)).toMatchObject({ outcome: 'valid', holder: { given_by_id: ben.id } });
    await changeState(ben.id, 'block');
    expect(await outcome(token)).toBe('revoked');
  });

  it('has no effect on tokens of service accounts', async () => {
    const ann = await createAdministrator();
    const { body: account } = await identity.root.post('/api/v4/service_accounts').send({}).expect(201);
    const { body: token } = await giving(ann.client, account.id).expect(201);
    await changeState(ann.id, 'block');
    expect(await resolveToken(token.token)).toMatchObject({ outcome: 'valid', holder: { given_by_id: null } });
  });

  it('cannot leave while all other administrators depend on tokens that this one issued', async () => {
    const ann = await createAdministrator();
    const { body: given } = await giving(identity.root, ann.id).expect(201);
    const text =
      'No other administrator has a token that this user did not give out: one of them must rotate theirs first';
    const refused = [403, { message: `403 Forbidden - ${text}` }];
    const goes = [
      () => ann.client.post('/api/v4/users/1/block'),
      () => ann.client.post('/api/v4/users/1/ban'),
      () => ann.client.put('/api/v4/users/1').send({ admin: false }),
      () => ann.client.delete('/api/v4/users/1'),
    ];
    for (const go of goes) {
      const { status, body } = await go();
      expect([status, body]).toEqual(refused);
    }
    expect(await outcome(given)).toBe('valid');
    const own = await rotated(ann.client, given);
    await ann.client.post('/api/v4/users/1/block').expect(201);
    expect(await outcome(own)).toBe('valid');
    await ann.client.post('/api/v4/users/1/unblock').expect(201);
  });
});

describe('resolving a token', () => {
  it("finds root's bootstrap token", async () => {
    const answer = await resolveToken(ROOT_TOKEN);
    expect(answer).toMatchObject({
      outcome: 'valid',
      holder: { user_id: 1, username: 'root', admin: true, expires_at: null },
    });
    expect(answer.holder!['scopes']).toEqual(expect.arrayContaining(['api', 'sudo']));
  });

  it('distinguishes anonymous, unknown and valid tokens, always with the version', async () => {
    expect(await resolveToken(null)).toMatchObject({
      outcome: 'anonymous',
      version: expect.any(Number),
      epoch: expect.any(String),
    });
    expect((await resolveToken('glpat-unknown')).outcome).toBe('unknown');
  });

  it('refuses blocked users with the reason', async () => {
    const eve = await identity.person('eve');
    const token = await createToken(eve.id);
    await identity.root.post(`/api/v4/users/${eve.id}/block`);
    expect(await resolveToken(token.token)).toMatchObject({
      outcome: 'user_refused',
      reason: 'Your account has been blocked',
    });
  });

  it('records the use at most every ten minutes, without changing updated_at', async () => {
    const token = await createToken(ada.id);
    await resolveToken(token.token);
    const lastUsed = async () =>
      (await ada.client.get(`/api/v4/personal_access_tokens/${token.id}`)).body.last_used_at as string | null;
    await until(async () => (await lastUsed()) !== null);
    const used = await lastUsed();
    await resolveToken(token.token);
    expect(await lastUsed()).toBe(used);
    const [row] = await identity.db.query<{ same: boolean }>(
      `select updated_at = created_at as same from access_tokens where id = $1`,
      [token.id],
    );
    expect(row!.same).toBe(true);
  });

  it('keeps the last five IP addresses, newest first, with at most one new per minute', async () => {
    const token = await createToken(ada.id);
    const ips = async (): Promise<string[]> =>
      (await ada.client.get(`/api/v4/personal_access_tokens/${token.id}`)).body.last_used_ips as string[];
    const usedFrom = async (ip: string | null, expected: readonly string[]): Promise<void> => {
      await resolveToken(token.token, { ip });
      await until(async () => JSON.stringify(await ips()) === JSON.stringify(expected));
    };
    const minuteLater = () =>
      identity.db.query(
        `update access_tokens set ips_changed_at = ips_changed_at - interval '1 minute' where id = $1`,
        [token.id],
      );
    expect(await ips()).toEqual([]);
    await usedFrom('192.0.2.1', ['192.0.2.1']);
    await resolveToken(token.token, { ip: '192.0.2.2' });
    await minuteLater();
    await usedFrom('::ffff:192.0.2.3', ['192.0.2.3', '192.0.2.1']);
    await minuteLater();
    for (const ip of ['192.0.2.1', 'nowhere', null]) await resolveToken(token.token, { ip });
    for (const [last, ip] of ['2001:db8::4', '192.0.2.5', '192.0.2.6', '192.0.2.7'].entries()) {
      const all = ['192.0.2.7', '192.0.2.6', '192.0.2.5', '2001:db8::4', '192.0.2.3', '192.0.2.1'];
      await usedFrom(ip, all.slice(3 - last, 8 - last));
      await minuteLater();
    }
  });

  it('requires an internal key', async () => {
    await identity.app.bare().post(INTERNAL_PATHS.resolveToken).send({}).expect(401);
  });

  it('finds users for sudo by id and by username', async () => {
    const ask = async (ref: unknown) => {
      const { user } = await internalCall<ResolveSudoAnswer>(identity, INTERNAL_PATHS.resolveSudo, { ref });
      return user?.id ?? null;
    };
    expect(await ask('a\0')).toBeNull();
    expect([await ask(String(ada.id)), await ask('ADA'), await ask('nobody'), await ask('0')]).toEqual([
      ada.id,
      ada.id,
      null,
      null,
    ]);
  });

  it('treats digits as an id, even if a user has them as username', async () => {
    const squatter = await identity.person('90210042');
    const ask = async (ref: string) =>
      (await internalCall<ResolveSudoAnswer>(identity, INTERNAL_PATHS.resolveSudo, { ref })).user?.id ?? null;
    expect([await ask('90210042'), await ask(String(squatter.id))]).toEqual([null, squatter.id]);
    await identity.root.get('/api/v4/users/90210042/projects').expect(404);
  });
});
