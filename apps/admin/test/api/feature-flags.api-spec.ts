import {
  registerForeignParentTests,
  registerListPagingTests,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
  requestOf,
  registerVisibilityTests,
} from '@rookery/testing';
import type { Viewer } from '@rookery/kernel';
import { FlagsOfAProject } from '../support/flags';

let flags: FlagsOfAProject;
let developer: Viewer;
beforeAll(async () => {
  flags = await FlagsOfAProject.start();
  developer = await flags.member();
});
afterAll(() => flags.service.close());

interface Strategy {
  readonly id: number;
  readonly scopes: readonly { readonly id: number; readonly environment_scope: string }[];
  readonly [name: string]: unknown;
}
interface Flag {
  readonly name: string;
  readonly strategies: readonly Strategy[];
  readonly [name: string]: unknown;
}

let counter = 0;
const uniqueName = () => `flag-${(counter += 1)}`;
const flagsPath = () => flags.path('feature_flags');
const createFlag = (params: object = {}, project = flags.project) =>
  flags.post<Flag>('feature_flags', { name: uniqueName(), ...params }, 201, project);
const createUserList = (project = flags.project) =>
  flags.post<{ id: number; iid: number; name: string }>(
    'feature_flags_user_lists',
    { name: uniqueName(), user_xids: 'a,b' },
    201,
    project,
  );
const putFlag = (flag: Flag, body: object) => flags.app.as(developer).put(`${flagsPath()}/${flag.name}`).send(body);
const rollout = { groupId: 'default', rollout: '50', stickiness: 'default' };

