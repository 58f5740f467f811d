import {
  anonymousViewer,
  makeViewer,
  registerForeignParentTests,
  registerListPagingTests,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
  registerVisibilityTests,
} from '@rookery/testing';
import { confirmationsOf, newestLink } from '../support/account-mails';
import { maker } from '../support/groups-and-projects';
import type { MadeGroup } from '../support/groups-and-projects';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';
import { resolve, sudo } from '../support/internal-calls';

let identity: IdentityApp;
let olga: Person;
let gus: Person;
let nest: MadeGroup;
const make = maker(() => identity);
beforeAll(async () => {
  identity = await startIdentity({ EMAIL_CONFIRMATIONS_PER_HOUR_COUNT: '0', DELETION_DELAY_DAYS: '0' });
  [olga, gus] = [await make.person(), await make.person()];
  nest = await make.group(olga, { visibility: 'private' });
  await make.join(`/api/v4/groups/${nest.id}`, gus, 40);
});
afterAll(() => identity.close());

interface Account {
  readonly id: number;
  readonly username: string;
  readonly name: string;
  readonly email: string;
}
const accountsPath = (group: { id: number } = nest): string => `/api/v4/groups/${group.id}/service_accounts`;
const createAccount = async (body: object = {}, group = nest) =>
  (await olga.client.post(accountsPath(group)).send(body).expect(201)).body as Account;
const viewerOf = (person: Person) => makeViewer({ userId: person.id, username: person.username });
const MAY_NOT_CREATE = {
  message: '403 Forbidden - User does not have permission to create a service account in this namespace.',
};
const TOP_LEVEL = { message: '400 Bad request - Group must be a top-level group' };
const statusAndBody = async (asked: PromiseLike<{ status: number; body: unknown }>): Promise<[number, unknown]> => {
  const { status, body } = await asked;
  return [status, body];
};

