import { registerParameterEncodingTests, requestOf, registerVisibilityTests } from '@rookery/testing';
import { FlagsOfAProject } from '../support/flags';

let flags: FlagsOfAProject;
let token: string;
beforeAll(async () => {
  flags = await FlagsOfAProject.start();
  ({ token } = await fetchFlagsClient());
});
afterAll(() => flags.service.close());

const fetchFlagsClient = async (project = flags.project): Promise<{ token: string }> =>
  (
    await flags.app
      .as(await flags.member('maintainer'))
      .get(flags.path('feature_flags_client', project))
      .expect(200)
  ).body;
const unleashPath = (rest = '', id: number | string = flags.project.id) => `/api/v4/feature_flags/unleash/${id}${rest}`;
const anonymous = () => flags.app.as(flags.service.seed.anonymous());
const clientHeaders = (environment = 'production') => ({ 'unleash-instanceid': token, 'unleash-appname': environment });
const fetchClientFeatures = (environment?: string) =>
  anonymous().get(unleashPath('/client/features')).set(clientHeaders(environment)).expect(200);

describe('GET …/feature_flags_client', () => {
  it('returns one token, also in concurrent requests', async () => {
    const { seed } = flags.service;
    const project = await seed.project();
    await seed.member({ id: (await flags.member('maintainer')).userId! }, project, 'maintainer');
    const shown = await Promise.all([fetchFlagsClient(project), fetchFlagsClient(project), fetchFlagsClient(project)]);
    expect(new Set(shown.map((one) => one.token)).size).toBe(1);
    expect(shown[0]).toEqual({ token: expect.stringMatching(/^glffct-[\w-]{20}$/) });
  });

  registerVisibilityTests({
    app: () => flags.app,
    from: (level, standing) => flags.from(level, standing, 'feature_flags_client'),
    seen: (standing) => (['maintainer', 'owner', 'admin'].includes(standing) ? 200 : 403),
    anonymous: 401,
  });
});

it('clients of an archived project read its flags, like its developers', async () => {
  const { seed } = flags.service;
  await seed.put('projects', { ...flags.project, archived: true });
  await fetchClientFeatures();
  await flags.app
    .as(await flags.member())
    .get(flags.path('feature_flags'))
    .expect(200);
  await seed.put('projects', flags.project);
});

describe('POST …/feature_flags_client/reset_token', () => {
  it('replaces the token and refuses the previous one', async () => {
    const former = token;
    const maintainer = await flags.member('maintainer');
    const { body } = await flags.app.as(maintainer).post(flags.path('feature_flags_client/reset_token')).expect(200);
    expect(body).toEqual({ token: expect.stringMatching(/^glffct-/) });
    ({ token } = body as { token: string });
    expect(token).not.toBe(former);
    expect(await fetchFlagsClient()).toEqual({ token });
    await anonymous().get(unleashPath()).set('unleash-instanceid', former).expect(401);
    await anonymous().get(unleashPath()).set('unleash-instanceid', token).expect(200);
  });

  it('requires maintainers', async () => {
    const path = flags.path('feature_flags_client/reset_token');
    await flags.app
      .as(await flags.member())
      .post(path)
      .expect(403);
    await anonymous().post(path).expect(401);
  });
});

