import {
  anonymousViewer,
  makeViewer,
  registerForeignParentTests,
  registerListPagingTests,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
} from '@rookery/testing';
import { inDays, maker } from '../support/groups-and-projects';
import type { MadeGroup } from '../support/groups-and-projects';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';
import { resolve } from '../support/internal-calls';

let identity: IdentityApp;
let olga: Person;
let gus: Person;
let nest: MadeGroup;
let bot: number;
const make = maker(() => identity);
beforeAll(async () => {
  identity = await startIdentity();
  [olga, gus] = [await make.person(), await make.person()];
  nest = await make.group(olga, { visibility: 'private' });
  await make.join(`/api/v4/groups/${nest.id}`, gus, 40);
  bot = await createServiceAccount();
});
afterAll(() => identity.close());

interface Token {
  readonly id: number;
  readonly name: string;
  readonly token: string;
}
const createServiceAccount = async (group = nest): Promise<number> =>
  (await olga.client.post(`/api/v4/groups/${group.id}/service_accounts`).send({}).expect(201)).body.id;
const tokensPath = (userId = bot, group = nest): string =>
  `/api/v4/groups/${group.id}/service_accounts/${userId}/personal_access_tokens`;
const createToken = async (over: object = {}, userId = bot) =>
  (
    await olga.client
      .post(tokensPath(userId))
      .send({ name: 'ci', scopes: ['api'], ...over })
      .expect(201)
  ).body as Token;
const viewerOf = (person: Person) => makeViewer({ userId: person.id, username: person.username });
const statusAndBody = async (asked: PromiseLike<{ status: number; body: unknown }>): Promise<[number, unknown]> => {
  const { status, body } = await asked;
  return [status, body];
};
const expectedToken = (over: object) => ({
  id: expect.any(Number),
  name: 'ci',
  revoked: false,
  created_at: expect.stringMatching(/Z$/),
  description: null,
  scopes: ['api'],
  user_id: bot,
  last_used_at: null,
  last_used_ips: [],
  active: true,
  expires_at: inDays(365),
  ...over,
});
const secret = expect.stringMatching(/^glpat-[\w-]{20,}$/);

describe('POST …/personal_access_tokens', () => {
  it('also works at the path of the account, which a published client build uses', async () => {
    const path = `/api/v4/groups/${nest.id}/service_accounts/${bot}`;
    const { status, body } = await olga.client.post(path).send({ name: 'ci', scopes: ['api'] });
    expect([status, body]).toEqual([201, expectedToken({ token: secret })]);
    const refused = await gus.client.post(path).send({ name: 'ci', scopes: ['api'] });
    expect([refused.status, refused.body]).toEqual([403, { message: '403 Forbidden' }]);
  });

  it('creates a token with which the account acts', async () => {
    const body = { name: 'ci', description: 'builds', scopes: ['api', 'read_user'], expires_at: inDays(30) };
    const { status, body: token } = await olga.client.post(tokensPath()).send(body);
    expect([status, token]).toEqual([201, expectedToken({ ...body, token: secret })]);
    expect(await resolve(identity, token.token)).toMatchObject({
      outcome: 'valid',
      holder: { user_id: bot, bot: true, admin: false, scopes: ['api', 'read_user'] },
    });
  });

  it('is valid as long as allowed unless a day is given', async () => {
    expect(await createToken()).toEqual(expectedToken({ token: secret }));
    expect(await createToken({ expires_at: inDays(0) })).toEqual(
      expectedToken({ token: secret, active: false, expires_at: inDays(0) }),
    );
  });

  it.each<[object, object]>([
    [{ scopes: ['api'] }, { error: 'name is missing' }],
    [
      { name: 'x', scopes: ['api'], description: 'x'.repeat(256) },
      { error: 'description is too long (maximum is 255 characters)' },
    ],
    [{ name: 'x' }, { error: 'scopes is missing' }],
    [{ name: '', scopes: ['api'] }, { error: 'name is empty' }],
    [{ name: 'x', scopes: [] }, { error: 'scopes is empty' }],
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
    expect(await statusAndBody(olga.client.post(tokensPath()).send(body))).toEqual([400, expected]);
  });

  registerRefusalOrderTests(
    () => identity.app,
    async () => ({
      method: 'POST',
      path: tokensPath(),
      good: { name: 'x', scopes: ['api'] },
      bad: { name: 'x' },
      anonymous: anonymousViewer(),
      outsider: viewerOf(await make.person()),
      reader: viewerOf(gus),
      allowed: viewerOf(olga),
    }),
  );

  registerParameterEncodingTests({
    app: () => identity.app,
    to: () => ({
      viewer: viewerOf(olga),
      method: 'POST',
      path: tokensPath(),
      params: { name: 'x', description: 'd', scopes: ['api', 'read_api'], expires_at: inDays(3) },
    }),
    seen: ({ name, description, scopes, expires_at }) => [name, description, scopes, expires_at],
    expected: ['x', 'd', ['api', 'read_api'], inDays(3)],
  });
});