describe('POST /groups/:id/service_accounts', () => {
  it('generates omitted names, with one random part', async () => {
    const { status, body } = await olga.client.post(accountsPath()).send({});
    const random = /^service_account_group_\d+_([0-9a-f]{32})$/.exec(body.username)![1]!;
    expect([status, body]).toEqual([
      201,
      {
        id: expect.any(Number),
        username: `service_account_group_${nest.id}_${random}`,
        name: 'Service account user',
        email: `service_account_group_${nest.id}_${random}@noreply.localhost`,
      },
    ]);
    const user = await identity.root.get(`/api/v4/users/${body.id}`);
    expect(user.body).toMatchObject({ bot: true, state: 'active', confirmed_at: expect.any(String), is_admin: false });
    expect((await identity.root.get(`${accountsPath()}?order_by=id`)).body[0]).toEqual(body);
    expect(await confirmationsOf(identity, body.id)).toEqual([]);
  });

  it('accepts names; the address stays a generated one', async () => {
    const username = make.unique('deployer');
    const { status, body } = await olga.client.post(accountsPath()).send({ name: 'Deployer', username });
    expect([status, body]).toEqual([
      201,
      {
        id: expect.any(Number),
        username,
        name: 'Deployer',
        email: expect.stringMatching(/^service_account_group_\d+_[0-9a-f]{32}@noreply\.localhost$/),
      },
    ]);
  });

  it('accepts an address, which must be confirmed before the account can be used', async () => {
    const email = `${make.unique('bot')}@mail.example`;
    const account = await createAccount({ email });
    expect(account).toEqual({ id: account.id, username: account.username, name: 'Service account user', email });
    const { body: token }: { body: { token: string } } = await olga.client
      .post(`${accountsPath()}/${account.id}/personal_access_tokens`)
      .send({ name: 'x', scopes: ['api'] })
      .expect(201);
    expect(await resolve(identity, token.token)).toMatchObject({
      outcome: 'user_refused',
      reason: expect.stringContaining('email address is not confirmed'),
    });
    expect((await olga.client.get(accountsPath())).body[0]).toEqual({ ...account, unconfirmed_email: email });
    const before = (await resolve(identity, null)).version;
    await identity.anonymous.get(await newestLink(identity, account.id)).expect(302);
    expect(await resolve(identity, token.token)).toMatchObject({
      outcome: 'valid',
      holder: { user_id: account.id, bot: true },
    });
    expect((await olga.client.get(accountsPath())).body[0]).toEqual(account);
    // The directory gets the address and gateways the token, in one version.
    const changes = await identity.db.query<{ kind: string; state: { notification_email: string } | null }>(
      `select kind, state from directory_changes where version > $1 and (entity_id = $2 or kind = 'token') order by ordinal`,
      [before, account.id],
    );
    expect(changes).toMatchObject([{ kind: 'user', state: { notification_email: email } }, { kind: 'token' }]);
  });

  it('cannot be used with sudo before', async () => {
    const account = await createAccount({ email: `${make.unique('bot')}@mail.example` });
    expect((await sudo(identity, account.username))!.state).toBe('unconfirmed');
    await identity.anonymous.get(await newestLink(identity, account.id));
    expect((await sudo(identity, account.username))!.state).toBe('active');
  });

  it.each<[object, string]>([
    [{ username: 'root' }, 'Username has already been taken'],
    [{ username: 'ROOT' }, 'Username has already been taken'],
    [{ email: 'TAKEN@mail.example' }, 'Email has already been taken'],
    [{ email: 'nobody' }, 'Email is invalid'],
    [
      { username: 'a b' },
      "Username can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'.",
    ],
    [{ username: 'api' }, 'Username api is a reserved name'],
    [{ name: 'x'.repeat(256), email: 'x' }, 'Email is invalid, Name is too long (maximum is 255 characters)'],
  ])('refuses %j', async (body, text) => {
    await identity.db.query(
      `insert into emails (user_id, email) values (1, 'taken@mail.example') on conflict do nothing`,
    );
    expect(await statusAndBody(olga.client.post(accountsPath()).send(body))).toEqual([
      400,
      { message: `400 Bad request - ${text}` },
    ]);
  });

  it('refuses the path of a group, and stores nothing', async () => {
    const email = `${make.unique('bot')}@mail.example`;
    const body = { username: nest.path, email };
    expect(await statusAndBody(olga.client.post(accountsPath()).send(body))).toEqual([
      400,
      { message: '400 Bad request - Username has already been taken' },
    ]);
    expect(await identity.db.query(`select 1 from emails where email = $1`, [email])).toEqual([]);
    await olga.client.post(accountsPath()).send({ email }).expect(201);
  });

  it('gives a name to one of several concurrent requests', async () => {
    const username = make.unique('wanted');
    const answers = await Promise.all(
      Array.from({ length: 6 }, () =>
        olga.client.post(accountsPath()).send({ username, email: `${username}@mail.example` }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400, 400]);
  });

  it('requires owners, and gives only them the reason why a subgroup is refused', async () => {
    expect(await statusAndBody(gus.client.post(accountsPath()).send({}))).toEqual([403, MAY_NOT_CREATE]);
    await identity.root.post(accountsPath()).send({}).expect(201);
    const below = await make.group(olga, { parent_id: nest.id });
    expect(await statusAndBody(olga.client.post(accountsPath(below)).send({}))).toEqual([400, TOP_LEVEL]);
    expect(await statusAndBody(gus.client.post(accountsPath(below)).send({}))).toEqual([403, MAY_NOT_CREATE]);
  });

  it('finds the group by its path', async () => {
    await olga.client.post(`/api/v4/groups/${nest.path}/service_accounts`).send({}).expect(201);
    const below = await make.group(olga, { parent_id: nest.id });
    const path = encodeURIComponent(below.full_path);
    expect(await statusAndBody(olga.client.get(`/api/v4/groups/${path}/service_accounts`))).toEqual([400, TOP_LEVEL]);
  });

  registerRefusalOrderTests(
    () => identity.app,
    async () => ({
      method: 'POST',
      path: accountsPath(),
      good: {},
      bad: { name: ['a'] },
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
      path: accountsPath(),
      params: { name: 'Bot', username: make.unique('encoded'), email: `${make.unique('encoded')}@mail.example` },
    }),
    seen: ({ name, username, email }) => [name, ...[username, email].map((text) => String(text).replace(/\d+/, 'n'))],
    expected: ['Bot', 'encoded-n', 'encoded-n@mail.example'],
  });
});

