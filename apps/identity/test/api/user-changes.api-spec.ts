import { scryptSync } from 'node:crypto';
import { makeViewer, registerParameterEncodingTests } from '@rookery/testing';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';
import { resolve, sudo } from '../support/internal-calls';

let identity: IdentityApp;
let ada: Person;
beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada', { bio: 'Counts', note: 'first' });
});
afterAll(() => identity.close());

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const putUser = (id: number, body: Record<string, unknown>) => identity.root.put(`/api/v4/users/${id}`).send(body);
const readNewestChange = async (
  kind: string,
  id: number,
): Promise<{ version: number; state: Record<string, unknown> | null }> => {
  const [row] = await identity.db.query<{ version: number; state: Record<string, unknown> | null }>(
    `select version, state from directory_changes where kind = $1 and entity_id = $2 order by version desc limit 1`,
    [kind, id],
  );
  return row!;
};

describe('PUT /users/:id', () => {
  it('changes one field and keeps the others', async () => {
    const { body } = await putUser(ada.id, { location: 'London' }).expect(200);
    const { created_at, confirmed_at, last_sign_in_at, current_sign_in_at, created_by, ...rest } = body;
    expect([created_at, confirmed_at]).toEqual([expect.any(String), expect.any(String)]);
    expect([last_sign_in_at, current_sign_in_at, created_by.username]).toEqual([null, null, 'root']);
    expect(rest).toEqual({
      id: ada.id,
      username: 'ada',
      public_email: null,
      name: 'Name of ada',
      state: 'active',
      locked: false,
      avatar_url: null,
      web_url: 'http://localhost:8080/ada',
      bio: 'Counts',
      bot: false,
      location: 'London',
      linkedin: '',
      twitter: '',
      discord: '',
      website_url: '',
      github: '',
      organization: '',
      job_title: '',
      pronouns: null,
      work_information: null,
      followers: 0,
      following: 0,
      is_followed: false,
      local_time: null,
      last_activity_on: null,
      email: 'ada@example.com',
      theme_id: 1,
      color_scheme_id: 1,
      projects_limit: 100000,
      identities: [],
      can_create_group: true,
      can_create_project: true,
      two_factor_enabled: false,
      external: false,
      private_profile: false,
      commit_email: 'ada@example.com',
      shared_runners_minutes_limit: null,
      extra_shared_runners_minutes_limit: null,
      is_admin: false,
      note: 'first',
      namespace_id: ada.namespaceId,
      email_reset_offered_at: null,
      using_license_seat: true,
      is_auditor: false,
      current_sign_in_ip: null,
      last_sign_in_ip: null,
      sign_in_count: 0,
      plan: 'ultimate',
      trial: false,
    });
  });

  it('accepts all fields that clients send', async () => {
    const sent = {
      name: 'Ada L.',
      bio: '',
      linkedin: 'ada',
      twitter: '@ada',
      discord: '1',
      website_url: 'https://ada.example',
      organization: 'Engine',
      job_title: 'Countess',
      pronouns: 'she',
      github: 'ada',
      external: true,
      private_profile: true,
      can_create_group: false,
      projects_limit: 0,
      note: 'second',
      theme_id: 2,
      color_scheme_id: 3,
    };
    expect((await putUser(ada.id, { ...sent, view_diffs_file_by_file: true })).body).toMatchObject({
      ...sent,
      work_information: 'Countess at Engine',
      can_create_project: false,
      email: 'ada@example.com',
    });
    expect((await identity.root.get(`/api/v4/namespaces/${ada.namespaceId}`)).body ?? {}).toBeDefined();
    expect(await readNewestChange('user', ada.id)).toMatchObject({ state: { name: 'Ada L.', external: true } });
    expect(await readNewestChange('namespace', ada.namespaceId)).toMatchObject({
      state: { name: 'Ada L.', full_name: 'Ada L.' },
    });
  });

  it('changes the password, which is never shown', async () => {
    const response = await putUser(ada.id, { password: 'battery staple' }).expect(200);
    expect(response.text).not.toContain('battery');
    const [row] = await identity.db.query<{ password_digest: string }>(
      `select password_digest from users where id = $1`,
      [ada.id],
    );
    const [, salt, key] = row!.password_digest.split('$');
    const derived = scryptSync('battery staple', Buffer.from(salt!, 'base64url'), 32);
    expect(derived.toString('base64url')).toBe(key);
    expect((await putUser(ada.id, { password: 'short' })).body).toEqual({
      message: { password: ['is too short (minimum is 8 characters)'] },
    });
  });

  it('sets and replaces the identity at a provider', async () => {
    const zoe = await identity.person('zoe', { provider: 'ldap', extern_uid: 'z1' });
    await putUser(ada.id, { provider: 'ldap', extern_uid: 'a1' });
    expect((await putUser(ada.id, { provider: 'ldap', extern_uid: 'a2' })).body.identities).toEqual([
      { provider: 'ldap', extern_uid: 'a2', saml_provider_id: null },
    ]);
    const taken = { message: { 'identities.extern_uid': ['has already been taken'] } };
    const refused = await putUser(ada.id, { provider: 'ldap', extern_uid: 'z1' });
    expect([refused.status, refused.body]).toEqual([400, taken]);
    const body = {
      username: 'zed',
      name: 'Z',
      email: 'zed@example.com',
      password: 'correct horse',
      provider: 'ldap',
      extern_uid: 'z1',
    };
    const made = await identity.root.post('/api/v4/users').send(body);
    expect([made.status, made.body]).toEqual([400, taken]);
    expect((await identity.root.get('/api/v4/users').query({ provider: 'ldap', extern_uid: 'z1' })).body).toMatchObject(
      [{ id: zoe.id }],
    );
  });

  it('accepts an avatar by multipart with the other fields as texts, and removes it', async () => {
    const pia = await identity.person('pia');
    const png = { filename: 'pia.png', contentType: 'image/png' };
    const { status, body } = await identity.root
      .put(`/api/v4/users/${pia.id}`)
      .field({ external: '1', projects_limit: '7' })
      .attach('avatar', PNG, png);
    expect([status, body.external, body.projects_limit]).toEqual([200, true, 7]);
    expect(body.avatar_url).toMatch(/^http:\/\/localhost:8080\/uploads\/.*pia\.png$/);
    expect(await readNewestChange('namespace', pia.namespaceId)).toMatchObject({
      state: { avatar_url: expect.stringContaining('pia.png') },
    });
    const svg = { filename: 'x.svg', contentType: 'image/svg+xml' };
    const refused = await identity.root.put(`/api/v4/users/${pia.id}`).attach('avatar', Buffer.from('<svg/>'), svg);
    expect([refused.status, Object.keys(refused.body.message)]).toEqual([400, ['avatar']]);
    expect((await identity.root.put(`/api/v4/users/${pia.id}`).field({ avatar: '' })).body.avatar_url).toBeNull();

    const made = await identity.root
      .post('/api/v4/users')
      .field({ username: 'pic', name: 'Pic', email: 'pic@example.com', password: 'correct horse', admin: '0' })
      .attach('avatar', PNG, png);
    expect([made.status, made.body.avatar_url]).toEqual([201, expect.stringMatching(/pia\.png$/)]);
    expect((await identity.root.get('/api/v4/users').query({ username: 'pic' })).body[0].avatar_url).toBe(
      made.body.avatar_url,
    );
  });
});

