import type { SignedInViewer } from '@rookery/kernel';
import { makeViewer } from '@rookery/testing';
import type { TestApp } from '@rookery/testing';
import type { Agent } from 'supertest';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

/**
 * A request that had to wait is authorized by the present state, not by its signed context. Here every request counts
 * as late.
 */
let identity: IdentityApp;
let old: TestApp;
let epoch: string;
let serial = 0;
beforeAll(async () => {
  identity = await startIdentity();
  old = await identity.again({ REQUEST_RIGHTS_MS: '0' });
  [{ epoch }] = (await identity.db.query<{ epoch: string }>('select epoch from directory_head')) as [{ epoch: string }];
});
afterAll(async () => {
  await old.close();
  await identity.close();
});

interface OldRequest {
  readonly person: Person;
  readonly admin: Person;
  readonly context: Partial<SignedInViewer>;
  readonly tokenId: number;
}

const changeState = (person: Person, to: string) => identity.root.post(`/api/v4/users/${person.id}/${to}`).expect(201);
const putUser = (person: Person, json: object) =>
  identity.root.put(`/api/v4/users/${person.id}`).send(json).expect(200);
const createToken = async (by: Agent, kind: string, to: Person, scopes: readonly string[]): Promise<number> => {
  const token = by.post(`/api/v4/users/${to.id}/${kind}_tokens`).send({ name: 'held', scopes });
  return ((await token.expect(201)).body as { id: number }).id;
};

/** Caller and token of the request. */
const HOLDERS: Record<string, (person: Person, admin: Person) => Promise<Partial<SignedInViewer>>> = {
  own: async (person) => ({ tokenId: await createToken(identity.root, 'personal_access', person, ['api']) }),
  administrator: async (person) => {
    await putUser(person, { admin: true });
    return { tokenId: await createToken(identity.root, 'personal_access', person, ['api']), isAdmin: true };
  },
  impersonated: async (person, admin) => ({
    tokenId: await createToken(admin.client, 'impersonation', person, ['api']),
    impersonatorId: admin.id,
  }),
  sudo: async (_, admin) => ({
    tokenId: await createToken(identity.root, 'personal_access', admin, ['api', 'sudo']),
    scopes: ['api', 'sudo'],
    impersonatorId: admin.id,
  }),
};

const REVOKED = 'Token was revoked. You have to re-authorize from the user.';
const CASES: readonly [string, keyof typeof HOLDERS, (held: OldRequest) => Promise<unknown>, number, object][] = [
  [
    'the token is revoked',
    'own',
    ({ tokenId }) => identity.root.delete(`/api/v4/personal_access_tokens/${tokenId}`).expect(204),
    401,
    { error: 'invalid_token', error_description: REVOKED },
  ],
  [
    'the token expires',
    'own',
    ({ tokenId }) => identity.db.query('update access_tokens set expires_on = current_date where id = $1', [tokenId]),
    401,
    {
      error: 'invalid_token',
      error_description: 'Token is expired. You can either do re-authorization or token refresh.',
    },
  ],
  [
    'the token is deleted',
    'own',
    ({ tokenId }) => identity.db.query('delete from access_tokens where id = $1', [tokenId]),
    401,
    { message: '401 Unauthorized' },
  ],
  [
    'its owner is blocked',
    'own',
    ({ person }) => changeState(person, 'block'),
    403,
    { message: '403 Forbidden - Your account has been blocked' },
  ],
  [
    'its owner becomes external',
    'own',
    ({ person }) => putUser(person, { external: true }),
    503,
    { message: '503 Service Unavailable' },
  ],
  [
    'its owner loses the administrator role',
    'administrator',
    ({ person }) => putUser(person, { admin: false }),
    503,
    { message: '503 Service Unavailable' },
  ],
  [
    'the impersonated user becomes external',
    'impersonated',
    ({ person }) => putUser(person, { external: true }),
    503,
    { message: '503 Service Unavailable' },
  ],
  [
    'the impersonated user becomes an administrator',
    'impersonated',
    ({ person }) => putUser(person, { admin: true }),
    503,
    { message: '503 Service Unavailable' },
  ],
  [
    'its impersonator is blocked',
    'impersonated',
    ({ admin }) => changeState(admin, 'block'),
    401,
    { error: 'invalid_token', error_description: REVOKED },
  ],
  [
    'the administrator behind sudo loses the role',
    'sudo',
    ({ admin }) => putUser(admin, { admin: false }),
    403,
    { message: '403 Forbidden - Must be admin to use sudo' },
  ],
  [
    'the target of sudo is deactivated',
    'sudo',
    ({ person }) => changeState(person, 'deactivate'),
    403,
    { message: '403 Forbidden - Your account has been deactivated by your administrator' },
  ],
];

it.each(CASES)('a request that waits while %s (%s) reads and writes nothing', async (_, holds, ends, status, body) => {
  const name = `waiter-${++serial}`;
  const person = await identity.person(name);
  const admin = await identity.person(`admin-${serial}`, { admin: true });
  const context = await HOLDERS[holds]!(person, admin);
  const directory = { version: 0, epoch };
  const agent = old.as(makeViewer({ userId: person.id, username: name, directory, ...context }), { isUncounted: true });
  const write = () => agent.post('/api/v4/groups').send({ name: `${name}-group`, path: `${name}-group` });
  await agent.get('/api/v4/user').expect(200);

  await ends({ person, admin, context, tokenId: context.tokenId! });
  for (const request of [agent.get('/api/v4/user'), write()]) {
    const answer = await request;
    expect([answer.status, answer.body]).toEqual([status, body]);
  }
  expect(await identity.db.query('select 1 from namespaces where path = $1', [`${name}-group`])).toEqual([]);
});

it('a request that ends its own permission returns its answer', async () => {
  const person = await identity.person('leaver');
  const tokenId = await createToken(identity.root, 'personal_access', person, ['api']);
  const directory = { version: 0, epoch };
  const agent = old.as(makeViewer({ userId: person.id, username: 'leaver', directory, tokenId }), {
    isUncounted: true,
  });
  await agent.delete('/api/v4/personal_access_tokens/self').expect(204);
  await agent.get('/api/v4/user').expect(401);
});

it('a rotation that waits while its token is rotated has the family revoked', async () => {
  const person = await identity.person('rotator');
  const tokenId = await createToken(identity.root, 'personal_access', person, ['api']);
  const directory = { version: 0, epoch };
  const agent = old.as(makeViewer({ userId: person.id, username: 'rotator', directory, tokenId }), {
    isUncounted: true,
  });
  const first = await identity.root.post(`/api/v4/personal_access_tokens/${tokenId}/rotate`).expect(200);
  const second = await agent.post('/api/v4/personal_access_tokens/self/rotate');
  expect([second.status, second.body]).toEqual([401, { error: 'invalid_token', error_description: REVOKED }]);
  const { id } = first.body as { id: number };
  expect(await identity.db.query('select revoked from access_tokens where id = $1', [id])).toEqual([{ revoked: true }]);
});