describe('POST …/feature_flags', () => {
  it('creates a flag that is on, without strategies', async () => {
    const flag = await createFlag({ name: 'new_look' });
    expect(flag).toEqual({
      name: 'new_look',
      description: null,
      active: true,
      version: 'new_version_flag',
      created_at: expect.any(String),
      updated_at: flag['created_at'],
      scopes: [],
      strategies: [],
    });
  });

  it('creates strategies with their environments and lists', async () => {
    const list = await createUserList();
    const flag = await createFlag({
      version: 'new_version_flag',
      description: 'Eggs',
      active: false,
      strategies: [
        { name: 'default', scopes: [{ environment_scope: '*' }] },
        { name: 'gitlabUserList', user_list_id: list.id, scopes: [{ environment_scope: 'production' }] },
        {
          name: 'flexibleRollout',
          parameters: rollout,
          scopes: [{ environment_scope: 'review/*' }, { environment_scope: 'staging' }],
        },
      ],
    });
    const scope = (environment_scope: string) => ({ id: expect.any(Number), environment_scope });
    const id = expect.any(Number);
    expect(flag).toMatchObject({ description: 'Eggs', active: false });
    expect(flag.strategies).toEqual([
      { id, name: 'default', parameters: {}, scopes: [scope('*')], user_list: null },
      {
        id,
        name: 'gitlabUserList',
        parameters: {},
        scopes: [scope('production')],
        user_list: { id: list.id, iid: list.iid, name: list.name, user_xids: 'a,b' },
      },
      {
        id,
        name: 'flexibleRollout',
        parameters: rollout,
        scopes: [scope('review/*'), scope('staging')],
        user_list: null,
      },
    ]);
    const shown = await flags.app.as(developer).get(`${flagsPath()}/${flag.name}`).expect(200);
    expect(shown.body).toEqual(flag);
  });

  it.each([
    [{ name: undefined }, { error: 'name is missing' }],
    [{ strategies: [{}] }, { error: 'strategies[0][name] is missing' }],
    [
      { strategies: [{ name: 'default', scopes: [{}] }] },
      { error: 'strategies[0][scopes][0][environment_scope] is missing' },
    ],
    [{ version: 'legacy_flag' }, { message: 'Version is invalid' }],
    [{ active: 'maybe' }, { error: 'active is invalid' }],
    [{ name: '' }, { message: ["Name can't be blank"] }],
    [{ name: 'a'.repeat(64) }, { message: ['Name is too long (maximum is 63 characters)'] }],
    [
      { name: 'Flag' },
      { message: ["Name can contain only lowercase letters, digits, '_' and '-'. Must start with a letter"] },
    ],
    [{ name: '1flag' }, { message: [expect.stringContaining('Must start with a letter')] }],
    [{ description: 'x'.repeat(256) }, { message: ['Description is too long (maximum is 255 characters)'] }],
    [{ strategies: [{ name: 'none' }] }, { message: ['strategy name is invalid'] }],
    [{ strategies: [{ name: 'userWithId' }] }, { message: ['parameters are invalid'] }],
    [{ strategies: [{ name: 'default', parameters: [1] }] }, { message: ['parameters are invalid'] }],
    [{ strategies: [{ name: 'default', parameters: '{' }] }, { message: ['parameters are invalid'] }],
    [{ strategies: [{ name: 'gitlabUserList' }] }, { message: ["user list can't be blank"] }],
    [
      { strategies: [{ name: 'default', scopes: [{ environment_scope: 'a,b' }] }] },
      {
        message: [
          "environment scope can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', '*' and spaces",
        ],
      },
    ],
    [
      { strategies: [{ name: 'default', scopes: [{ environment_scope: 'a' }, { environment_scope: 'a' }] }] },
      { message: ['environment scope has already been taken'] },
    ],
    [
      { strategies: Array.from({ length: 51 }, () => ({ name: 'default' })) },
      { message: ['Maximum number of strategies (50) exceeded'] },
    ],
  ])('refuses %j', async (params, body) => {
    const response = await flags.app
      .as(developer)
      .post(flagsPath())
      .send({ name: uniqueName(), ...params });
    expect([response.status, response.body]).toEqual([400, body]);
  });

  it('refuses a list of another project, and creates nothing', async () => {
    const list = await createUserList(await flags.anotherProject());
    const name = uniqueName();
    for (const user_list_id of [list.id, 999_999]) {
      const response = await flags.app
        .as(developer)
        .post(flagsPath())
        .send({ name, strategies: [{ name: 'gitlabUserList', user_list_id }] });
      expect([response.status, response.body]).toEqual([404, { message: 'Not Found' }]);
    }
    await flags.app.as(developer).get(`${flagsPath()}/${name}`).expect(404);
  });

  it('refuses a taken name, also in concurrent requests', async () => {
    const name = uniqueName();
    const send = () => flags.app.as(developer).post(flagsPath()).send({ name });
    const answers = await Promise.all([send(), send(), send()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
    expect(answers.find(({ status }) => status === 400)?.body).toEqual({ message: ['Name has already been taken'] });
  });

  it('creates at most 200 in a project, also in concurrent requests', async () => {
    const project = await flags.anotherProject();
    await flags.service.database.query(
      `insert into feature_flags (project_id, name) select $1, 'flag' || n from generate_series(1, 199) n`,
      [project.id],
    );
    const send = () => flags.app.as(developer).post(flags.path('feature_flags', project)).send({ name: uniqueName() });
    const answers = await Promise.all([send(), send(), send()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
    expect(answers.find(({ status }) => status === 400)?.body).toEqual({
      message: ['Maximum number of project feature flags (200) exceeded'],
    });
  });

  it('accepts strategies of a form, with parameters as JSON', async () => {
    const form = new URLSearchParams([
      ['name', uniqueName()],
      ['strategies[][name]', 'userWithId'],
      ['strategies[][parameters]', '{"userIds":"a,b"}'],
      ['strategies[][scopes][][environment_scope]', 'production'],
      ['strategies[][name]', 'default'],
    ]);
    const { body }: { body: Flag } = await flags.app
      .as(developer)
      .post(flagsPath())
      .type('form')
      .send(form.toString())
      .expect(201);
    expect(body.strategies).toMatchObject([
      { name: 'userWithId', parameters: { userIds: 'a,b' }, scopes: [{ environment_scope: 'production' }] },
      { name: 'default', parameters: {}, scopes: [] },
    ]);
  });

  registerParameterEncodingTests({
    app: () => flags.app,
    to: () => ({
      viewer: developer,
      method: 'POST',
      path: flagsPath(),
      params: {
        name: uniqueName(),
        active: false,
        strategies: [{ name: 'gradualRolloutUserId', parameters: { groupId: 'default', percentage: '30' } }],
      },
    }),
    seen: ({ active, strategies }) => [active, (strategies as Strategy[])[0]!['parameters']],
    expected: [false, { groupId: 'default', percentage: '30' }],
  });

  registerRefusalOrderTests(
    () => flags.app,
    async () => ({
      method: 'POST',
      path: flagsPath(),
      good: { name: uniqueName() },
      bad: { name: uniqueName(), active: 'maybe' },
      anonymous: flags.service.seed.anonymous(),
      outsider: flags.service.seed.viewer(await flags.service.seed.user()),
      reader: await flags.member('reporter'),
      allowed: developer,
    }),
  );

  it('writes an event for each change, in the same transaction', async () => {
    const flag = await createFlag();
    await putFlag(flag, { active: false }).expect(200);
    await putFlag(flag, {}).expect(200);
    await putFlag(flag, { strategies: [{ name: 'default' }] }).expect(200);
    await flags.app.as(developer).delete(`${flagsPath()}/${flag.name}`).expect(200);
    const rows = await flags.service.database.query<{ type: string }>(
      `select type from outbox where aggregate_type = 'feature_flag'
         and aggregate_id = (select max(aggregate_id) from outbox where aggregate_type = 'feature_flag') order by id`,
    );
    expect(rows.map((row) => row.type.split('.').at(-2))).toEqual(['created', 'updated', 'updated', 'deleted']);
  });
});

describe('PUT …/feature_flags/:feature_flag_name', () => {
  it('changes only the sent fields', async () => {
    const flag = await createFlag({ description: 'old', strategies: [{ name: 'default' }] });
    expect((await putFlag(flag, {}).expect(200)).body).toEqual(flag);
    const { body: changed }: { body: Flag } = await putFlag(flag, { active: false }).expect(200);
    expect(changed).toEqual({ ...flag, active: false, updated_at: changed['updated_at'] });
    const { body: renamed }: { body: Flag } = await putFlag(flag, { name: `${flag.name}-b`, description: null }).expect(
      200,
    );
    expect(renamed).toMatchObject({ name: `${flag.name}-b`, description: null, active: false });
    await putFlag(flag, { active: true }).expect(404);
  });

  it('changes, adds and removes strategies and scopes by their ids', async () => {
    const flag = await createFlag({
      strategies: [
        { name: 'default', scopes: [{ environment_scope: 'a' }, { environment_scope: 'b' }] },
        { name: 'userWithId', parameters: { userIds: 'x' } },
      ],
    });
    const [first, second] = flag.strategies as [Strategy, Strategy];
    const [a, b] = first.scopes as [Strategy['scopes'][number], Strategy['scopes'][number]];
    const { body }: { body: Flag } = await putFlag(flag, {
      strategies: [
        {
          id: first.id,
          scopes: [
            { id: a.id, environment_scope: 'b' },
            { id: b.id, environment_scope: 'a' },
          ],
        },
        { id: second.id, _destroy: true },
        { name: 'flexibleRollout', parameters: rollout, scopes: [{ environment_scope: '*' }] },
      ],
    }).expect(200);
    expect(body.strategies).toMatchObject([
      {
        id: first.id,
        scopes: [
          { id: a.id, environment_scope: 'b' },
          { id: b.id, environment_scope: 'a' },
        ],
      },
      { name: 'flexibleRollout', parameters: rollout, scopes: [{ environment_scope: '*' }] },
    ]);
    const scopes = [{ id: a.id, _destroy: true }, { environment_scope: 'c' }];
    const { body: again }: { body: Flag } = await putFlag(flag, { strategies: [{ id: first.id, scopes }] }).expect(200);
    expect(again.strategies[0]!.scopes.map((scope) => scope.environment_scope)).toEqual(['a', 'c']);
    expect(again.strategies).toHaveLength(2);
  });

  it('gives a strategy its list, and removes it when the strategy gets another name', async () => {
    const list = await createUserList();
    const flag = await createFlag({ strategies: [{ name: 'default' }] });
    const { id } = flag.strategies[0]!;
    const change = async (strategy: object, status = 200) =>
      (await putFlag(flag, { strategies: [{ id, ...strategy }] }).expect(status)).body as Flag;
    expect((await change({ name: 'gitlabUserList', user_list_id: list.id })).strategies).toMatchObject([
      { id, user_list: { id: list.id } },
    ]);
    expect((await change({ scopes: [{ environment_scope: '*' }] })).strategies).toMatchObject([
      { user_list: { id: list.id } },
    ]);
    expect(await change({ user_list_id: null }, 400)).toEqual({ message: ["user list can't be blank"] });
    expect((await change({ name: 'default' })).strategies).toMatchObject([{ name: 'default', user_list: null }]);
  });

  it('refuses the whole update for one invalid part, and changes nothing', async () => {
    const flag = await createFlag({ strategies: [{ name: 'default', scopes: [{ environment_scope: '*' }] }] });
    const foreign = (await createFlag({ strategies: [{ name: 'default' }] })).strategies[0]!;
    const own = flag.strategies[0]!;
    const refusals: [object, number, object][] = [
      [{ id: foreign.id, _destroy: true }, 404, { message: '404 Not found' }],
      [{ id: foreign.id, name: 'default' }, 404, { message: '404 Not found' }],
      [{ id: own.id, scopes: [{ id: 999_999, environment_scope: 'a' }] }, 404, { message: '404 Not found' }],
      [{ id: own.id, parameters: { a: 'b' } }, 400, { message: ['parameters are invalid'] }],
      [{ name: 'none' }, 400, { message: ['strategy name is invalid'] }],
      [{}, 400, { message: ['strategy name is invalid'] }],
    ];
    for (const [strategy, status, body] of refusals) {
      const response = await putFlag(flag, { active: false, strategies: [strategy] });
      expect([response.status, response.body]).toEqual([status, body]);
    }
    expect((await flags.app.as(developer).get(`${flagsPath()}/${flag.name}`).expect(200)).body).toEqual(flag);
  });

  it('refuses a taken name', async () => {
    const [first, second] = [await createFlag(), await createFlag()];
    const response = await putFlag(second, { name: first.name });
    expect([response.status, response.body]).toEqual([400, { message: ['Name has already been taken'] }]);
  });

  it('limits strategies and scopes of a flag', async () => {
    const strategies = Array.from({ length: 30 }, () => ({ name: 'default' }));
    const flag = await createFlag({ strategies });
    expect((await putFlag(flag, { strategies })).body).toEqual({
      message: ['Maximum number of strategies (50) exceeded'],
    });
  });

  it('limits the users of all strategies of a project, in lists and by parameters', async () => {
    const project = await flags.anotherProject();
    const ofStrategies = [
      400,
      { message: ['User xids of all strategies of a project are too long (maximum is 16777216 bytes)'] },
    ];
    const list = await createUserList(project);
    const listed = await createFlag({ strategies: [{ name: 'gitlabUserList', user_list_id: list.id }] }, project);
    const named = { name: 'userWithId', parameters: { userIds: 'a,b' } };
    const byName = await createFlag({ strategies: [named] }, project);
    const { database } = flags.service;
    await database.query(`update feature_flags_user_lists set user_xids = repeat('x', 8 * 1024 * 1024) where id = $1`, [
      list.id,
    ]);
    // With the quotes of three texts and the four characters of the last flag, this reaches the limit exactly.
    await database.query(
      `update feature_flag_strategies set parameters = jsonb_build_object('userIds', repeat('x', 8 * 1024 * 1024 - 10))
       where id = $1`,
      [byName.strategies[0]!.id],
    );
    const send = async (userIds: string) => {
      const strategies = [{ name: 'userWithId', parameters: { userIds } }];
      const path = flags.path('feature_flags', project);
      const { status, body } = await flags.app.as(developer).post(path).send({ name: uniqueName(), strategies });
      return status === 201 ? [status] : [status, body];
    };
    expect(await send('a,b,c')).toEqual(ofStrategies);
    expect(await send('"')).toEqual([201]);
    const more = { strategies: [{ name: 'gitlabUserList', user_list_id: list.id }] };
    const path = flags.path(`feature_flags/${listed.name}`, project);
    const twice = await flags.app.as(developer).put(path).send(more);
    expect([twice.status, twice.body]).toEqual(ofStrategies);
  });

  it('limits strategies and scopes of a project, for new and existing flags', async () => {
    const project = await flags.anotherProject();
    const full = await createFlag({ strategies: [{ name: 'default' }] }, project);
    const { id } = full.strategies[0]!;
    const { database } = flags.service;
    await database.query(
      `insert into feature_flag_strategies (feature_flag_id, name)
       select feature_flag_id, 'default' from feature_flag_strategies, generate_series(1, 998) where id = $1`,
      [id],
    );
    await database.query(
      `insert into feature_flag_scopes (strategy_id, environment_scope) select $1, 'e' || n from generate_series(1, 9999) n`,
      [id],
    );
    const path = flags.path('feature_flags', project);
    const strategy = (...scopes: string[]) => ({
      name: 'default',
      scopes: scopes.map((environment_scope) => ({ environment_scope })),
    });
    const make = async (...strategies: object[]) =>
      (await flags.app.as(developer).post(path).send({ name: uniqueName(), strategies })).body as Flag;
    const change = async (flag: Flag, ...strategies: object[]) =>
      (await flags.app.as(developer).put(`${path}/${flag.name}`).send({ strategies })).body as Flag;
    const tooMany = (what: string) => ({ message: [`Maximum number of project feature flag ${what} exceeded`] });
    expect(await make(strategy(), strategy())).toEqual(tooMany('strategies (1000)'));
    expect(await make(strategy('a', 'b'))).toEqual(tooMany('scopes (10000)'));
    const last = await make(strategy('a'));
    const { strategies } = last;
    expect(strategies).toHaveLength(1);
    expect(await change(last, strategy())).toEqual(tooMany('strategies (1000)'));
    expect(await change(last, { id: strategies[0]!.id, scopes: [{ environment_scope: 'b' }] })).toEqual(
      tooMany('scopes (10000)'),
    );
    expect(
      await change(last, { id: strategies[0]!.id, scopes: [{ ...strategies[0]!.scopes[0], _destroy: true }] }),
    ).toMatchObject({ strategies: [{ scopes: [] }] });
  });
});

describe('DELETE …/feature_flags/:feature_flag_name', () => {
  it('deletes the flag and returns it; the second time answers 404', async () => {
    const flag = await createFlag({ strategies: [{ name: 'default', scopes: [{ environment_scope: '*' }] }] });
    const path = `${flagsPath()}/${flag.name}`;
    expect((await flags.app.as(developer).delete(path).expect(200)).body).toEqual(flag);
    await flags.app.as(developer).delete(path).expect(404);
  });
});

describe.each(['GET', 'PUT', 'DELETE'] as const)('%s …/feature_flags/:feature_flag_name', (method) => {
  it.each(['missing', 'A%2FB', '7'])('answers 404 for the flag %s', async (name) => {
    const response = await requestOf(flags.app.as(developer), method, `${flagsPath()}/${name}`).send({ active: true });
    expect([response.status, response.body]).toEqual([404, { message: '404 Not found' }]);
  });

  it('requires developers', async () => {
    const { name } = await createFlag();
    const reporter = await flags.member('reporter');
    const response = await requestOf(flags.app.as(reporter), method, `${flagsPath()}/${name}`);
    expect([response.status, response.body]).toEqual([403, { message: '403 Forbidden' }]);
  });
});

describe('a flag of another project', () => {
  registerForeignParentTests({
    app: () => flags.app,
    viewer: () => developer,
    requests: async () => {
      const { name } = await createFlag({}, await flags.anotherProject());
      const body = { active: false };
      return (['GET', 'PUT', 'DELETE'] as const).map((method) => ({ method, path: `${flagsPath()}/${name}`, body }));
    },
    untouched: () => flags.service.database.query('select count(*) from feature_flags where not active'),
  });
});

describe('GET …/feature_flags', () => {
  const rows = 6;
  let project: FlagsOfAProject['project'];
  const path = () => flags.path('feature_flags', project);
  beforeAll(async () => {
    project = await flags.anotherProject();
    for (const name of ['c', 'a', 'e', 'b', 'd', 'f']) {
      await createFlag({ name, active: name < 'd', strategies: [{ name: 'default' }] }, project);
    }
  });

  it('lists by name, with strategies', async () => {
    const { body }: { body: Flag[] } = await flags.app.as(developer).get(path()).expect(200);
    expect(body.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    expect(body.every(({ strategies }) => strategies.length === 1)).toBe(true);
  });

  it.each([
    ['enabled', ['a', 'b', 'c']],
    ['disabled', ['d', 'e', 'f']],
  ])('filters by scope %s', async (scope, names) => {
    const { body }: { body: Flag[] } = await flags.app.as(developer).get(path()).query({ scope }).expect(200);
    expect(body.map(({ name }) => name)).toEqual(names);
  });

  it('refuses another scope', async () => {
    const { status, body } = await flags.app.as(developer).get(path()).query({ scope: 'all' });
    expect([status, body]).toEqual([400, { error: 'scope does not have a valid value' }]);
  });

  registerListPagingTests(() => ({
    app: flags.app,
    viewer: developer,
    path: path(),
    rows,
    key: (flag) => flag['name'],
  }));

  registerVisibilityTests({
    app: () => flags.app,
    from: (level, standing) => flags.from(level, standing, 'feature_flags'),
    seen: (standing) => (['developer', 'maintainer', 'owner', 'admin'].includes(standing) ? 200 : 403),
    anonymous: 401,
  });
});