describe('a new username', () => {
  it('moves the personal namespace, whose projects are still found', async () => {
    const eve = await identity.person('eve');
    const { id } = (await eve.client.post('/api/v4/projects').send({ name: 'tool' }).expect(201)).body as {
      id: number;
    };
    const { body: token }: { body: { id: number } } = await identity.root
      .post(`/api/v4/users/${eve.id}/personal_access_tokens`)
      .send({ name: 't', scopes: ['api'] })
      .expect(201);
    const { status, body } = await putUser(eve.id, { username: 'Evelyn' });
    expect([status, body.username, body.web_url]).toEqual([200, 'Evelyn', 'http://localhost:8080/Evelyn']);
    expect((await identity.root.get(`/api/v4/projects/${id}`)).body.path_with_namespace).toBe('Evelyn/tool');
    await identity.root.get('/api/v4/projects/evelyn%2Ftool').expect(200);
    const former = await identity.root.get('/api/v4/projects/eve%2Ftool');
    expect([former.status, former.get('location')]).toEqual([301, `http://localhost:8080/api/v4/projects/${id}`]);
    const [user, namespace] = [
      await readNewestChange('user', eve.id),
      await readNewestChange('namespace', eve.namespaceId),
    ];
    expect(user.state).toMatchObject({ username: 'Evelyn' });
    expect(namespace.state).toMatchObject({ path: 'Evelyn', full_path: 'Evelyn' });
    expect([namespace.version, (await readNewestChange('token', token.id)).version]).toEqual([
      user.version,
      user.version,
    ]);

    // The former name is free, and a new user with it takes over the path.
    const other = await identity.person('eve', { email: 'other@example.com' });
    expect((await putUser(eve.id, { username: 'eve' })).body).toEqual({ message: 'Username has already been taken' });
    const { body: made }: { body: { id: number } } = await other.client
      .post('/api/v4/projects')
      .send({ name: 'tool' })
      .expect(201);
    expect((await identity.root.get('/api/v4/projects/eve%2Ftool')).body.id).toBe(made.id);
  });

  it('may differ in case only', async () => {
    const kit = await identity.person('kit');
    const { id } = (await kit.client.post('/api/v4/projects').send({ name: 'p' }).expect(201)).body as { id: number };
    expect((await putUser(kit.id, { username: 'KIT' })).body.username).toBe('KIT');
    expect((await identity.root.get('/api/v4/projects/kit%2Fp')).body.id).toBe(id);
    const redirects = await identity.db.query(`select path from redirect_routes where path like 'kit%'`);
    expect(redirects).toEqual([]);
  });

  it.each([
    ['another user', 'ADA'],
    ['a group', 'taken-group'],
  ])('cannot be that of %s', async (_, username) => {
    await identity.root.post('/api/v4/groups').send({ name: 'Taken', path: 'taken-group' });
    const lou = await identity.person(`lou-${username.toLowerCase()}`);
    const refused = await putUser(lou.id, { username, name: 'never' });
    expect([refused.status, refused.body]).toEqual([409, { message: 'Username has already been taken' }]);
    expect((await identity.root.get(`/api/v4/users/${lou.id}`)).body.name).not.toBe('never');
  });

  it('goes to one of two concurrent requests', async () => {
    const [one, two] = [await identity.person('one'), await identity.person('two')];
    const answers = await Promise.all([
      putUser(one.id, { username: 'wanted' }),
      putUser(two.id, { username: 'wanted' }),
    ]);
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409]);
  });
});

