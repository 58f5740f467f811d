import { createHash } from 'node:crypto';
import { Work } from '@rookery/persistence';
import { BootstrapCommand } from '../../src/bootstrap/bootstrap.command';
import { AccessTokensService } from '../../src/tokens/access-tokens.service';
import { TokenRows } from '../../src/tokens/token-rows';
import { UsersService } from '../../src/users/users.service';
import { ROOT_TOKEN, startIdentity } from '../support/app';
import type { IdentityApp } from '../support/app';

let identity: IdentityApp;
beforeAll(async () => (identity = await startIdentity()));
afterAll(() => identity.close());

const run = (rootToken: string | null) => {
  const { app } = identity;
  const settings = { rootToken, rootEmail: 'admin@example.com' } as never;
  return new BootstrapCommand(
    app.get(Work),
    app.get(UsersService),
    app.get(AccessTokensService),
    app.get(TokenRows),
    settings,
  ).run();
};
const working = async () =>
  (
    await identity.db.query<{ digest: string }>(
      `select encode(digest, 'hex') as digest from access_tokens where user_id = 1 and not revoked`,
    )
  ).map((row) => row.digest);
const digest = (token: string) => createHash('sha256').update(token).digest('hex');

describe('bootstrap', () => {
  it('makes root with id 1 and nothing twice, also when run several times at once', async () => {
    await Promise.all([run(ROOT_TOKEN), run(ROOT_TOKEN), run(ROOT_TOKEN)]);
    const users = await identity.db.query(`select id, username, admin from users`);
    expect(users).toEqual([{ id: 1, username: 'root', admin: true }]);
    expect(await working()).toEqual([digest(ROOT_TOKEN)]);
  });

  it('lets a changed token take the place of the former one, and leaves other tokens of root alone', async () => {
    const { body: other }: { body: { token: string } } = await identity.root
      .post('/api/v4/users/1/personal_access_tokens')
      .send({ name: 'bootstrap', scopes: ['api'] })
      .expect(201);
    const next = 'glpat-nextnextnextnextnext';
    await run(next);
    expect((await working()).sort()).toEqual([digest(next), digest(other.token)].sort());
  });

  it("wants a token, one that is alive and root's own", async () => {
    await expect(run(null)).rejects.toThrow('ROOKERY_ROOT_TOKEN is missing');
    await expect(run(ROOT_TOKEN)).rejects.toThrow('was revoked');
    const ada = await identity.person('ada');
    const { body: foreign }: { body: { token: string } } = await identity.root
      .post(`/api/v4/users/${ada.id}/personal_access_tokens`)
      .send({ name: 'x', scopes: ['api'] })
      .expect(201);
    await expect(run(foreign.token)).rejects.toThrow('of another user');
  });
});
