import type { Viewer } from '@rookery/kernel';
import { registerParameterEncodingTests, requestOf } from '@rookery/testing';
import type { SeededService, SeededUser, TestApp } from '@rookery/testing';
import { startAdmin } from '../support/app';

const NAME = 'packages_protected_packages_delete';
const DEFINITION = {
  name: NAME,
  introduced_by_url: null,
  rollout_issue_url: null,
  milestone: null,
  log_state_changes: null,
  type: 'beta',
  group: null,
  default_enabled: false,
};

let service: SeededService;
let app: TestApp;
let root: Viewer;
let user: Viewer;
let wren: SeededUser;
let robin: SeededUser;
const ids = { group: 0, namespace: 0, project: 0 };

beforeAll(async () => {
  service = await startAdmin();
  ({ app } = service);
  const { seed } = service;
  root = seed.viewer(await seed.user({ admin: true }));
  wren = await seed.user({ username: 'wren' });
  robin = await seed.user({ username: 'robin' });
  user = seed.viewer(wren);
  const group = await seed.group({ path: 'acme', visibility: 'private' });
  Object.assign(ids, { group: group.id });
  ids.project = (await seed.project({ path: 'eggs', namespace_id: group.id, visibility: 'private' })).id;
  ids.namespace = wren.namespace_id;
  root = { ...root, directory: seed.anonymous().directory };
});
afterAll(() => service.close());
beforeEach(() => service.database.query('delete from instance_features'));

const postFeature = (params: Record<string, unknown>, name = NAME) =>
  app.as(root).post(`/api/v4/features/${name}`).send(params);
const off = { key: 'boolean', value: false };

async function setAndReadGates(params: Record<string, unknown>): Promise<unknown> {
  const { body }: { body: Record<string, unknown> } = await postFeature(params).expect(201);
  return [body['state'], body['gates']];
}

async function setAndReadRefusal(params: Record<string, unknown>, name = NAME): Promise<unknown> {
  const { status, body } = await postFeature(params, name);
  return [status, body];
}

describe('permissions', () => {
  it.each([
    ['GET', '/api/v4/features'],
    ['GET', '/api/v4/features/definitions'],
    ['POST', `/api/v4/features/${NAME}`],
    ['DELETE', `/api/v4/features/${NAME}`],
  ] as const)('%s %s is for administrators; the permission is checked before parameters', async (method, path) => {
    const anonymous = await requestOf(app.as(service.seed.anonymous()), method, path);
    expect([anonymous.status, anonymous.body]).toEqual([401, { message: '401 Unauthorized' }]);
    const ordinary = await requestOf(app.as(user), method, path);
    expect([ordinary.status, ordinary.body]).toEqual([403, { message: '403 Forbidden' }]);
    const scopeless = await requestOf(app.as({ ...root, scopes: ['read_user'] }), method, path);
    expect([scopeless.status, (scopeless.body as { error: string }).error]).toEqual([403, 'insufficient_scope']);
  });
});

describe('GET /features/definitions', () => {
  it('returns the features that services use', async () => {
    const { body } = await app.as(root).get('/api/v4/features/definitions').expect(200);
    expect(body).toEqual([
      { ...DEFINITION, name: 'epic_highlight_color' },
      DEFINITION,
      { ...DEFINITION, name: 'role_targeted_broadcast_messages' },
    ]);
  });
});

describe('GET /features', () => {
  it('lists only features that were set, by name', async () => {
    expect((await app.as(root).get('/api/v4/features').expect(200)).body).toEqual([]);
    await postFeature({ value: true, force: true }, 'zebra').expect(201);
    await postFeature({ value: false }).expect(201);
    const { body } = await app.as(root).get('/api/v4/features').expect(200);
    expect(body).toEqual([
      { name: NAME, state: 'off', gates: [off], definition: DEFINITION },
      { name: 'zebra', state: 'on', gates: [{ key: 'boolean', value: true }], definition: null },
    ]);
  });
});