describe('GET /groups/:id/service_accounts', () => {
  let flock: MadeGroup;
  let accounts: Account[];
  beforeAll(async () => {
    flock = await make.group(olga, { visibility: 'private' });
    accounts = [];
    for (const username of ['cc', 'aa', 'ee', 'bb', 'dd'])
      accounts.push(await createAccount({ username: `${username}.flock` }, flock));
  });
  const names = async (query: Record<string, unknown>) =>
    (await olga.client.get(accountsPath(flock)).query(query)).body.map((one: Account) => one.username.slice(0, 2));

  it.each<[Record<string, unknown>, string[]]>([
    [{}, ['dd', 'bb', 'ee', 'aa', 'cc']],
    [{ sort: 'asc' }, ['cc', 'aa', 'ee', 'bb', 'dd']],
    [{ order_by: 'username' }, ['ee', 'dd', 'cc', 'bb', 'aa']],
    [{ order_by: 'username', sort: 'asc' }, ['aa', 'bb', 'cc', 'dd', 'ee']],
  ])('is ordered by %j', async (query, expected) => expect(await names(query)).toEqual(expected));

  it('returns each account with all fields', async () => {
    expect((await olga.client.get(accountsPath(flock)).query({ sort: 'asc' })).body).toEqual(accounts);
  });

  it.each([
    [{ order_by: 'name' }, { error: 'order_by does not have a valid value' }],
    [{ sort: 'up' }, { error: 'sort does not have a valid value' }],
  ])('refuses %j', async (query, expected) => {
    expect(await statusAndBody(olga.client.get(accountsPath(flock)).query(query))).toEqual([400, expected]);
  });

  registerListPagingTests(() => ({
    app: identity.app,
    viewer: viewerOf(olga),
    path: accountsPath(flock),
    query: { sort: 'asc' },
    rows: 5,
  }));

  registerRefusalOrderTests(
    () => identity.app,
    async () => ({
      method: 'GET',
      path: accountsPath(),
      good: {},
      bad: { sort: 'up' },
      anonymous: anonymousViewer(),
      outsider: viewerOf(await make.person()),
      reader: viewerOf(gus),
      allowed: viewerOf(olga),
    }),
  );

  const LEVELS = { guest: 10, planner: 15, reporter: 20, developer: 30, maintainer: 40, owner: 50 } as const;
  registerVisibilityTests({
    app: () => identity.app,
    anonymous: 401,
    seen: (standing) => (standing === 'owner' || standing === 'admin' ? 200 : 403),
    from: async (level, standing) => {
      const group = await make.group(olga, { visibility: level });
      if (standing === 'anonymous') return { viewer: anonymousViewer(), path: accountsPath(group) };
      const over = { isAdmin: standing === 'admin', isExternal: standing === 'external' };
      const person = await make.person({ external: over.isExternal, admin: over.isAdmin });
      if (standing in LEVELS)
        await make.join(`/api/v4/groups/${group.id}`, person, LEVELS[standing as keyof typeof LEVELS]);
      return {
        viewer: makeViewer({ userId: person.id, username: person.username, ...over }),
        path: accountsPath(group),
      };
    },
  });
});