describe('a new address', () => {
  let una: Person;
  beforeAll(async () => void (una = await identity.person('una')));

  it('replaces the former one, which becomes free', async () => {
    const max = await identity.person('max', { public_email: 'max@example.com', commit_email: 'max@example.com' });
    const { status, body } = await putUser(max.id, { email: 'MAX@mail.10' });
    expect([status, body.email, body.public_email, body.commit_email]).toEqual([
      200,
      'MAX@mail.10',
      null,
      'MAX@mail.10',
    ]);
    expect(body.confirmed_at).toEqual(expect.any(String));
    expect((await identity.root.get('/api/v4/users').query({ search: 'max@mail.10' })).body).toMatchObject([
      { id: max.id },
    ]);
    expect((await identity.root.get('/api/v4/users').query({ search: 'max@example.com' })).body).toEqual([]);
    expect(await readNewestChange('user', max.id)).toMatchObject({ state: { notification_email: 'MAX@mail.10' } });
    expect((await identity.person('maxim', { email: 'max@example.com' })).id).toEqual(expect.any(Number));
  });

  it('swaps with a secondary one of the same user', async () => {
    const ned = await identity.person('ned');
    await identity.root.post(`/api/v4/users/${ned.id}/emails`).send({ email: 'ned@other.example' });
    await putUser(ned.id, { email: 'ned@other.example' });
    const rows = await identity.db.query(
      `select email, is_primary, confirmed_at is not null as confirmed from emails where user_id = $1 order by email`,
      [ned.id],
    );
    expect(rows).toEqual([
      { email: 'ned@example.com', is_primary: false, confirmed: true },
      { email: 'ned@other.example', is_primary: true, confirmed: true },
    ]);
    expect((await putUser(ned.id, { public_email: 'ned@example.com' })).body.public_email).toBe('ned@example.com');
    expect((await putUser(ned.id, { public_email: '' })).body.public_email).toBeNull();
  });

  it.each([
    [{ email: 'ADA@example.com' }, 409, { message: 'Email has already been taken' }],
    [{ email: 'no address' }, 400, { message: { email: ['is invalid'] } }],
    [{ email: '' }, 400, { message: { email: ["can't be blank"] } }],
    [{ public_email: 'ada@example.com' }, 400, { message: { public_email: ['is not an email you own'] } }],
    [{ commit_email: 'x@y.z' }, 400, { message: { commit_email: ['is not an email you own'] } }],
    [{ username: 'api' }, 400, { message: { username: ['api is a reserved name'] } }],
    [{ username: '' }, 400, { message: { username: ["can't be blank"] } }],
    [{ name: ' ' }, 400, { message: { name: ["can't be blank"] } }],
    [{ bio: 'x'.repeat(256) }, 400, { message: { bio: ['is too long (maximum is 255 characters)'] } }],
    [{ projects_limit: 2 ** 31 }, 400, { error: 'projects_limit does not have a valid value' }],
    [{ admin: 'maybe' }, 400, { error: 'admin is invalid' }],
    [{ name: ['x'] }, 400, { error: 'name is invalid' }],
    [{ bio: 'a\0b' }, 400, { error: 'bio is invalid' }],
  ])('is refused with %j', async (sent, status, expected) => {
    const refused = await putUser(una.id, sent);
    expect([refused.status, refused.body]).toEqual([status, expected]);
  });
});