describe('POST /features/:name', () => {
  it.each([
    [true, 'on', true],
    ['true', 'on', true],
    [100, 'on', true],
    ['100', 'on', true],
    [false, 'off', false],
    ['false', 'off', false],
    [0, 'off', false],
    ['0', 'off', false],
  ])('%j is %s', async (value, state, boolean) => {
    const { body } = await postFeature({ value }).expect(201);
    expect(body).toEqual({ name: NAME, state, gates: [{ key: 'boolean', value: boolean }], definition: DEFINITION });
  });

  it('accepts a percentage of the time or of the actors', async () => {
    const time = { key: 'percentage_of_time', value: 42 };
    expect(await setAndReadGates({ value: 42 })).toEqual(['conditional', [off, time]]);
    expect(await setAndReadGates({ value: '7', key: 'percentage_of_actors' })).toEqual([
      'conditional',
      [off, time, { key: 'percentage_of_actors', value: 7 }],
    ]);
    expect(await setAndReadGates({ value: 43, key: 'percentage_of_time' })).toEqual([
      'conditional',
      [off, { ...time, value: 43 }, { key: 'percentage_of_actors', value: 7 }],
    ]);
  });

  it('accepts users, groups, namespaces, projects and repositories, and returns them', async () => {
    const { group, namespace, project } = ids;
    const targets = { user: 'wren,Robin', group: 'ACME', namespace: 'wren,acme', repository: 'acme/eggs.git' };
    const actors = [`Group:${group}`, `Namespaces::UserNamespace:${namespace}`, `Project:${project}`]
      .concat([`User:${wren.id}`, `User:${robin.id}`])
      .sort();
    expect(await setAndReadGates({ value: true, ...targets })).toEqual([
      'conditional',
      [off, { key: 'actors', value: actors }],
    ]);
    expect(await setAndReadGates({ value: false, user: 'robin', project: 'Acme/Eggs' })).toEqual([
      'conditional',
      [
        off,
        { key: 'actors', value: actors.filter((one) => ![`Project:${project}`, `User:${robin.id}`].includes(one)) },
      ],
    ]);
    expect(await setAndReadGates({ value: false, user: 'wren', group: 'acme', namespace: ['wren'] })).toEqual([
      'off',
      [off],
    ]);
  });

  it('accepts the group of administrators', async () => {
    expect(await setAndReadGates({ value: true, feature_group: 'administrators' })).toEqual([
      'conditional',
      [off, { key: 'groups', value: ['administrators'] }],
    ]);
    expect(await setAndReadGates({ value: false, feature_group: 'administrators' })).toEqual(['off', [off]]);
  });

  it.each([true, false])('%s for all clears named targets and percentages', async (value) => {
    await postFeature({ value: true, user: 'wren', feature_group: 'administrators' }).expect(201);
    await postFeature({ value: 5 }).expect(201);
    expect(await setAndReadGates({ value })).toEqual([value ? 'on' : 'off', [{ key: 'boolean', value }]]);
  });

  it('stays on for all when it is switched on for a target', async () => {
    await postFeature({ value: true }).expect(201);
    expect(await setAndReadGates({ value: true, user: 'wren' })).toEqual([
      'on',
      [
        { key: 'boolean', value: true },
        { key: 'actors', value: [`User:${wren.id}`] },
      ],
    ]);
  });

  it.each([
    [{}, 'value is missing'],
    [{ value: 'maybe' }, 'value does not have a valid value'],
    [{ value: 101 }, 'value does not have a valid value'],
    [{ value: -1 }, 'value does not have a valid value'],
    [{ value: 1.5 }, 'value does not have a valid value'],
    [{ value: [true] }, 'value does not have a valid value'],
    [{ value: null }, 'value is missing'],
    [{ value: 50, user: 'wren' }, 'value does not have a valid value'],
    [{ value: true, key: 'moon' }, 'key does not have a valid value'],
    [{ value: true, feature_group: 'moon' }, 'feature_group does not have a valid value'],
    [{ value: true, force: 'maybe' }, 'force is invalid'],
    ...['feature_group', 'user', 'group', 'namespace', 'project', 'repository'].map((target): [object, string] => [
      { value: 5, key: 'percentage_of_time', [target]: 'administrators' },
      `key, ${target} are mutually exclusive`,
    ]),
  ])('refuses %j', async (params, error) => {
    expect(await setAndReadRefusal(params as Record<string, unknown>)).toEqual([400, { error }]);
    expect((await app.as(root).get('/api/v4/features').expect(200)).body).toEqual([]);
  });

  it.each([
    [{ user: 'nobody' }, 'nobody'],
    [{ user: 'wren,nobody' }, 'nobody'],
    [{ group: 'wren' }, 'wren'],
    [{ group: 'acme/eggs' }, 'acme/eggs'],
    [{ namespace: 'nowhere' }, 'nowhere'],
    [{ project: 'acme' }, 'acme'],
    [{ project: 'acme/nothing' }, 'acme/nothing'],
    [{ repository: 'nowhere/eggs' }, 'nowhere/eggs'],
  ])('answers an error for the unknown target %j', async (target, name) => {
    const message = `400 Bad request - ${name} is not found!`;
    expect(await setAndReadRefusal({ value: true, ...target })).toEqual([400, { message }]);
    expect((await app.as(root).get('/api/v4/features').expect(200)).body).toEqual([]);
  });

  it.each(['user', 'group', 'namespace', 'project', 'repository', 'feature_group'])(
    'refuses an empty %s instead of applying to all',
    async (target) => {
      const error = `${target} is empty`;
      for (const none of ['', []]) {
        expect(await setAndReadRefusal({ value: true, [target]: none })).toEqual([400, { error }]);
      }
      expect((await app.as(root).get('/api/v4/features').expect(200)).body).toEqual([]);
    },
  );

  it.each(['__proto__', 'constructor', 'moon'])('refuses the unknown feature %s unless forced', async (name) => {
    const message = `400 Bad request - Unknown feature flag: ${name}`;
    expect(await setAndReadRefusal({ value: true }, name)).toEqual([400, { message }]);
    expect((await postFeature({ value: true, force: true }, name).expect(201)).body).toMatchObject({
      name,
      definition: null,
    });
  });

  it.each([
    ['percentage_of_time', 'percentage of time'],
    ['percentage_of_actors', 'percentage of actors'],
  ])('refuses a %s while it is on for all', async (key, words) => {
    await postFeature({ value: true }).expect(201);
    const message = `400 Bad request - Cannot enable ${words} for a fully-enabled flag`;
    expect(await setAndReadRefusal({ value: 5, key })).toEqual([400, { message }]);
  });

  it('refuses the 1001st actor and the 1001st feature', async () => {
    const { database } = service;
    await database.query(
      `insert into instance_features (name, actors) select $1, array_agg('Project:' || n) from generate_series(1001, 2000) n`,
      [NAME],
    );
    expect(await setAndReadRefusal({ value: true, user: 'wren' })).toEqual([
      400,
      { message: '400 Bad request - A feature has at most 1000 actors' },
    ]);
    await database.query(`insert into instance_features (name) select 'f' || n from generate_series(1, 999) n`);
    expect(await setAndReadRefusal({ value: true, force: true }, 'one-more')).toEqual([
      400,
      { message: '400 Bad request - There are at most 1000 features' },
    ]);
    await postFeature({ value: true }, 'f7').expect(400);
    await postFeature({ value: true, force: true }, 'f7').expect(201);
  });

  it.each(['x'.repeat(256), '%20'])('refuses the name %s', async (name) => {
    const [status, body] = (await setAndReadRefusal({ value: true, force: true }, name)) as [number, { error: string }];
    expect([status, body.error]).toEqual([400, expect.stringMatching(/^name /)]);
  });

  registerParameterEncodingTests({
    app: () => app,
    to: () => ({
      viewer: root,
      method: 'POST',
      path: `/api/v4/features/${NAME}`,
      params: { value: true, user: ['wren', 'robin'], force: true },
    }),
    seen: ({ name, state }) => [name, state],
    expected: [NAME, 'conditional'],
  });

  it('keeps the changes of concurrent requests', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `at-once-${index}`);
    const { seed } = service;
    const people = await Promise.all(names.map((_, index) => seed.user({ username: `bird${index}` })));
    root = { ...root, directory: seed.anonymous().directory };
    await Promise.all(people.map(({ username }) => postFeature({ value: true, user: username }).expect(201)));
    expect(await setAndReadGates({ value: true, user: 'bird0' })).toEqual([
      'conditional',
      [off, { key: 'actors', value: people.map(({ id }) => `User:${id}`).sort() }],
    ]);
  });
});

describe('DELETE /features/:name', () => {
  it('resets a feature; the answer is the same when it was not set', async () => {
    await postFeature({ value: true }).expect(201);
    for (const name of [NAME, NAME, 'never']) {
      const { status, text } = await app.as(root).delete(`/api/v4/features/${name}`);
      expect([status, text]).toEqual([204, '']);
    }
    expect((await app.as(root).get('/api/v4/features').expect(200)).body).toEqual([]);
  });
});