describe('PATCH /groups/:id/service_accounts/:user_id', () => {
  it('changes names, and the namespace of the account with them', async () => {
    const account = await createAccount();
    const username = make.unique('renamed');
    const changed = await olga.client.patch(`${accountsPath()}/${account.id}`).send({ name: 'New', username });
    expect([changed.status, changed.body]).toEqual([200, { ...account, name: 'New', username }]);
    expect((await identity.root.get(`/api/v4/namespaces/${username}`)).status).toBeLessThan(500);
    const [row] = await identity.db.query(
      `select n.name, n.full_path, c.state ->> 'username' as copied from namespaces n
       join lateral (select state from directory_changes where kind = 'user' and entity_id = $1 order by version desc limit 1) c on true
       where n.owner_id = $1`,
      [account.id],
    );
    expect(row).toEqual({ name: 'New', full_path: username, copied: username });
    await olga.client.post(accountsPath()).send({ username: account.username }).expect(201);
  });

  it('returns the account when nothing changes', async () => {
    const account = await createAccount();
    expect(await statusAndBody(olga.client.patch(`${accountsPath()}/${account.id}`).send({}))).toEqual([200, account]);
  });

  it('keeps a new address next to the present one until it is confirmed', async () => {
    const account = await createAccount();
    const path = `${accountsPath()}/${account.id}`;
    const email = `${make.unique('new')}@mail.example`;
    const waiting = { ...account, unconfirmed_email: email };
    expect(await statusAndBody(olga.client.patch(path).send({ email }))).toEqual([200, waiting]);
    expect((await olga.client.get(accountsPath())).body[0]).toEqual(waiting);
    expect((await identity.root.get(`/api/v4/users/${account.id}/emails`)).body).toEqual([]);
    const first = await newestLink(identity, account.id);

    // The same address again causes a new link; the former one becomes invalid.
    await identity.db.query(`update emails set created_at = created_at where email = $1`, [email]);
    expect(await statusAndBody(olga.client.patch(path).send({ email }))).toEqual([200, waiting]);
    expect(await confirmationsOf(identity, account.id)).toHaveLength(2);
    await identity.anonymous.get(first).expect(400);
    await identity.anonymous.get(await newestLink(identity, account.id)).expect(302);
    expect((await olga.client.get(accountsPath())).body[0]).toEqual({ ...account, email });
    const rows = await identity.db.query(`select email, is_primary from emails where user_id = $1`, [account.id]);
    expect(rows).toEqual([{ email, is_primary: true }]);
    expect((await identity.root.get(`/api/v4/users/${account.id}`)).body.email).toBe(email);
  });

  it('cancels a pending change when the present address is sent', async () => {
    const account = await createAccount();
    const path = `${accountsPath()}/${account.id}`;
    await olga.client.patch(path).send({ email: `${make.unique('new')}@mail.example` });
    const link = await newestLink(identity, account.id);
    expect(await statusAndBody(olga.client.patch(path).send({ email: account.email }))).toEqual([200, account]);
    await identity.anonymous.get(link).expect(400);
  });

  it('sends the link again for an account that was never confirmed', async () => {
    const email = `${make.unique('bot')}@mail.example`;
    const account = await createAccount({ email });
    await olga.client.patch(`${accountsPath()}/${account.id}`).send({ email });
    expect(await confirmationsOf(identity, account.id)).toHaveLength(2);
    await identity.anonymous.get(await newestLink(identity, account.id)).expect(302);
  });

  it.each<[object, string]>([
    [{ name: ' ' }, "Name can't be blank"],
    [{ username: '' }, "Username can't be blank"],
    [{ username: 'root' }, 'Username has already been taken'],
    [{ email: 'root@localhost.localdomain' }, 'Email has already been taken'],
    [{ email: 'x' }, 'Email is invalid'],
  ])('refuses %j', async (body, text) => {
    await identity.db.query(`update emails set email = 'root@localhost.localdomain' where user_id = 1 and is_primary`);
    const account = await createAccount();
    const answer = await statusAndBody(olga.client.patch(`${accountsPath()}/${account.id}`).send(body));
    expect(answer[0]).toBe(400);
    expect((answer[1] as { message: string }).message).toMatch(`400 Bad request - ${text}`);
    expect((await olga.client.get(accountsPath())).body[0]).toEqual(account);
  });

  it('answers 404 for accounts of other groups', async () => {
    const [person, instance] = [
      gus.id,
      (await identity.root.post('/api/v4/service_accounts').send({}).expect(201)).body.id,
    ];
    for (const id of [person, instance, 99999999, 0]) {
      expect(await statusAndBody(olga.client.patch(`${accountsPath()}/${id}`).send({ name: 'x' }))).toEqual([
        404,
        { message: '404 User Not Found' },
      ]);
    }
    expect(await statusAndBody(gus.client.patch(`${accountsPath()}/1`).send({}))).toEqual([
      403,
      { message: '403 Forbidden' },
    ]);
    const below = await make.group(olga, { parent_id: nest.id });
    expect(await statusAndBody(olga.client.patch(`${accountsPath(below)}/1`).send({}))).toEqual([400, TOP_LEVEL]);
  });

  registerRefusalOrderTests(
    () => identity.app,
    async () => ({
      method: 'PATCH',
      path: `${accountsPath()}/${(await createAccount()).id}`,
      good: { name: 'x' },
      bad: { name: { a: 1 } },
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
      method: 'PATCH',
      path: `${accountsPath()}/${(await createAccount()).id}`,
      params: { name: 'Otherwise' },
    }),
    seen: ({ name }) => name,
    expected: 'Otherwise',
  });
});

