import { randomUUID } from 'node:crypto';
import { Work } from '@rookery/persistence';
import { registerIdempotentWriteTests } from '@rookery/testing';
import type { Agent } from 'supertest';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';
import { resolve } from '../support/internal-calls';

let identity: IdentityApp;
let owner: Person;
beforeAll(async () => {
  identity = await startIdentity();
  owner = await identity.person('owner');
});
afterAll(() => identity.close());

let counter = 0;
const countRows = async (table: string): Promise<number> => {
  const [row] = await identity.db.query<{ count: number }>(`select count(*)::int as count from ${table}`);
  return row!.count;
};
const asAdministrator = (): Agent => identity.as({ userId: owner.id, username: 'owner', isAdmin: true });

registerIdempotentWriteTests('POST /users', {
  caller: () => identity.root,
  stranger: asAdministrator,
  database: () => identity.db,
  table: 'users',
  write: () => {
    const username = `maker${(counter += 1)}`;
    const body = { username, name: username, email: `${username}@example.com`, password: 'correct horse' };
    return { method: 'POST', path: '/api/v4/users', body };
  },
  count: () => countRows('users'),
  refused: { username: 'root', name: 'x', email: 'x@example.com', password: 'correct horse' },
});

registerIdempotentWriteTests('POST /users/:id/personal_access_tokens', {
  caller: () => identity.root,
  stranger: asAdministrator,
  database: () => identity.db,
  table: 'access_tokens',
  write: () => ({
    method: 'POST',
    path: `/api/v4/users/${owner.id}/personal_access_tokens`,
    body: { name: `token ${(counter += 1)}`, scopes: ['api'] },
  }),
  count: () => countRows('access_tokens'),
});

interface Token {
  readonly id: number;
  readonly user_id: number;
  readonly token: string;
  readonly expires_at: string;
}
const SELF = '/api/v4/personal_access_tokens/self/rotate';
const createToken = async (): Promise<Token> => {
  const path = `/api/v4/users/${owner.id}/personal_access_tokens`;
  return (
    await identity.root
      .post(path)
      .send({ name: 'ci', scopes: ['api'] })
      .expect(201)
  ).body as Token;
};
const asTokenHolder = ({ id }: Token, isReplayOnly = false): Agent =>
  identity.as({ userId: owner.id, username: 'owner', tokenId: id, ...(isReplayOnly ? { isReplayOnly: true } : {}) });
const isRevoked = async ({ token }: Token): Promise<boolean> => (await resolve(identity, token)).outcome === 'revoked';

