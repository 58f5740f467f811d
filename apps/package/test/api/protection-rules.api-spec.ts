import type { DirectoryProject, FeatureGates } from '@rookery/contracts';
import { InstanceSettings } from '@rookery/instance';
import type { Viewer } from '@rookery/kernel';
import {
  registerForeignParentTests,
  registerProjectDeletionTests,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
  requestOf,
  registerVisibilityTests,
} from '@rookery/testing';
import type { DirectorySeed, SeededService, SeededUser, TestApp } from '@rookery/testing';
import { startPackage } from '../support/app';

let service: SeededService;
let seed: DirectorySeed;
let app: TestApp;
let maintainer: SeededUser;
let project: DirectoryProject;

beforeAll(async () => {
  service = await startPackage();
  ({ seed, app } = service);
  maintainer = await seed.user();
  project = await seed.project({ visibility: 'private' });
  await seed.member(maintainer, project, 'maintainer');
});
afterAll(() => service.close());

let counter = 0;
const aPattern = () => `@acme/package-${(counter += 1)}*`;
const rulesPath = (of: DirectoryProject) => `/api/v4/projects/${of.id}/packages/protection/rules`;
const me = (): Viewer => seed.viewer(maintainer);

interface Rule {
  readonly id: number;
  readonly [name: string]: unknown;
}

async function createRule(params: Record<string, unknown> = {}, of = project): Promise<Rule> {
  const { body } = await app
    .as(me())
    .post(rulesPath(of))
    .send({
      package_name_pattern: aPattern(),
      package_type: 'npm',
      minimum_access_level_for_push: 'maintainer',
      ...params,
    })
    .expect(201);
  return body;
}

describe('POST …/packages/protection/rules', () => {
  it('creates a rule', async () => {
    const response = await app
      .as(me())
      .post(rulesPath(project))
      .send({ package_name_pattern: '@acme/*', package_type: 'npm', minimum_access_level_for_push: 'owner' });
    expect([response.status, response.body]).toEqual([
      201,
      {
        id: expect.any(Number),
        project_id: project.id,
        package_name_pattern: '@acme/*',
        package_type: 'npm',
        minimum_access_level_for_delete: null,
        minimum_access_level_for_push: 'owner',
      },
    ]);
  });

  it('accepts the URL-encoded path of the project', async () => {
    const group = await seed.group({ path: 'acme' });
    const inGroup = await seed.project({ namespace_id: group.id, path: 'tools.js' });
    await seed.member(maintainer, group, 'owner');
    const { body: rule }: { body: Rule } = await app
      .as(me())
      .post('/api/v4/projects/Acme%2Ftools.js/packages/protection/rules')
      .send({ package_name_pattern: 'x', package_type: 'generic', minimum_access_level_for_push: 'admin' })
      .expect(201);
    expect(rule).toMatchObject({ project_id: inGroup.id });
  });

  const missing =
    'minimum_access_level_for_push, minimum_access_level_for_delete are missing, at least one parameter must be provided';
  it.each([
    [400, { package_name_pattern: undefined }, { error: 'package_name_pattern is missing' }],
    [400, { package_type: 'rubygems' }, { error: 'package_type does not have a valid value' }],
    [400, { minimum_access_level_for_push: undefined }, { error: missing }],
    [
      400,
      { minimum_access_level_for_push: 'developer' },
      { error: 'minimum_access_level_for_push does not have a valid value' },
    ],
    [
      400,
      { minimum_access_level_for_push: '' },
      { error: 'minimum_access_level_for_push does not have a valid value' },
    ],
    [
      422,
      { minimum_access_level_for_push: null },
      { message: { error: ['A rule must have at least a minimum access role for push or delete.'] } },
    ],
    [
      422,
      { package_name_pattern: '*@acme/x' },
      {
        message: {
          error: ['Package name pattern should be a valid NPM package name with optional wildcard characters.'],
        },
      },
    ],
    [400, { package_name_pattern: ['x'] }, { error: 'package_name_pattern is invalid' }],
    [400, { package_name_pattern: 'x\u0000' }, { error: 'package_name_pattern is invalid' }],
  ])('answers %i to %j', async (status, params, body) => {
    const good = { package_name_pattern: aPattern(), package_type: 'npm', minimum_access_level_for_push: 'maintainer' };
    const response = await app
      .as(me())
      .post(rulesPath(project))
      .send({ ...good, ...params });
    expect([response.status, response.body]).toEqual([status, body]);
  });

  it('refuses a duplicate pattern for a package type, also in concurrent requests', async () => {
    const rule = { package_name_pattern: aPattern(), package_type: 'npm', minimum_access_level_for_push: 'owner' };
    const answers = await Promise.all([1, 2, 3].map(() => app.as(me()).post(rulesPath(project)).send(rule)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422]);
    expect(answers.find(({ status }) => status === 422)?.body).toEqual({
      message: { error: ['Package name pattern has already been taken'] },
    });
    await app
      .as(me())
      .post(rulesPath(project))
      .send({ ...rule, package_type: 'maven' })
      .expect(201);
  });

  it('answers 422 when only the delete level is sent and its feature is off', async () => {
    await app
      .as(me())
      .post(rulesPath(project))
      .send({ package_name_pattern: aPattern(), package_type: 'npm', minimum_access_level_for_delete: 'owner' })
      .expect(422);
  });

  registerParameterEncodingTests({
    app: () => app,
    to: () => ({
      viewer: me(),
      method: 'POST',
      path: rulesPath(project),
      params: { package_name_pattern: aPattern(), package_type: 'npm', minimum_access_level_for_push: 'admin' },
    }),
    seen: (rule) => rule['minimum_access_level_for_push'],
    expected: 'admin',
  });

  registerRefusalOrderTests(
    () => app,
    async () => {
      const developer = await seed.user();
      await seed.member(developer, project, 'developer');
      return {
        method: 'POST',
        path: rulesPath(project),
        good: { package_name_pattern: aPattern(), package_type: 'npm', minimum_access_level_for_push: 'owner' },
        bad: { package_type: 'none' },
        anonymous: seed.anonymous(),
        outsider: seed.viewer(await seed.user()),
        reader: seed.viewer(developer),
        allowed: me(),
      };
    },
  );
});

