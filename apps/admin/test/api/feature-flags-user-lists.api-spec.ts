import {
  registerForeignParentTests,
  registerListPagingTests,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
  requestOf,
  registerVisibilityTests,
} from '@rookery/testing';
import { FlagsOfAProject } from '../support/flags';

let flags: FlagsOfAProject;
beforeAll(async () => void (flags = await FlagsOfAProject.start()));
afterAll(() => flags.service.close());

interface UserListAnswer {
  readonly id: number;
  readonly iid: number;
  readonly [name: string]: unknown;
}

let counter = 0;
const uniqueName = () => `list ${(counter += 1)}`;
const createUserList = (params: object = {}, project = flags.project) =>
  flags.post<UserListAnswer>(
    'feature_flags_user_lists',
    { name: uniqueName(), user_xids: 'a,b', ...params },
    201,
    project,
  );
const userListsPath = () => flags.path('feature_flags_user_lists');

describe('POST …/feature_flags_user_lists', () => {
  it('creates a list, numbered within its project', async () => {
    const before = Date.now();
    const list = await createUserList({ name: 'Testers', user_xids: 'user1,user2' });
    const path = `/${flags.fullPath}/-/feature_flags_user_lists/${list.iid}`;
    expect(list).toEqual({
      id: expect.any(Number),
      iid: 1,
      project_id: flags.project.id,
      name: 'Testers',
      user_xids: 'user1,user2',
      created_at: expect.any(String),
      updated_at: list['created_at'],
      path,
      edit_path: `${path}/edit`,
    });
    const madeAt = Date.parse(String(list['created_at']));
    expect(madeAt).toBeGreaterThanOrEqual(before);
    expect(madeAt).toBeLessThanOrEqual(Date.now());
    expect((await createUserList()).iid).toBe(2);
    expect((await createUserList({}, await flags.anotherProject())).iid).toBe(1);
  });

  it('accepts the URL-encoded path of the project', async () => {
    const path = encodeURIComponent(flags.fullPath.toUpperCase());
    await flags.app
      .as(await flags.member())
      .post(`/api/v4/projects/${path}/feature_flags_user_lists`)
      .send({ name: uniqueName(), user_xids: '' })
      .expect(201);
  });

  const xids = 'User xids user_xids must be a string of unique comma separated values each 256 characters or less';
  it.each([
    [{ name: undefined }, 'name is missing'],
    [{ user_xids: undefined }, 'user_xids is missing'],
    [{ name: null, user_xids: null }, 'name is missing, user_xids is missing'],
    [{ name: '' }, ["Name can't be blank"]],
    [{ name: ' ' }, ["Name can't be blank"]],
    [{ name: 'x'.repeat(256) }, ['Name is too long (maximum is 255 characters)']],
    [{ user_xids: 'a,,b' }, [xids]],
    [{ user_xids: 'a, b' }, [xids]],
    [{ user_xids: 'a,a' }, [xids]],
    [{ name: '', user_xids: ' ' }, ["Name can't be blank", xids]],
    [{ user_xids: ['a'] }, 'user_xids is invalid'],
    [{ name: 'a\u0000' }, 'name is invalid'],
  ])('refuses %j', async (params, message) => {
    const response = await flags.app
      .as(await flags.member())
      .post(userListsPath())
      .send({ name: uniqueName(), user_xids: 'a', ...params });
    expect([response.status, response.body]).toEqual([400, { message }]);
  });

  it('refuses a taken name, also in concurrent requests, and leaves no gap in the numbers', async () => {
    const project = await flags.anotherProject();
    const developer = await flags.member();
    const send = () =>
      flags.app
        .as(developer)
        .post(flags.path('feature_flags_user_lists', project))
        .send({ name: 'one', user_xids: '' });
    const answers = await Promise.all([send(), send(), send()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
    expect(answers.find(({ status }) => status === 400)?.body).toEqual({ message: ['Name has already been taken'] });
    expect((await createUserList({}, project)).iid).toBe(2);
  });

  it('bounds the total size of the lists of a project, and so of a page of them', async () => {
    const project = await flags.anotherProject();
    const { id } = await createUserList({}, project);
    // With its quotes, this is four bytes below the limit.
    await flags.service.database.query(
      `update feature_flags_user_lists set user_xids = repeat('x', 16 * 1024 * 1024 - 6) where id = $1`,
      [id],
    );
    const path = flags.path('feature_flags_user_lists', project);
    const developer = await flags.member();
    const message = ['User xids of all lists of a project are too long (maximum is 16777216 bytes)'];
    const send = (user_xids: string) => flags.app.as(developer).post(path).send({ name: uniqueName(), user_xids });
    const refused = await send('abc');
    expect([refused.status, refused.body]).toEqual([400, { message }]);
    const { iid } = (await send('ab').expect(201)).body as UserListAnswer;
    const changed = await flags.app.as(developer).put(`${path}/${iid}`).send({ user_xids: 'abc' });
    expect([changed.status, changed.body]).toEqual([400, { message }]);
  });

  registerParameterEncodingTests({
    app: () => flags.app,
    to: async () => ({
      viewer: await flags.member(),
      method: 'POST',
      path: userListsPath(),
      params: { name: uniqueName(), user_xids: 'a,b' },
    }),
    seen: (list) => list['user_xids'],
    expected: 'a,b',
  });

  registerRefusalOrderTests(
    () => flags.app,
    async () => ({
      method: 'POST',
      path: userListsPath(),
      good: { name: uniqueName(), user_xids: '' },
      bad: { name: 'x' },
      anonymous: flags.service.seed.anonymous(),
      outsider: flags.service.seed.viewer(await flags.service.seed.user()),
      reader: await flags.member('reporter'),
      allowed: await flags.member(),
      checksParametersLast: true,
    }),
  );

  it('writes an event for each change, in the same transaction', async () => {
    const { id, iid } = await createUserList();
    const developer = await flags.member();
    await flags.app.as(developer).put(`${userListsPath()}/${iid}`).send({ user_xids: 'c' }).expect(200);
    await flags.app.as(developer).put(`${userListsPath()}/${iid}`).send({ user_xids: 'c' }).expect(200);
    await flags.app.as(developer).delete(`${userListsPath()}/${iid}`).expect(204);
    const rows = await flags.service.database.query<{ type: string }>(
      `select type from outbox where aggregate_id = $1 and aggregate_type = 'feature_flag_user_list' order by id`,
      [id],
    );
    expect(rows.map((row) => row.type.split('.').at(-2))).toEqual(['created', 'updated', 'deleted']);
  });
});

describe('PUT …/feature_flags_user_lists/:iid', () => {
  it('changes the sent fields', async () => {
    const list = await createUserList();
    const put = async (body: object) =>
      (
        await flags.app
          .as(await flags.member())
          .put(`${userListsPath()}/${list.iid}`)
          .send(body)
          .expect(200)
      ).body as UserListAnswer;
    const renamed = await put({ name: 'renamed' });
    expect(renamed).toEqual({ ...list, name: 'renamed', updated_at: renamed['updated_at'] });
    expect(await put({})).toEqual(renamed);
    expect(await put({ user_xids: '' })).toMatchObject({ name: 'renamed', user_xids: '' });
    expect(await put({ user_x_ids: 'c' })).toMatchObject({ user_xids: 'c' });
  });

  it('refuses what creation refuses', async () => {
    const [first, second] = [await createUserList(), await createUserList()];
    const put = async (body: object) =>
      flags.app
        .as(await flags.member())
        .put(`${userListsPath()}/${second.iid}`)
        .send(body);
    expect([(await put({ name: first['name'] })).status, (await put({ name: first['name'] })).body]).toEqual([
      400,
      { message: ['Name has already been taken'] },
    ]);
    expect((await put({ name: '' })).body).toEqual({ message: ["Name can't be blank"] });
    expect((await put({ user_xids: 'a,,b' })).status).toBe(400);
  });
});

describe('DELETE …/feature_flags_user_lists/:iid', () => {
  it('deletes the list; the second time answers 404', async () => {
    const { iid } = await createUserList();
    const developer = await flags.member();
    const first = await flags.app.as(developer).delete(`${userListsPath()}/${iid}`);
    expect([first.status, first.text]).toEqual([204, '']);
    await flags.app.as(developer).delete(`${userListsPath()}/${iid}`).expect(404);
  });

  it('refuses while a strategy uses the list', async () => {
    const { id, iid } = await createUserList();
    const strategies = [{ name: 'gitlabUserList', parameters: {}, user_list_id: id, scopes: [] }];
    const flag = await flags.post('feature_flags', { name: `flag-of-${iid}`, strategies });
    const developer = await flags.member();
    const refused = await flags.app.as(developer).delete(`${userListsPath()}/${iid}`);
    expect([refused.status, refused.body]).toEqual([409, { message: ['User list is associated with a strategy'] }]);
    const strategy = (flag['strategies'] as { id: number }[])[0]!;
    await flags.app
      .as(developer)
      .put(flags.path(`feature_flags/${String(flag['name'])}`))
      .send({ strategies: [{ id: strategy.id, name: 'default', parameters: {} }] })
      .expect(200);
    await flags.app.as(developer).delete(`${userListsPath()}/${iid}`).expect(204);
  });

  it('either deletes a list or adds it to a strategy, never both', async () => {
    const developer = await flags.member();
    for (let round = 0; round < 10; round += 1) {
      const { id, iid } = await createUserList();
      const strategies = [{ name: 'gitlabUserList', user_list_id: id }];
      const [removed, made] = await Promise.all([
        flags.app.as(developer).delete(`${userListsPath()}/${iid}`),
        flags.app
          .as(developer)
          .post(flags.path('feature_flags'))
          .send({ name: `round-${round}`, strategies }),
      ]);
      expect([
        [204, 404],
        [409, 201],
      ]).toContainEqual([removed.status, made.status]);
    }
  });
});

describe.each(['GET', 'PUT', 'DELETE'] as const)('%s …/feature_flags_user_lists/:iid', (method) => {
  it.each(['999999', '0', 'abc', '12345678901234567890'])('answers 404 for the list %s', async (iid) => {
    const response = await requestOf(flags.app.as(await flags.member()), method, `${userListsPath()}/${iid}`);
    expect([response.status, response.body]).toEqual([404, { message: '404 Not found' }]);
  });

  it('requires developers', async () => {
    const { iid } = await createUserList();
    const reporter = await flags.member('reporter');
    const response = await requestOf(flags.app.as(reporter), method, `${userListsPath()}/${iid}`);
    expect([response.status, response.body]).toEqual([403, { message: '403 Forbidden' }]);
  });
});

describe('a list of another project', () => {
  registerForeignParentTests({
    app: () => flags.app,
    viewer: () => developer,
    requests: async () => {
      const other = await flags.anotherProject();
      for (let index = 0; index < 40; index += 1) await createUserList({}, other);
      const iid = 40;
      return (['GET', 'PUT', 'DELETE'] as const).map((method) => ({ method, path: `${userListsPath()}/${iid}` }));
    },
  });
  let developer: Awaited<ReturnType<FlagsOfAProject['member']>>;
  beforeAll(async () => void (developer = await flags.member()));
});

describe('GET …/feature_flags_user_lists', () => {
  const rows = 5;
  let project: FlagsOfAProject['project'];
  let developer: Awaited<ReturnType<FlagsOfAProject['member']>>;
  const path = () => flags.path('feature_flags_user_lists', project);
  const names = async (query: object) => {
    const { body }: { body: UserListAnswer[] } = await flags.app.as(developer).get(path()).query(query).expect(200);
    return body.map((list) => list['name']);
  };

  beforeAll(async () => {
    project = await flags.anotherProject();
    developer = await flags.member();
    for (const name of ['test_list', 'Other', 'list of tests', '100%', 'tea']) await createUserList({ name }, project);
  });

  it('lists the oldest first', async () => {
    expect(await names({})).toEqual(['test_list', 'Other', 'list of tests', '100%', 'tea']);
  });

  it.each([
    ['TEST', ['test_list', 'list of tests']],
    ['test list', ['test_list', 'list of tests']],
    ['list  test', ['test_list', 'list of tests']],
    ['e', ['test_list', 'Other', 'list of tests', 'tea']],
    ['%', ['100%']],
    ['test tea', []],
    ['', ['test_list', 'Other', 'list of tests', '100%', 'tea']],
    [' ', ['test_list', 'Other', 'list of tests', '100%', 'tea']],
  ])('finds by %j', async (search, found) => {
    expect(await names({ search })).toEqual(found);
  });

  registerListPagingTests(() => ({ app: flags.app, viewer: developer, path: path(), rows, refusesUnder: 'message' }));

  registerVisibilityTests({
    app: () => flags.app,
    from: (level, standing) => flags.from(level, standing, 'feature_flags_user_lists'),
    seen: (standing) => (['developer', 'maintainer', 'owner', 'admin'].includes(standing) ? 200 : 403),
    anonymous: 401,
  });
});