describe('permission to change users', () => {
  it('makes only human users administrators', async () => {
    const olga = await identity.person('olga');
    const group = { name: 'Tools', path: 'tools' };
    const { body: nest } = await olga.client.post('/api/v4/groups').send(group).expect(201);
    const { body: account } = await olga.client.post(`/api/v4/groups/${nest.id}/service_accounts`).send({}).expect(201);
    const wanted = { name: 'ci', scopes: ['api'] };
    const { body: token } = await olga.client.post(`/api/v4/groups/${nest.id}/access_tokens`).send(wanted).expect(201);
    for (const id of [account.id, token.user_id] as number[]) {
      const { status, body } = await putUser(id, { admin: true, note: 'trusted' });
      expect([status, body]).toEqual([400, { message: { admin: ['is for people only'] } }]);
      expect((await identity.root.get(`/api/v4/users/${id}`)).body).toMatchObject({ is_admin: false, note: null });
      expect((await putUser(id, { admin: false })).status).toBe(200);
      // A bot that a previous release made an administrator has no administrator permissions.
      await identity.db.query(`update users set admin = true where id = $1`, [id]);
      expect(await sudo(identity, String(id))).toMatchObject({ id, admin: false });
    }
    expect(await resolve(identity, token.token)).toMatchObject({ holder: { bot: true, admin: false } });
    const last = '403 Forbidden - The last administrator cannot be removed, demoted or refused entry';
    expect((await putUser(1, { admin: false })).body).toEqual({ message: last });
  });

  it('is for administrators', async () => {
    expect((await ada.client.put(`/api/v4/users/${ada.id}`).send({ name: 'x' })).body).toEqual({
      message: '403 Forbidden',
    });
    expect((await identity.anonymous.put(`/api/v4/users/${ada.id}`).send({ name: 'x' })).body).toEqual({
      message: '401 Unauthorized',
    });
    expect((await putUser(987654321, { name: 'x' })).body).toEqual({ message: '404 User Not Found' });
    expect((await identity.root.put('/api/v4/users/9007199254740993').send({ name: 'x' })).status).toBeLessThan(500);
  });

  it('leaves an administrator', async () => {
    const last = { message: '403 Forbidden - The last administrator cannot be removed, demoted or refused entry' };
    expect((await putUser(1, { admin: false })).body).toEqual(last);
    await putUser(1, { name: 'Administrator' }).expect(200);
    const ann = await identity.person('ann', { admin: true });
    const answers = await Promise.all([
      putUser(ann.id, { admin: false }),
      ann.client.put('/api/v4/users/1').send({ admin: false }),
    ]);
    expect(answers.map((one) => one.status).sort()).toEqual([200, 403]);
    await identity.db.query(`update users set admin = (id = 1) where id in (1, $1)`, [ann.id]);
  });
});

describe('parameters', () => {
  registerParameterEncodingTests({
    app: () => identity.app,
    to: async (encoding) => {
      const who = await identity.person(`enc-${encoding.replace(/\W/g, '')}`);
      return {
        viewer: makeViewer({ userId: 1, username: 'root', isAdmin: true }),
        method: 'PUT',
        path: `/api/v4/users/${who.id}`,
        params: { name: 'New', external: true, projects_limit: 5, bio: 'a, b' },
      };
    },
    seen: ({ name, external, projects_limit, bio }) => [name, external, projects_limit, bio],
    expected: ['New', true, 5, 'a, b'],
  });
});
