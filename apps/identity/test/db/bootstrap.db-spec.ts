import { createHash } from 'node:crypto';
import { Work } from '@rookery/persistence';
import { Bootstrap } from '../../src/bootstrap/bootstrap.command';
import { ChangeLog } from '../../src/directory/change-log';
import { AccessTokensService } from '../../src/tokens/access-tokens.service';
import { UsersService } from '../../src/users/users.service';
import { ROOT_TOKEN, startIdentity } from '../support/identity-app';
import type { IdentityApp } from '../support/identity-app';

let identity: IdentityApp;
beforeAll(async () => (identity = await startIdentity()));
afterAll(() => identity.close());

const run = (rootToken: string | null) => {
  const { app } = identity;
  const settings = { rootToken, rootEmail: 'admin@example.com' } as never;
  return new Bootstrap(
    app.get(Work),
    app.get(UsersService),
    app.get(AccessTokensService),
    app.get(ChangeLog),
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
    const other = await identity.root
      .post('/users/1/personal_access_tokens')
      .body({ name: 'bootstrap', scopes: ['api'] })
      .json<{ token: string }>();
    const next = 'glpat-nextnextnextnextnext';
    await run(next);
    expect((await working()).sort()).toEqual([digest(next), digest(other.token)].sort());
  });

  it("wants a token, one that is alive and root's own", async () => {
    await expect(run(null)).rejects.toThrow('ROOKERY_ROOT_TOKEN is missing');
    await expect(run(ROOT_TOKEN)).rejects.toThrow('was revoked');
    const ada = await identity.person('ada');
    const foreign = await identity.root
      .post(`/users/${ada.id}/personal_access_tokens`)
      .body({ name: 'x', scopes: ['api'] })
      .json<{ token: string }>();
    await expect(run(foreign.token)).rejects.toThrow('of another user');
  });
});
