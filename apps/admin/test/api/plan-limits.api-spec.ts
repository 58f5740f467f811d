import type { DirectoryProject } from '@rookery/contracts';
import { PLAN_LIMITS } from '@rookery/instance';
import type { Viewer } from '@rookery/kernel';
import { registerParameterEncodingTests, untilBlocked } from '@rookery/testing';
import { FlagsOfAProject } from '../support/flags';

const NONE = `${Object.keys(PLAN_LIMITS).join(', ')} are missing, at least one parameter must be provided`;
const PATH = '/api/v4/application/plan_limits';

let flags: FlagsOfAProject;
let root: Viewer;
let serial = 0;

beforeAll(async () => {
  flags = await FlagsOfAProject.start();
  root = flags.service.seed.viewer(await flags.service.seed.user({ admin: true }));
});
afterAll(() => flags.service.close());
beforeEach(() => flags.service.database.query('delete from plan_limits'));

const fetchLimits = async (query: object = {}): Promise<unknown> =>
  (await flags.app.as(root).get(PATH).query(query).expect(200)).body;
const putLimits = (params: object) => flags.app.as(root).put(PATH).send(params);
const setFlagLimit = (plan_name: string, project_feature_flags: number) =>
  putLimits({ plan_name, project_feature_flags }).expect(200);

it('are those of `default` until they are set for a plan', async () => {
  expect(await fetchLimits()).toMatchObject({ project_feature_flags: 200 });
  expect((await setFlagLimit('default', 7)).body).toMatchObject({ project_feature_flags: 7 });
  expect(await fetchLimits({ plan_name: 'free' })).toMatchObject({ project_feature_flags: 7 });
  expect((await setFlagLimit('free', 3)).body).toMatchObject({ project_feature_flags: 3 });
  const shown = [];
  for (const plan_name of ['default', 'free', 'premium', 'ultimate']) shown.push(await fetchLimits({ plan_name }));
  expect(shown).toMatchObject([7, 3, 7, 7].map((project_feature_flags) => ({ project_feature_flags })));
});

it('are those of the last request, also if two set them for the first time at once', async () => {
  const slow = await flags.service.database.openConnection('slow', 60_000);
  try {
    await slow.query('begin');
    await slow.query(`insert into plan_limits (plan, name, value) values ('premium', 'project_feature_flags', 5)`);
    const [second] = await Promise.all([
      putLimits({ plan_name: 'premium', project_feature_flags: 6 }),
      untilBlocked((sql) => flags.service.database.query(sql)).finally(() => slow.query('commit')),
    ]);
    expect([second.status, second.body]).toMatchObject([200, { project_feature_flags: 6 }]);
    expect(await fetchLimits({ plan_name: 'premium' })).toMatchObject({ project_feature_flags: 6 });
  } finally {
    await slow.end();
  }
});

it.each([
  [{ project_feature_flags: 5 }, 'plan_name is missing'],
  [{ plan_name: 'gold', project_feature_flags: 5 }, 'plan_name does not have a valid value'],
  [{ plan_name: 'free' }, NONE],
  [{ plan_name: 'free', other_max_file_size: 5 }, NONE],
  [{ plan_name: 'free', pypi_max_file_size: -1 }, 'pypi_max_file_size does not have a valid value'],
  [{ plan_name: 'free', npm_max_file_size: -1 }, 'npm_max_file_size does not have a valid value'],
  [{ plan_name: 'free', project_feature_flags: 0 }, 'project_feature_flags does not have a valid value'],
  [{ plan_name: 'free', project_feature_flags: 1001 }, 'project_feature_flags does not have a valid value'],
  [{ plan_name: 'free', project_feature_flags: 'many' }, 'project_feature_flags is invalid'],
])('refuses %j', async (params, error) => {
  const { status, body } = await putLimits(params);
  expect([status, body]).toEqual([400, { error }]);
  expect(await fetchLimits({ plan_name: 'free' })).toMatchObject({ project_feature_flags: 200 });
});

it('answer 404 for an unknown plan', async () => {
  const { status, body } = await flags.app.as(root).get(PATH).query({ plan_name: 'gold' });
  expect([status, body]).toEqual([400, { error: 'plan_name does not have a valid value' }]);
});

registerParameterEncodingTests({
  app: () => flags.app,
  to: () => ({ viewer: root, method: 'PUT', path: PATH, params: { plan_name: 'premium', project_feature_flags: 9 } }),
  seen: ({ project_feature_flags }) => ({ project_feature_flags }),
  expected: { project_feature_flags: 9 },
});

describe('project_feature_flags', () => {
  async function projectOf(plan: 'free' | 'ultimate'): Promise<DirectoryProject> {
    const { seed } = flags.service;
    const group = await seed.group({ path: `${plan}-${(serial += 1)}`, plan });
    const project = await seed.project({ namespace_id: group.id, path: 'eggs' });
    const { userId } = await flags.member();
    await seed.member({ id: userId! }, project, 'developer');
    return project;
  }
  const add = (project: DirectoryProject, name: string, status = 201) =>
    flags.post('feature_flags', { name }, status, project);

  it('limits the flags of projects with the plan from the next request on', async () => {
    const [free, ultimate] = [await projectOf('free'), await projectOf('ultimate')];
    await setFlagLimit('free', 1);
    await add(free, 'one');
    expect(await add(free, 'two', 400)).toEqual({
      message: ['Maximum number of project feature flags (1) exceeded'],
    });
    for (const name of ['one', 'two']) await add(ultimate, name);
    await setFlagLimit('free', 2);
    await add(free, 'two');
  });

  it('keeps flags above the limit, and lets them be changed', async () => {
    const project = await projectOf('free');
    for (const name of ['one', 'two']) await add(project, name);
    await setFlagLimit('default', 1);
    await add(project, 'three', 400);
    await flags.app
      .as(await flags.member())
      .put(flags.path('feature_flags/two', project))
      .send({ active: false })
      .expect(200);
  });
});