describe('PATCH …/packages/protection/rules/:package_protection_rule_id', () => {
  it('changes the sent fields', async () => {
    const rule = await createRule();
    const { body: changed }: { body: Rule } = await app
      .as(me())
      .patch(`${rulesPath(project)}/${rule.id}`)
      .send({ minimum_access_level_for_push: 'admin' })
      .expect(200);
    expect(changed).toEqual({ ...rule, minimum_access_level_for_push: 'admin' });
  });

  it('refuses a rule without any level, and a taken pattern', async () => {
    const [first, second] = [await createRule(), await createRule()];
    const patch = (params: Record<string, unknown>) =>
      app
        .as(me())
        .patch(`${rulesPath(project)}/${second.id}`)
        .send(params);
    await patch({ minimum_access_level_for_push: null }).expect(422);
    expect((await patch({ package_name_pattern: first['package_name_pattern'] })).body).toEqual({
      message: { error: ['Package name pattern has already been taken'] },
    });
    expect((await app.as(me()).get(rulesPath(project)).expect(200)).body).toContainEqual(second);
  });
});

describe.each(['PATCH', 'DELETE'] as const)('%s …/packages/protection/rules/:package_protection_rule_id', (method) => {
  it('answers 404 for an unknown rule', async () => {
    const response = await requestOf(app.as(me()), method, `${rulesPath(project)}/999999`).send({});
    expect([response.status, response.body]).toEqual([404, { message: '404 Not found' }]);
  });

  it.each(['abc', '12345678901234567890'])('refuses the id %s', async (id) => {
    const response = await requestOf(app.as(me()), method, `${rulesPath(project)}/${id}`).send({});
    expect([response.status, response.body]).toEqual([400, { error: 'package_protection_rule_id is invalid' }]);
  });
});

describe('a rule of another project', () => {
  registerForeignParentTests({
    app: () => app,
    viewer: me,
    requests: async () => {
      const other = await seed.project();
      await seed.member(maintainer, other, 'owner');
      const rule = await createRule({}, other);
      return [
        { method: 'PATCH', path: `${rulesPath(project)}/${rule.id}`, body: { package_name_pattern: 'stolen' } },
        { method: 'DELETE', path: `${rulesPath(project)}/${rule.id}` },
      ];
    },
    untouched: async () =>
      service.database.query(`select count(*) from protection_rules where package_name_pattern = 'stolen'`),
  });
});

describe('a rule', () => {
  registerProjectDeletionTests({
    service: () => service,
    effect: 'drop-protection-rules',
    tables: ['protection_rules'],
    fill: (owner, of) =>
      owner
        .post(rulesPath(of))
        .send({ package_name_pattern: 'a*', package_type: 'npm', minimum_access_level_for_push: 'owner' })
        .expect(201),
  });
});

describe('DELETE …/packages/protection/rules/:package_protection_rule_id', () => {
  it('deletes the rule; the second time answers 404', async () => {
    const path = `${rulesPath(project)}/${(await createRule()).id}`;
    const first = await app.as(me()).delete(path);
    expect([first.status, first.text]).toEqual([204, '']);
    await app.as(me()).delete(path).expect(404);
  });
});

