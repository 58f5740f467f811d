import { createHash } from 'node:crypto';
import { Work } from '@rookery/persistence';
import { BootstrapCommand } from '../../src/bootstrap/bootstrap.command';
import { FixedTokens } from '../../src/bootstrap/fixed-tokens';
import { FixedTokensCommand } from '../../src/bootstrap/fixed-tokens.command';
import { UsersService } from '../../src/users/users.service';
import { ROOT_TOKEN, startIdentity } from '../support/app';
import type { IdentityApp } from '../support/app';

let identity: IdentityApp;
beforeAll(async () => (identity = await startIdentity()));
afterAll(() => identity.close());

const runBootstrap = (rootToken: string | null) => {
  const { app } = identity;
  const settings = { rootToken, rootEmail: 'admin@example.com' } as never;
  return new BootstrapCommand(app.get(Work), app.get(UsersService), app.get(FixedTokens), settings).run();
};
const listWorkingDigests = async () =>
  (
    await identity.db.query<{ digest: string }>(
      `select encode(digest, 'hex') as digest from access_tokens where user_id = 1 and not revoked`,
    )
  ).map((row) => row.digest);
const digestOf = (token: string) => createHash('sha256').update(token).digest('hex');

describe('bootstrap', () => {
  it('creates root with id 1, once, also when run several times concurrently', async () => {
    await Promise.all([runBootstrap(ROOT_TOKEN), runBootstrap(ROOT_TOKEN), runBootstrap(ROOT_TOKEN)]);
    const users = await identity.db.query(`select id, username, admin from users`);
    expect(users).toEqual([{ id: 1, username: 'root', admin: true }]);
    expect(await listWorkingDigests()).toEqual([digestOf(ROOT_TOKEN)]);
  });

  it("replaces the former token by a changed one, and keeps root's other tokens", async () => {
    const { body: other }: { body: { token: string } } = await identity.root
      .post('/api/v4/users/1/personal_access_tokens')
      .send({ name: 'bootstrap', scopes: ['api'] })
      .expect(201);
    const next = 'glpat-nextnextnextnextnext';
    await runBootstrap(next);
    expect((await listWorkingDigests()).sort()).toEqual([digestOf(next), digestOf(other.token)].sort());
  });

  it('requires a valid token, which no other user has', async () => {
    await expect(runBootstrap(null)).rejects.toThrow('ROOKERY_ROOT_TOKEN is missing');
    await expect(runBootstrap(ROOT_TOKEN)).rejects.toThrow('was revoked');
    const ada = await identity.person('ada');
    const { body: foreign }: { body: { token: string } } = await identity.root
      .post(`/api/v4/users/${ada.id}/personal_access_tokens`)
      .send({ name: 'x', scopes: ['api'] })
      .expect(201);
    await expect(runBootstrap(foreign.token)).rejects.toThrow('of another user');
  });
});

describe('predefined tokens', () => {
  const give = (...seeded: Parameters<FixedTokensCommand['run']>[0]) =>
    identity.app.get(FixedTokensCommand).run(seeded);
  const token = 'robin-s-token-for-tests';

  it('belong to users, also when they are given again', async () => {
    const robin = await identity.person('robin');
    const { username } = (await identity.root.get(`/api/v4/users/${robin.id}`).expect(200)).body as {
      username: string;
    };
    await give({ username, token, scopes: ['read_user'] });
    await give({ username, token, scopes: ['read_user'] });
    const rows = await identity.db.query(
      `select name, scopes, revoked, expires_on from access_tokens where user_id = $1 and name = 'seed'`,
      [robin.id],
    );
    expect(rows).toEqual([{ name: 'seed', scopes: ['read_user'], revoked: false, expires_on: null }]);
  });

  it.each([
    ['belongs to another user', 'jay', { username: 'root', token }, 'the token of root is a token of another user'],
    ['is too short', 'kite', { username: 'root', token: 'short' }, 'the token of root needs 20 to 128'],
    ['is for a missing user', 'lark', { username: 'nobody', token }, 'user nobody does not exist'],
    ['has a forbidden scope', 'owl', { token, scopes: ['sudo'] }, 'cannot have the scope sudo'],
  ])('are refused together with all others when one %s, without showing it', async (_, name, bad, message) => {
    const { id } = await identity.person(name);
    const { username } = (await identity.root.get(`/api/v4/users/${id}`).expect(200)).body as { username: string };
    const refused = give({ username, token: `${name}-s-token-for-tests-only` }, { username, ...bad });
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.not.toThrow(bad.token);
    const given = await identity.db.query(`select id from access_tokens where user_id = $1 and name = 'seed'`, [id]);
    expect(given).toEqual([]);
  });
});