describe('DELETE /groups/:id/service_accounts/:user_id', () => {
  it('removes the account with its tokens and memberships', async () => {
    const account = await createAccount();
    await make.join(`/api/v4/groups/${nest.id}`, { id: account.id } as Person, 30);
    const { body: token }: { body: { token: string } } = await olga.client
      .post(`${accountsPath()}/${account.id}/personal_access_tokens`)
      .send({ name: 'x', scopes: ['api'] })
      .expect(201);
    const { status, text } = await olga.client.delete(`${accountsPath()}/${account.id}`).send({});
    expect([status, text]).toEqual([204, '']);
    expect((await resolve(identity, token.token)).outcome).toBe('unknown');
    await identity.root.get(`/api/v4/users/${account.id}`).expect(404);
    await olga.client.get(`/api/v4/groups/${nest.id}/members/${account.id}`).expect(404);
    expect(await statusAndBody(olga.client.delete(`${accountsPath()}/${account.id}`))).toEqual([
      404,
      { message: '404 User Not Found' },
    ]);
    expect(await identity.db.query(`select 1 from service_accounts where user_id = $1`, [account.id])).toEqual([]);
  });

  it('refuses the sole owner of a group, unless the owned groups may be removed', async () => {
    const account = await createAccount();
    const owned = await make.group(olga);
    await make.join(`/api/v4/groups/${owned.id}`, { id: account.id } as Person, 50);
    await identity.root.delete(`/api/v4/groups/${owned.id}/members/${olga.id}`);
    const { status, body } = await olga.client.delete(`${accountsPath()}/${account.id}`);
    expect([status, typeof body.message]).toEqual([409, 'string']);
    await olga.client.delete(`${accountsPath()}/${account.id}`).send({ hard_delete: 'true' }).expect(204);
    await identity.root.get(`/api/v4/groups/${owned.id}`).expect(404);
  });

  it('honours If-Unmodified-Since', async () => {
    const account = await createAccount();
    const path = `${accountsPath()}/${account.id}`;
    const early = olga.client.delete(path).set('if-unmodified-since', 'Thu, 01 Jan 2015 00:00:00 GMT');
    expect(await statusAndBody(early)).toEqual([412, { message: '412 Precondition Failed' }]);
    const late = olga.client.delete(path).set('if-unmodified-since', 'Thu, 01 Jan 2099 00:00:00 GMT');
    expect((await late).status).toBe(204);
  });

  it('answers 404 for accounts of other groups', async () => {
    for (const id of [gus.id, 99999999]) {
      expect(await statusAndBody(olga.client.delete(`${accountsPath()}/${id}`))).toEqual([
        404,
        { message: '404 User Not Found' },
      ]);
    }
    const below = await make.group(olga, { parent_id: nest.id });
    expect(await statusAndBody(olga.client.delete(`${accountsPath(below)}/1`))).toEqual([400, TOP_LEVEL]);
    await identity.root.get(`/api/v4/users/${gus.id}`).expect(200);
  });

  registerRefusalOrderTests(
    () => identity.app,
    async () => ({
      method: 'DELETE',
      path: `${accountsPath()}/${(await createAccount()).id}`,
      good: {},
      bad: { hard_delete: 'perhaps' },
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
      method: 'DELETE',
      path: `${accountsPath()}/${(await createAccount()).id}`,
      params: { hard_delete: true },
    }),
    seen: (body) => body,
    expected: {},
  });
});