describe('GET …/packages/protection/rules', () => {
  it('lists all rules of the project, oldest first, unpaged', async () => {
    const own = await seed.project();
    await seed.member(maintainer, own, 'maintainer');
    const rules: Rule[] = [];
    for (let index = 0; index < 25; index += 1) rules.push(await createRule({}, own));
    expect((await app.as(me()).get(rulesPath(own)).expect(200)).body).toEqual(rules);
  });

  registerVisibilityTests({
    app: () => app,
    from: async (level, standing) => {
      const own = await seed.project({ visibility: level });
      if (standing === 'anonymous') return { viewer: seed.anonymous(), path: rulesPath(own) };
      const person = await seed.user({ admin: standing === 'admin', external: standing === 'external' });
      if (!['admin', 'external', 'outsider'].includes(standing)) await seed.member(person, own, standing as 'guest');
      return { viewer: seed.viewer(person), path: rulesPath(own) };
    },
    seen: (standing) => (['maintainer', 'owner', 'admin'].includes(standing) ? 200 : 403),
    anonymous: 401,
  });
});

describe('while packages are disabled', () => {
  let rule: Rule;
  beforeAll(async () => {
    rule = await createRule();
    await seed.put('projects', { ...project, packages_enabled: false });
  });
  afterAll(() => seed.put('projects', project));

  it.each(['GET', 'POST', 'PATCH', 'DELETE'] as const)(
    '%s is 403 for users who can see the project',
    async (method) => {
      const admin = seed.viewer(await seed.user({ admin: true }));
      const path = `${rulesPath(project)}${method === 'PATCH' || method === 'DELETE' ? `/${rule.id}` : ''}`;
      const fields = { package_name_pattern: aPattern(), package_type: 'npm', minimum_access_level_for_push: 'owner' };
      const asked = async (viewer: Viewer) => (await requestOf(app.as(viewer), method, path).send(fields)).status;
      expect([await asked(me()), await asked(admin)]).toEqual([403, 403]);
      expect(await asked(seed.viewer(await seed.user()))).toBe(404);
    },
  );

  it('rules are kept', async () => {
    await seed.put('projects', project);
    expect((await app.as(me()).get(rulesPath(project)).expect(200)).body).toContainEqual(rule);
  });
});

describe('with the feature of the delete level on', () => {
  const switchOn = (gates: Partial<FeatureGates>) => {
    const closed = { boolean: false, percentage_of_time: 0, percentage_of_actors: 0, actors: [], groups: [] };
    const features = { packages_protected_packages_delete: { ...closed, ...gates } };
    app.get(InstanceSettings).applyAnswer({ version: 1, features, settings: {} });
  };
  const switchOff = () => app.get(InstanceSettings).applyAnswer({ version: 1, features: {}, settings: {} });
  afterEach(switchOff);

  const ownersRule = (of = project) => createRule({ minimum_access_level_for_delete: 'owner' }, of);

  it('stores and shows the level; when switched off it keeps it and shows null', async () => {
    switchOn({ boolean: true });
    const { body: rule }: { body: Rule } = await app
      .as(me())
      .post(rulesPath(project))
      .send({ package_name_pattern: aPattern(), package_type: 'npm', minimum_access_level_for_delete: 'owner' })
      .expect(201);
    expect(rule).toMatchObject({ minimum_access_level_for_delete: 'owner', minimum_access_level_for_push: null });
    switchOff();
    const { body: hidden }: { body: Rule } = await app
      .as(me())
      .patch(`${rulesPath(project)}/${rule.id}`)
      .send({ minimum_access_level_for_delete: null, minimum_access_level_for_push: 'owner' })
      .expect(200);
    expect(hidden).toMatchObject({ minimum_access_level_for_delete: null, minimum_access_level_for_push: 'owner' });
    switchOn({ boolean: true });
    const { body: all }: { body: Rule[] } = await app.as(me()).get(rulesPath(project)).expect(200);
    expect(all.find(({ id }) => id === rule.id)).toMatchObject({ minimum_access_level_for_delete: 'owner' });
  });

  it('can be on for single projects and users', async () => {
    const other = await seed.project();
    await seed.member(maintainer, other, 'maintainer');
    switchOn({ actors: [`Project:${other.id}`] });
    const [here, there] = [await ownersRule(), await ownersRule(other)];
    expect([here, there].map((rule) => rule['minimum_access_level_for_delete'])).toEqual([null, 'owner']);
    switchOn({ actors: [`User:${maintainer.id}`] });
    expect(await ownersRule()).toMatchObject({ minimum_access_level_for_delete: 'owner' });
    switchOn({ actors: [`User:${maintainer.id + 1}`] });
    expect(await ownersRule()).toMatchObject({ minimum_access_level_for_delete: null });
  });
});