describe('GET …/personal_access_tokens', () => {
  let busy: number;
  beforeAll(async () => {
    busy = await createServiceAccount();
    for (const name of ['b', 'a', 'd', 'c']) await createToken({ name, expires_at: inDays(name.charCodeAt(0)) }, busy);
    const dead = await createToken({ name: 'revoked one' }, busy);
    await olga.client.delete(`${tokensPath(busy)}/${dead.id}`);
    await identity.root
      .post(`/api/v4/users/${busy}/impersonation_tokens`)
      .send({ name: 'hidden', scopes: ['api'] })
      .expect(201);
  });
  const names = async (query: Record<string, unknown>) =>
    (await olga.client.get(tokensPath(busy)).query(query)).body.map((token: Token) => token.name);

  it.each<[Record<string, unknown>, string[]]>([
    [{}, ['b', 'a', 'd', 'c', 'revoked one']],
    [{ sort: 'name_desc' }, ['revoked one', 'd', 'c', 'b', 'a']],
    [{ sort: 'expires_asc' }, ['a', 'b', 'c', 'd', 'revoked one']],
    [{ revoked: true }, ['revoked one']],
    [{ state: 'active' }, ['b', 'a', 'd', 'c']],
    [{ state: 'inactive' }, ['revoked one']],
    [{ search: 'VOKED' }, ['revoked one']],
    [{ expires_before: inDays(99) }, ['b', 'a']],
    [{ expires_after: inDays(99) }, ['d', 'revoked one']],
    [{ created_after: '2999-01-01' }, []],
    [{ created_before: '2999-01-01' }, ['b', 'a', 'd', 'c', 'revoked one']],
    [{ last_used_after: '2000-01-01' }, []],
    [{ last_used_before: '2999-01-01' }, []],
  ])('filters by %j', async (query, expected) => expect(await names(query)).toEqual(expected));

  it('returns tokens without their secret', async () => {
    const token = await createToken();
    const list = (await olga.client.get(tokensPath()).query({ sort: 'created_desc' })).body;
    expect(list[0]).toEqual(expectedToken({ id: token.id }));
    await identity.root.get(tokensPath()).expect(200);
    await olga.client.get(`/api/v4/groups/${nest.path}/service_accounts/${bot}/personal_access_tokens`).expect(200);
  });

  registerListPagingTests(() => ({
    app: identity.app,
    viewer: viewerOf(olga),
    path: tokensPath(busy),
    query: { sort: 'name_asc' },
    rows: 5,
  }));

  registerRefusalOrderTests(
    () => identity.app,
    async () => ({
      method: 'GET',
      path: tokensPath(),
      good: {},
      bad: { state: 'gone' },
      anonymous: anonymousViewer(),
      outsider: viewerOf(await make.person()),
      reader: viewerOf(gus),
      allowed: viewerOf(olga),
    }),
  );
});

describe('DELETE …/personal_access_tokens/:token_id', () => {
  it('revokes, also twice', async () => {
    const token = await createToken();
    for (let time = 0; time < 2; time += 1) {
      const { status, text } = await olga.client.delete(`${tokensPath()}/${token.id}`);
      expect([status, text]).toEqual([204, '']);
    }
    expect((await resolve(identity, token.token)).outcome).toBe('revoked');
  });

  it('checks in the usual order', async () => {
    const token = await createToken();
    const path = `${tokensPath()}/${token.id}`;
    const outsider = await make.person();
    expect(await statusAndBody(identity.anonymous.delete(path))).toEqual([401, { message: '401 Unauthorized' }]);
    const reader = identity.as({ userId: outsider.id, username: outsider.username, scopes: ['read_api'] });
    expect((await reader.delete(`${tokensPath()}/x`)).body).toMatchObject({
      error: 'insufficient_scope',
      scope: 'api',
    });
    expect(await statusAndBody(outsider.client.delete(`${tokensPath()}/x`))).toEqual([
      400,
      { error: 'token_id is invalid' },
    ]);
    expect(await statusAndBody(outsider.client.delete(path))).toEqual([404, { message: '404 Group Not Found' }]);
    expect(await statusAndBody(gus.client.delete(path))).toEqual([403, { message: '403 Forbidden' }]);
    expect((await resolve(identity, token.token)).outcome).toBe('valid');
  });
});