describe('an account of another group', () => {
  let other: MadeGroup;
  let account: Account;
  beforeAll(async () => {
    other = await make.group(olga);
    account = await createAccount({}, other);
  });
  registerForeignParentTests({
    app: () => identity.app,
    viewer: () => viewerOf(olga),
    requests: () => [
      { method: 'PATCH', path: `${accountsPath()}/${account.id}`, body: { name: 'x' } },
      { method: 'DELETE', path: `${accountsPath()}/${account.id}` },
    ],
    untouched: async () => (await olga.client.get(accountsPath(other))).body as unknown,
  });
});

describe('when the group is removed', () => {
  it('its accounts are removed', async () => {
    const group = await make.group(olga);
    const account = await createAccount({}, group);
    const { body: token }: { body: { token: string } } = await olga.client
      .post(`${accountsPath(group)}/${account.id}/personal_access_tokens`)
      .send({ name: 'x', scopes: ['api'] })
      .expect(201);
    await make.join(`/api/v4/groups/${group.id}`, { id: account.id } as Person, 50);
    await olga.client.delete(`/api/v4/groups/${group.id}`).expect(202);
    await identity.root.get(`/api/v4/users/${account.id}`).expect(404);
    expect((await resolve(identity, token.token)).outcome).toBe('unknown');
  });

  it('no account is left that was created at the same time', async () => {
    for (let round = 0; round < 3; round += 1) {
      const group = await make.group(olga);
      const asked = Array.from({ length: 6 }, () => olga.client.post(accountsPath(group)).send({}));
      const answers = await Promise.all([...asked, olga.client.delete(`/api/v4/groups/${group.id}`)]);
      expect(answers.pop()!.status).toBe(202);
      expect(answers.filter(({ status }) => status !== 201 && status !== 404)).toEqual([]);
      const left = await identity.db.query(`select id from users where username like $1`, [
        `service_account_group_${group.id}_%`,
      ]);
      expect(left).toEqual([]);
    }
  });

  it('an account that is the sole owner of another group stays for administrators, and can do nothing', async () => {
    const [group, owned] = [await make.group(olga), await make.group(olga)];
    const account = await createAccount({}, group);
    const { body: token }: { body: { token: string } } = await olga.client
      .post(`${accountsPath(group)}/${account.id}/personal_access_tokens`)
      .send({ name: 'x', scopes: ['api'] })
      .expect(201);
    await make.join(`/api/v4/groups/${owned.id}`, { id: account.id } as Person, 50);
    await identity.root.delete(`/api/v4/groups/${owned.id}/members/${olga.id}`);
    await olga.client.delete(`/api/v4/groups/${group.id}`).expect(202);
    expect((await resolve(identity, token.token)).outcome).toBe('revoked');
    expect((await identity.root.get('/api/v4/service_accounts')).body).toContainEqual(account);
  });
});