describe('a token that rotates itself, with an idempotency key', () => {
  it('gets its successor again, which stays valid', async () => {
    const [token, key] = [await createToken(), randomUUID()];
    const { body: first } = await asTokenHolder(token).post(SELF).set('Idempotency-Key', key).expect(200);
    const question = { rotating: true, idempotency_key: key };
    expect(await resolve(identity, token.token, question)).toMatchObject({
      outcome: 'valid',
      replays_only: true,
      holder: { token_id: token.id, user_id: owner.id },
    });
    const again = await asTokenHolder(token, true).post(SELF).set('Idempotency-Key', key).expect(200);
    expect([again.body, again.headers['idempotency-replayed']]).toEqual([first, 'true']);
    expect(await isRevoked(first)).toBe(false);
    expect(await isRevoked(token)).toBe(true);
  });

  it.each([
    ['another key', { idempotency_key: 'another' }],
    ['no key', {}],
  ])('has its family revoked when it is presented with %s', async (_, other) => {
    const [token, key] = [await createToken(), randomUUID()];
    const { body: fresh } = await asTokenHolder(token).post(SELF).set('Idempotency-Key', key).expect(200);
    expect(await resolve(identity, token.token, { rotating: true, ...other })).toMatchObject({ outcome: 'revoked' });
    expect(await isRevoked(fresh)).toBe(true);
    // Afterwards the key gives no answer either.
    const question = { rotating: true, idempotency_key: key };
    expect(await resolve(identity, token.token, question)).toMatchObject({ outcome: 'revoked' });
  });

  it('is unauthorized for other requests, and gets no other answer with its key', async () => {
    const [token, key] = [await createToken(), randomUUID()];
    const { body: fresh } = await asTokenHolder(token).post(SELF).set('Idempotency-Key', key).expect(200);
    const question = { idempotency_key: key };
    expect(await resolve(identity, token.token, question)).toMatchObject({ outcome: 'revoked' });
    const refusal = { error: 'invalid_token', error_description: expect.any(String) };
    const unnamed = await asTokenHolder(token, true).post(SELF);
    expect([unnamed.status, unnamed.body]).toEqual([401, refusal]);
    const read = await asTokenHolder(token, true).get('/api/v4/user');
    expect([read.status, read.body]).toEqual([401, refusal]);
    expect(await isRevoked(fresh)).toBe(false);
    // A rotation with another body is another rotation, with a token that is revoked.
    const other = await asTokenHolder(token, true)
      .post(SELF)
      .set('Idempotency-Key', key)
      .send({ expires_at: fresh.expires_at });
    expect([other.status, other.body]).toEqual([401, refusal]);
    expect(await isRevoked(fresh)).toBe(true);
  });

  it('discloses its successor to no other token of the same user', async () => {
    const [token, weak, key] = [await createToken(), await createToken(), 'nightly'];
    const { body: fresh } = await asTokenHolder(token).post(SELF).set('Idempotency-Key', key).expect(200);
    const used = { message: 'Idempotency-Key was used for another request' };
    const heard = await asTokenHolder(weak).post(SELF).set('Idempotency-Key', key);
    expect([heard.status, heard.body]).toEqual([422, used]);
    await asTokenHolder(weak).post(SELF).set('Idempotency-Key', 'nightly of the other').expect(200);
    const left = await asTokenHolder(fresh)
      .delete('/api/v4/personal_access_tokens/self')
      .set('Idempotency-Key', 'gone');
    expect(left.status).toBe(204);
    const other = await createToken();
    const kept = await asTokenHolder(other)
      .delete('/api/v4/personal_access_tokens/self')
      .set('Idempotency-Key', 'gone');
    expect([kept.status, kept.body, await isRevoked(other)]).toEqual([422, used, false]);
  });

  it('has its family revoked if another request has replaced it meanwhile, and stores no answer', async () => {
    const token = await createToken();
    await identity.app
      .get(Work)
      .run((tx) => tx.query('update access_tokens set revoked = true where id = $1', [token.id]));
    const living = await createToken();
    await identity.db.query('update access_tokens set family_id = $1 where id = $2', [token.id, living.id]);
    const answer = await identity.root
      .post(`/api/v4/personal_access_tokens/${token.id}/rotate`)
      .set('Idempotency-Key', 'late');
    expect([answer.status, answer.body]).toEqual([400, { message: '400 Bad request - Token already revoked' }]);
    expect(await isRevoked(living)).toBe(true);
    expect(await identity.db.query(`select 1 from idempotency_keys where key = 'late'`)).toEqual([]);
  });

  it('leaves no secret in the database', async () => {
    const { body } = await asTokenHolder(await createToken())
      .post(SELF)
      .set('Idempotency-Key', 'secret')
      .expect(200);
    const rows = await identity.db.query<{ row: string; kept_ms: number }>(
      `select encode(k.answer, 'escape') || k::text as row, extract(epoch from answer_until - created_at) * 1000 as kept_ms
       from idempotency_keys k where key = 'secret'`,
    );
    expect(rows).toHaveLength(1);
    expect(Number(rows[0]!.kept_ms)).toBe(600_000);
    expect(rows[0]!.row).not.toContain((body as Token).token);
  });
});

describe('an idempotency key', () => {
  it('of an administrator who acts as a user differs from that of the user', async () => {
    const write = { name: 'own', scopes: ['k8s_proxy'] };
    const path = '/api/v4/user/personal_access_tokens';
    const asOwner = { userId: owner.id, username: 'owner' };
    const own = await identity.as(asOwner).post(path).set('Idempotency-Key', 'same').send(write).expect(201);
    const acted = await identity
      .as({ ...asOwner, impersonatorId: 1, isBySudo: true })
      .post(path)
      .set('Idempotency-Key', 'same')
      .send(write)
      .expect(201);
    expect((acted.body as Token).id).not.toBe((own.body as Token).id);
  });

  it('repeats the answer to the deletion of a group, although the group is deleted', async () => {
    const { body: group }: { body: { id: number } } = await owner.client
      .post('/api/v4/groups')
      .send({ name: 'gone', path: 'gone' })
      .expect(201);
    const remove = () => owner.client.delete(`/api/v4/groups/${group.id}`).set('Idempotency-Key', 'bye');
    const first = await remove().expect(202);
    const second = await remove().expect(202);
    expect([second.body, second.headers['idempotency-replayed']]).toEqual([first.body, 'true']);
  });
});