describe.each([
  ['GET', ''],
  ['GET', '/features'],
  ['GET', '/client/features'],
  ['POST', '/client/register'],
  ['POST', '/client/metrics'],
] as const)('%s /feature_flags/unleash/:project_id%s', (method, rest) => {
  const ask = () => requestOf(anonymous(), method, unleashPath(rest));

  it('accepts the token as a header or as a parameter', async () => {
    const answers = [
      await ask().set(clientHeaders()),
      await ask().query({ instance_id: token, app_name: 'production' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    if (!rest.endsWith('features')) expect(answers.map(({ text }) => text)).toEqual(['', '']);
  });

  it('refuses an environment that is longer than a scope', async () => {
    const named = (length: number) => ask().set({ ...clientHeaders(), 'unleash-appname': 'x'.repeat(length) });
    expect((await named(255)).status).toBe(200);
    const refused = await named(256);
    expect([refused.status, refused.body]).toEqual([
      400,
      { error: 'app_name is too long (maximum is 255 characters)' },
    ]);
  });

  it('refuses all other credentials', async () => {
    const other = await flags.service.seed.project();
    const refused = [
      await ask(),
      await ask().set('unleash-instanceid', ''),
      await ask().set('unleash-instanceid', `${token}x`),
      await ask().set('unleash-instanceid', 'x').query({ instance_id: token }),
      await requestOf(anonymous(), method, unleashPath(rest, other.id)).set(clientHeaders()),
      await requestOf(anonymous(), method, unleashPath(rest, 999_999)).set(clientHeaders()),
      await requestOf(anonymous(), method, unleashPath(rest, encodeURIComponent(flags.fullPath))).set(clientHeaders()),
      await requestOf(flags.app.as(await flags.member('owner')), method, unleashPath(rest)),
    ];
    for (const { status, body } of refused) expect([status, body]).toEqual([401, { message: '401 Unauthorized' }]);
  });

  it('ignores the scopes of an access token in the request', async () => {
    const reader = { ...(await flags.member()), scopes: ['read_registry'] };
    await requestOf(flags.app.as(reader), method, unleashPath(rest)).set(clientHeaders()).expect(200);
  });
});

describe('features of a client', () => {
  let listIid: number;
  beforeAll(async () => {
    const list = await flags.post<{ id: number; iid: number }>('feature_flags_user_lists', {
      name: 'testers',
      user_xids: 'user1,user2',
    });
    listIid = list.iid;
    await flags.post('feature_flags', {
      name: 'for-testers',
      description: 'Eggs',
      strategies: [
        { name: 'gitlabUserList', user_list_id: list.id, scopes: [{ environment_scope: 'production' }] },
        { name: 'default', scopes: [{ environment_scope: 'review/*' }] },
      ],
    });
    await flags.post('feature_flags', {
      name: 'off',
      active: false,
      strategies: [{ name: 'userWithId', parameters: { userIds: 'a' }, scopes: [{ environment_scope: '*' }] }],
    });
    await flags.post('feature_flags', { name: 'nowhere', strategies: [{ name: 'default' }] });
  });

  const off = { name: 'off', enabled: false, strategies: [{ name: 'userWithId', parameters: { userIds: 'a' } }] };
  const forTesters = (strategies: object[]) => ({
    name: 'for-testers',
    description: 'Eggs',
    enabled: true,
    strategies,
  });

  it.each([
    ['production', [forTesters([{ name: 'userWithId', parameters: { userIds: 'user1,user2' } }]), off]],
    ['review/eggs', [forTesters([{ name: 'default', parameters: {} }]), off]],
    ['Production', [off]],
    ['', [off]],
  ])('in the environment %j', async (environment, expected) => {
    const response = await fetchClientFeatures(environment);
    expect(response.body).toEqual({ version: 1, features: expected });
    expect(response.get('content-type')).toBe('application/json');
    const alias = await anonymous().get(unleashPath('/features')).set(clientHeaders(environment)).expect(200);
    expect(alias.body).toEqual(response.body);
  });

  it('answers 304 until a flag or a list changes', async () => {
    const developer = await flags.member();
    const changes: (() => Promise<unknown>)[] = [
      async () => flags.app.as(developer).put(flags.path('feature_flags/off')).send({ active: true }).expect(200),
      async () => {
        const path = flags.path(`feature_flags_user_lists/${listIid}`);
        await flags.app.as(developer).put(path).send({ user_xids: 'user3' }).expect(200);
      },
      async () => flags.app.as(developer).delete(flags.path('feature_flags/off')).expect(200),
    ];
    for (const change of changes) {
      const known = (await fetchClientFeatures()).get('etag')!;
      const again = () =>
        anonymous().get(unleashPath('/client/features')).set(clientHeaders()).set('if-none-match', known);
      const same = await again();
      expect([same.status, same.text]).toEqual([304, '']);
      const elsewhere = await anonymous()
        .get(unleashPath('/client/features'))
        .set(clientHeaders('staging'))
        .set('if-none-match', known);
      expect(elsewhere.status).toBe(200);
      await change();
      expect((await again()).status).toBe(200);
    }
    expect((await fetchClientFeatures()).body.features).toEqual([
      forTesters([{ name: 'userWithId', parameters: { userIds: 'user3' } }]),
    ]);
  });

  registerParameterEncodingTests({
    app: () => flags.app,
    to: () => ({
      viewer: flags.service.seed.anonymous(),
      method: 'POST',
      path: unleashPath('/client/metrics'),
      params: { instance_id: token, app_name: 'x', bucket: { toggles: { a: { yes: 1 } } } },
    }),
    seen: () => true,
    expected: true,
  });
});