describe('/service_accounts', () => {
  const root = makeViewer({ userId: 1, username: 'root', isAdmin: true });

  it('creates accounts that belong to no group', async () => {
    const { status, body } = await identity.root.post('/api/v4/service_accounts').send({});
    const random = /^service_account_([0-9a-f]{32})$/.exec(body.username)![1]!;
    expect([status, body]).toEqual([
      201,
      {
        id: expect.any(Number),
        username: `service_account_${random}`,
        name: 'Service account user',
        email: `service_account_${random}@noreply.localhost`,
      },
    ]);
    expect((await identity.root.get('/api/v4/service_accounts')).body[0]).toEqual(body);
  });

  it('also lists and changes those of groups', async () => {
    const account = await createAccount();
    expect(
      (await identity.root.get('/api/v4/service_accounts').query({ order_by: 'id', sort: 'desc' })).body[0],
    ).toEqual(account);
    const email = `${make.unique('new')}@mail.example`;
    const changed = await identity.root.patch(`/api/v4/service_accounts/${account.id}`).send({ name: 'Kept', email });
    expect([changed.status, changed.body]).toEqual([200, { ...account, name: 'Kept', unconfirmed_email: email }]);
  });

  it('refuses invalid and taken names, and users that are not service accounts', async () => {
    expect(await statusAndBody(identity.root.post('/api/v4/service_accounts').send({ username: 'root' }))).toEqual([
      400,
      { message: '400 Bad request - Username has already been taken' },
    ]);
    expect(await statusAndBody(identity.root.post('/api/v4/service_accounts').send({ email: 'x' }))).toEqual([
      400,
      { message: '400 Bad request - Email is invalid' },
    ]);
    for (const id of [gus.id, 99999999]) {
      expect(await statusAndBody(identity.root.patch(`/api/v4/service_accounts/${id}`).send({ name: 'x' }))).toEqual([
        404,
        { message: '404 User Not Found' },
      ]);
    }
    expect(await statusAndBody(identity.root.patch('/api/v4/service_accounts/x').send({}))).toEqual([
      400,
      { error: 'id is invalid' },
    ]);
    expect(await statusAndBody(identity.root.get('/api/v4/service_accounts').query({ order_by: 'x' }))).toEqual([
      400,
      { error: 'order_by does not have a valid value' },
    ]);
  });

  it.each([
    ['get', '/api/v4/service_accounts'],
    ['post', '/api/v4/service_accounts'],
    ['patch', '/api/v4/service_accounts/1'],
  ] as const)('%s %s is for administrators', async (method, path) => {
    expect(await statusAndBody(identity.anonymous[method](path))).toEqual([401, { message: '401 Unauthorized' }]);
    expect(await statusAndBody(olga.client[method](path))).toEqual([403, { message: '403 Forbidden' }]);
    const reader = identity.as({ userId: 1, username: 'root', isAdmin: true, scopes: ['read_user'] });
    expect((await reader[method](path)).body).toMatchObject({ error: 'insufficient_scope' });
  });

  describe('the list', () => {
    beforeAll(async () => {
      // Few enough for the suite, whatever the other tests of this file have created.
      await identity.db.query(
        `delete from service_accounts where user_id not in (select user_id from service_accounts order by user_id limit 5)`,
      );
    });
    registerListPagingTests(() => ({
      app: identity.app,
      viewer: root,
      path: '/api/v4/service_accounts',
      query: { order_by: 'username' },
      rows: 5,
    }));
  });

  registerParameterEncodingTests({
    app: () => identity.app,
    to: () => ({
      viewer: root,
      method: 'POST',
      path: '/api/v4/service_accounts',
      params: { name: 'Bot', username: make.unique('everywhere') },
    }),
    seen: ({ name, username }) => [name, String(username).replace(/\d+/, 'n')],
    expected: ['Bot', 'everywhere-n'],
  });
  registerParameterEncodingTests({
    app: () => identity.app,
    to: async () => ({
      viewer: root,
      method: 'PATCH',
      path: `/api/v4/service_accounts/${(await identity.root.post('/api/v4/service_accounts').send({}).expect(201)).body.id}`,
      params: { name: 'Changed' },
    }),
    seen: ({ name }) => name,
    expected: 'Changed',
  });
});