describe('POST …/personal_access_tokens/:token_id/rotate', () => {
  it('replaces the token at once, for a week', async () => {
    const old = await createToken({ name: 'deploy', description: 'd', scopes: ['read_api'] });
    const { status, body } = await olga.client.post(`${tokensPath()}/${old.id}/rotate`).send({});
    const kept = { name: 'deploy', description: 'd', scopes: ['read_api'], expires_at: inDays(7) };
    expect([status, body]).toEqual([200, expectedToken({ ...kept, token: secret })]);
    expect((await resolve(identity, old.token)).outcome).toBe('revoked');
    expect((await resolve(identity, body.token)).outcome).toBe('valid');
  });

  it('of a revoked token fails and revokes the family', async () => {
    const first = await createToken();
    const { body: second }: { body: Token } = await olga.client.post(`${tokensPath()}/${first.id}/rotate`).expect(200);
    expect(await statusAndBody(olga.client.post(`${tokensPath()}/${first.id}/rotate`))).toEqual([
      400,
      { message: '400 Bad request - Token already revoked' },
    ]);
    expect((await resolve(identity, second.token)).outcome).toBe('revoked');
  });

  it('refuses an invalid day', async () => {
    const token = await createToken();
    expect(
      await statusAndBody(olga.client.post(`${tokensPath()}/${token.id}/rotate`).send({ expires_at: 'x' })),
    ).toEqual([400, { error: 'expires_at is invalid' }]);
    expect(
      await statusAndBody(olga.client.post(`${tokensPath()}/${token.id}/rotate`).send({ expires_at: inDays(366) })),
    ).toEqual([400, { message: `400 Bad request - Expiration date must be before ${inDays(366)}` }]);
    expect((await resolve(identity, token.token)).outcome).toBe('valid');
  });

  registerRefusalOrderTests(
    () => identity.app,
    async () => ({
      method: 'POST',
      path: `${tokensPath()}/${(await createToken()).id}/rotate`,
      good: {},
      bad: { expires_at: 'x' },
      anonymous: anonymousViewer(),
      outsider: viewerOf(await make.person()),
      reader: viewerOf(gus),
      allowed: viewerOf(olga),
    }),
  );

  registerParameterEncodingTests({
    app: () => identity.app,
    to: async () => ({
      viewer: viewerOf(olga),
      method: 'POST',
      path: `${tokensPath()}/${(await createToken()).id}/rotate`,
      params: { expires_at: inDays(12) },
    }),
    seen: ({ expires_at }) => expires_at,
    expected: inDays(12),
  });
});

describe('missing resources', () => {
  const everywhere = (userId: number, tokenId: number, group = nest) =>
    [
      ['get', tokensPath(userId, group)],
      ['post', tokensPath(userId, group)],
      ['delete', `${tokensPath(userId, group)}/${tokenId}`],
      ['post', `${tokensPath(userId, group)}/${tokenId}/rotate`],
    ] as const;
  const ask = (method: 'get' | 'post' | 'delete', path: string) =>
    statusAndBody(olga.client[method](path).query({ name: 'x', 'scopes[]': ['api'] }));

  it('users that are not service accounts of the group', async () => {
    const instance = (await identity.root.post('/api/v4/service_accounts').send({}).expect(201)).body.id;
    for (const id of [gus.id, instance, 99999999]) {
      for (const [method, path] of everywhere(id, 1)) {
        expect(await ask(method, path)).toEqual([404, { message: '404 User Not Found' }]);
      }
    }
  });

  it('tokens that are missing or of another account', async () => {
    const { body: own }: { body: Token } = await identity.root
      .post(`/api/v4/users/${olga.id}/personal_access_tokens`)
      .send({ name: 'x', scopes: ['api'] })
      .expect(201);
    const { body: acting }: { body: Token } = await identity.root
      .post(`/api/v4/users/${bot}/impersonation_tokens`)
      .send({ name: 'x', scopes: ['api'] })
      .expect(201);
    const other = await createToken({}, await createServiceAccount());
    for (const token of [own.id, acting.id, other.id, 99999999]) {
      for (const [method, path] of everywhere(bot, token).slice(2)) {
        expect(await ask(method, path)).toEqual([404, { message: '404 Not Found' }]);
      }
    }
    expect((await resolve(identity, other.token)).outcome).toBe('valid');
  });

  it('service accounts of subgroups', async () => {
    const below = await make.group(olga, { parent_id: nest.id });
    for (const [method, path] of everywhere(bot, 1, below)) {
      expect(await ask(method, path)).toEqual([400, { message: '400 Bad request - Group must be a top-level group' }]);
    }
  });

  let token: Token;
  let other: MadeGroup;
  beforeAll(async () => {
    token = await createToken();
    other = await make.group(olga);
  });
  registerForeignParentTests({
    app: () => identity.app,
    viewer: () => viewerOf(olga),
    requests: () => [
      { method: 'GET', path: tokensPath(bot, other) },
      { method: 'POST', path: tokensPath(bot, other), body: { name: 'x', scopes: ['api'] } },
      { method: 'DELETE', path: `${tokensPath(bot, other)}/${token.id}` },
      { method: 'POST', path: `${tokensPath(bot, other)}/${token.id}/rotate`, body: {} },
    ],
    untouched: () => resolve(identity, token.token).then(({ outcome }) => outcome),
  });
});
