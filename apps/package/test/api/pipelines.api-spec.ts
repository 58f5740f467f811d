import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import {
  registerProjectDeletionTests,
  registerForeignParentTests,
  registerListPagingTests,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
  registerVisibilityTests,
} from '@rookery/testing';
import type { SeededUser } from '@rookery/testing';
import { COMMITTED_AT, shaOf } from '../support/fake-collaboration';
import { PipelineScene } from '../support/pipelines';
import type { PipelineJson } from '../support/pipelines';

let scene: PipelineScene;
let owner: SeededUser;
let developer: SeededUser;
let project: DirectoryProject;

beforeAll(async () => {
  scene = await PipelineScene.open();
  [owner, developer] = [await scene.seed.user(), await scene.seed.user()];
  project = await scene.project({ owner, developer });
});
afterAll(() => scene.close());

const me = (): Viewer => scene.seed.viewer(developer);
const as = (viewer: Viewer = me()) => scene.app.as(viewer);
const pipelinesPath = (of = project) => `/api/v4/projects/${of.id}/pipelines`;
const startPath = (of = project) => `/api/v4/projects/${of.id}/pipeline`;
const startPipeline = (params: object = {}, of = project) => scene.pipeline(me(), of, params);
const reportStatus = (sha: string, params: object, of = project) =>
  as().post(`/api/v4/projects/${of.id}/statuses/${sha}`).send(params).expect(201);

describe('POST /projects/:id/pipeline', () => {
  it('starts a pipeline on a branch', async () => {
    const fresh = await scene.project({ developer });
    const response = await as().post(startPath(fresh)).send({ ref: 'main' });
    expect([response.status, response.body]).toEqual([
      201,
      {
        id: expect.any(Number),
        iid: 1,
        project_id: fresh.id,
        sha: shaOf('1'),
        ref: 'main',
        status: 'created',
        source: 'api',
        created_at: expect.stringMatching(/Z$/),
        updated_at: expect.stringMatching(/Z$/),
        web_url: expect.stringMatching(new RegExp(`/${fresh.path}/-/pipelines/\\d+$`)),
        name: null,
        before_sha: shaOf('0'),
        tag: false,
        yaml_errors: null,
        user: expect.objectContaining({ id: developer.id, username: developer.username }),
        started_at: null,
        finished_at: null,
        committed_at: COMMITTED_AT,
        duration: null,
        queued_duration: null,
        coverage: null,
        detailed_status: {
          icon: 'status_created',
          text: 'Created',
          label: 'created',
          group: 'created',
          tooltip: 'created',
          has_details: true,
          details_path: expect.stringMatching(new RegExp(`^/.+/${fresh.path}/-/pipelines/\\d+$`)),
          illustration: null,
          favicon: null,
        },
      },
    ]);
  });

  it('numbers the pipelines of a project, also of concurrent requests', async () => {
    const fresh = await scene.project({ developer });
    const made = await Promise.all(Array.from({ length: 10 }, () => startPipeline({}, fresh)));
    expect(made.map(({ iid }) => iid).sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it('takes tags and full names of refs', async () => {
    expect(await startPipeline({ ref: 'v1' })).toMatchObject({ ref: 'v1', tag: true, sha: shaOf('3') });
    expect(await startPipeline({ ref: 'refs/heads/feature/a' })).toMatchObject({ ref: 'feature/a', tag: false });
  });

  it('keeps variables in their order', async () => {
    const variables = [
      { key: 'B', value: '' },
      { key: 'A_1', value: 'x\ny', variable_type: 'file' },
    ];
    const { id } = await startPipeline({ variables, inputs: { deep: { list: [1] } } });
    const { body } = await as().get(`${pipelinesPath()}/${id}/variables`).expect(200);
    expect(body).toEqual([
      { key: 'B', value: '', variable_type: 'env_var' },
      { key: 'A_1', value: 'x\ny', variable_type: 'file' },
    ]);
  });

  const inputs = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`i${index}`, index]));
  it.each([
    [{ ref: undefined }, { error: 'ref is missing' }],
    [{ ref: ' ' }, { error: 'ref is empty' }],
    [{ ref: 'gone' }, { message: { base: ['Reference not found'] } }],
    [{ ref: shaOf('1') }, { message: { base: ['Reference not found'] } }],
    [{ variables: 'x' }, { error: 'variables is invalid' }],
    [{ variables: [{ key: 'A' }] }, { error: 'variables[0][value] is missing' }],
    [
      { variables: [{ key: 'A', value: 'x', variable_type: 'secret' }] },
      { error: 'variables[0][variable_type] does not have a valid value' },
    ],
    [
      { variables: [{ key: 'A-B', value: 'x' }] },
      { message: { base: ["Variable key can contain only letters, digits and '_'."] } },
    ],
    [
      {
        variables: [
          { key: 'A', value: 'x' },
          { key: 'A', value: 'y' },
        ],
      },
      { message: { base: ['Duplicate variable name: A'] } },
    ],
    [{ inputs: 'x' }, { error: 'inputs is invalid' }],
    [{ inputs }, { message: { base: ['There cannot be more than 20 inputs'] } }],
  ])('answers 400 to %j', async (params, body) => {
    const response = await as()
      .post(startPath())
      .send({ ref: 'main', ...params });
    expect([response.status, response.body]).toEqual([400, body]);
  });

  it('refuses refs of a project without a repository', async () => {
    const empty = await scene.project({ developer });
    scene.collaboration.empty.add(empty.id);
    const { body } = await as().post(startPath(empty)).send({ ref: 'main' }).expect(400);
    expect(body).toEqual({ message: { base: ['Reference not found'] } });
  });

  it('answers 503 while collaboration is away', async () => {
    scene.collaboration.isAway = true;
    const { status, body, headers } = await as().post(startPath()).send({ ref: 'main' });
    scene.collaboration.isAway = false;
    expect([status, body, headers['retry-after']]).toEqual([503, { message: '503 Service Unavailable' }, '1']);
  });

  it('refuses archived projects and projects without a repository', async () => {
    for (const over of [{ archived: true }, { repository_access_level: 'disabled' as const }]) {
      const closed = await scene.project({ owner }, over);
      const { status } = await as(scene.seed.viewer(owner)).post(startPath(closed)).send({ ref: 'main' });
      expect([over, status]).toEqual([over, 403]);
    }
  });

  registerParameterEncodingTests({
    app: () => scene.app,
    to: () => ({
      viewer: me(),
      method: 'POST',
      path: startPath(),
      params: { ref: 'main', variables: [{ key: 'A', value: 'x' }] },
    }),
    seen: (pipeline) => pipeline['ref'],
    expected: 'main',
  });

  registerRefusalOrderTests(
    () => scene.app,
    async () => {
      const reporter = await scene.seed.user();
      await scene.seed.member(reporter, project, 'reporter');
      return {
        method: 'POST',
        path: startPath(),
        good: { ref: 'main' },
        bad: { ref: '' },
        anonymous: scene.seed.anonymous(),
        outsider: scene.seed.viewer(await scene.seed.user()),
        reader: scene.seed.viewer(reporter),
        allowed: me(),
      };
    },
  );
});

describe('GET /projects/:id/pipelines', () => {
  let listed: DirectoryProject;
  const made: PipelineJson[] = [];
  beforeAll(async () => {
    listed = await scene.project({ developer, owner });
    for (const ref of ['main', 'feature/a', 'main', 'v1', 'main']) made.push(await startPipeline({ ref }, listed));
    await reportStatus(shaOf('1'), { state: 'success', name: 'build', pipeline_id: made[0]!.id }, listed);
    await reportStatus(shaOf('2'), { state: 'running', name: 'build', pipeline_id: made[1]!.id }, listed);
    await reportStatus(shaOf('4'), { state: 'pending', ref: 'side' }, listed);
    const { body } = await as().get(pipelinesPath(listed)).expect(200);
    made.push(body[0]);
  });
  const list = async (query: object): Promise<number[]> => {
    const { body } = await as().get(pipelinesPath(listed)).query(query).expect(200);
    return (body as PipelineJson[]).map(({ id }) => made.findIndex((one) => one.id === id));
  };

  it('shows the newest first, without details', async () => {
    const { body } = await as().get(pipelinesPath(listed)).expect(200);
    expect(body.map(({ id }: PipelineJson) => id)).toEqual(made.map(({ id }) => id).reverse());
    expect(Object.keys(body[0]).sort()).toEqual(
      [
        ...['created_at', 'id', 'iid', 'name', 'project_id', 'ref', 'sha', 'source', 'status', 'updated_at', 'web_url'],
      ].sort(),
    );
  });

  it.each<[object, number[]]>([
    [{ scope: 'running' }, [1]],
    [{ scope: 'pending' }, [5]],
    [{ scope: 'finished' }, [0]],
    [{ scope: 'branches' }, [5, 4, 1]],
    [{ scope: 'tags' }, [3]],
    [{ status: 'created' }, [4, 3, 2]],
    [{ status: 'manual' }, []],
    [{ source: 'external' }, [5]],
    [{ source: 'push' }, []],
    [{ ref: 'main' }, [4, 2, 0]],
    [{ ref: 'main', status: 'success' }, [0]],
    [{ sha: shaOf('2') }, [1]],
    [{ yaml_errors: 'true' }, []],
    [{ yaml_errors: 'false' }, [5, 4, 3, 2, 1, 0]],
    [{ name: 'x' }, []],
    [{ username: 'NOBODY' }, []],
    [{ created_after: '2020-01-01' }, [5, 4, 3, 2, 1, 0]],
    [{ created_before: '2020-01-01' }, []],
    [{ updated_after: '2020-01-01', sort: 'asc' }, [0, 1, 2, 3, 4, 5]],
    [{ updated_before: '2020-01-01' }, []],
    [{ order_by: 'ref', sort: 'asc' }, [1, 0, 2, 4, 5, 3]],
    [{ order_by: 'status' }, [0, 1, 5, 4, 3, 2]],
    [{ order_by: 'updated_at', sort: 'desc', per_page: 1 }, [5]],
    [{ order_by: 'user_id', sort: 'asc' }, [0, 1, 2, 3, 4, 5]],
  ])('with %j lists %j', async (query, found) => {
    expect(await list(query)).toEqual(found);
  });

  it('filters by the user, ignoring case', async () => {
    expect(await list({ username: developer.username.toUpperCase() })).toEqual([5, 4, 3, 2, 1, 0]);
    expect(await list({ username: owner.username })).toEqual([]);
  });

  it.each([
    [{ scope: 'x' }, 'scope does not have a valid value'],
    [{ status: 'x' }, 'status does not have a valid value'],
    [{ source: 'x' }, 'source does not have a valid value'],
    [{ order_by: 'sha' }, 'order_by does not have a valid value'],
    [{ sort: 'up' }, 'sort does not have a valid value'],
    [{ yaml_errors: 'x' }, 'yaml_errors is invalid'],
    [{ created_after: 'x' }, 'created_after is invalid'],
  ])('answers 400 to %j', async (query, error) => {
    const { status, body } = await as().get(pipelinesPath(listed)).query(query);
    expect([status, body]).toEqual([400, { error }]);
  });

  registerListPagingTests(() => ({
    app: scene.app,
    viewer: me(),
    path: pipelinesPath(listed),
    query: { sort: 'asc' },
    rows: 6,
  }));

  registerVisibilityTests({
    app: () => scene.app,
    from: async (level, standing) => {
      const at = await scene.seed.project({ visibility: level });
      return { viewer: await scene.viewer(standing, at), path: pipelinesPath(at) };
    },
    seen: (standing, level) => (level === 'private' && ['guest', 'planner'].includes(standing) ? 403 : 200),
  });

  it('hides pipelines with the code', async () => {
    const members = await scene.seed.project({ visibility: 'public', repository_access_level: 'private' });
    const closed = await scene.seed.project({ visibility: 'public', repository_access_level: 'disabled' });
    const guest = await scene.viewer('guest', members);
    const ask = async (viewer: Viewer, at: DirectoryProject) => (await as(viewer).get(pipelinesPath(at))).status;
    expect(await ask(guest, members)).toBe(200);
    expect(await ask(await scene.viewer('outsider', members), members)).toBe(403);
    expect(await ask(scene.seed.anonymous(), members)).toBe(401);
    expect(await ask(await scene.viewer('admin', closed), closed)).toBe(403);
  });
});

describe('GET /projects/:id/pipelines/latest', () => {
  const latest = (query: object, of: DirectoryProject) =>
    as()
      .get(`${pipelinesPath(of)}/latest`)
      .query(query);

  it('is the newest of the last commit on the ref', async () => {
    const at = await scene.project({ developer });
    const [, second, tagged] = [
      await startPipeline({}, at),
      await startPipeline({}, at),
      await startPipeline({ ref: 'v1' }, at),
    ];
    await reportStatus(shaOf('2'), { state: 'success', ref: 'main' }, at);
    expect((await latest({}, at).expect(200)).body).toEqual(second);
    expect((await latest({ ref: 'main' }, at).expect(200)).body).toEqual(second);
    expect((await latest({ ref: 'v1' }, at).expect(200)).body).toEqual(tagged);
  });

  it('answers 404 without one, and for refs that do not exist', async () => {
    const at = await scene.project({ developer });
    for (const query of [{}, { ref: 'main' }, { ref: 'gone' }, { ref: shaOf('1') }])
      expect((await latest(query, at).expect(404)).body).toEqual({ message: '404 Pipeline Not Found' });
  });

  it('uses the default branch of the repository if the directory has none', async () => {
    const at = await scene.project({ developer }, { default_branch: null });
    const pipeline = await startPipeline({}, at);
    expect((await latest({}, at).expect(200)).body).toEqual(pipeline);
  });
});

describe('one pipeline', () => {
  it('is read by id, also by the encoded path of the project', async () => {
    const group = await scene.seed.group({ path: 'finch' });
    const at = await scene.seed.project({ namespace_id: group.id, path: 'nest.ts' });
    await scene.seed.member(developer, at, 'developer');
    const pipeline = await startPipeline({}, at);
    const { body } = await as().get(`/api/v4/projects/Finch%2Fnest.ts/pipelines/${pipeline.id}`).expect(200);
    expect(body).toEqual(pipeline);
    expect(body.web_url).toMatch(/\/finch\/nest\.ts\/-\/pipelines\/\d+$/);
  });

  it('has no bridges and an empty test report', async () => {
    const { id } = await startPipeline();
    const read = async (what: string) => (await as().get(`${pipelinesPath()}/${id}/${what}`).expect(200)).body;
    expect(await read('bridges')).toEqual([]);
    expect(await read('test_report')).toEqual({
      total_time: 0,
      total_count: 0,
      success_count: 0,
      failed_count: 0,
      skipped_count: 0,
      error_count: 0,
      test_suites: [],
    });
    expect(await read('test_report_summary')).toEqual({
      total: { time: 0, count: 0, success: 0, failed: 0, skipped: 0, error: 0, suite_error: null },
      test_suites: [],
    });
  });

  it('answers 404 to an unknown id, everywhere', async () => {
    for (const what of ['', '/variables', '/bridges', '/test_report', '/test_report_summary', '/jobs']) {
      const { status, body } = await as().get(`${pipelinesPath()}/987654321${what}`);
      expect([what, status, body]).toEqual([what, 404, { message: '404 Not found' }]);
    }
    for (const what of ['cancel', 'retry'])
      expect((await as().post(`${pipelinesPath()}/987654321/${what}`).expect(404)).body).toEqual({
        message: '404 Not found',
      });
  });

  it('shows variables to developers only', async () => {
    const open = await scene.seed.project({ visibility: 'public' });
    await scene.seed.member(developer, open, 'developer');
    const { id } = await startPipeline({}, open);
    const ask = async (standing: string) =>
      (await as(await scene.viewer(standing, open)).get(`${pipelinesPath(open)}/${id}/variables`)).status;
    expect(await ask('anonymous')).toBe(401);
    for (const standing of ['outsider', 'guest', 'reporter']) expect(await ask(standing)).toBe(403);
    for (const standing of ['developer', 'owner', 'admin']) expect(await ask(standing)).toBe(200);
  });

  describe('of another project', () => {
    let foreign: DirectoryProject;
    let id: number;
    beforeAll(async () => {
      foreign = await scene.project({ developer, owner });
      ({ id } = await startPipeline());
    });
    registerForeignParentTests({
      app: () => scene.app,
      viewer: () => scene.seed.viewer(owner),
      requests: () => [
        ...['', '/variables', '/bridges', '/test_report', '/test_report_summary', '/jobs'].map((what) => ({
          method: 'GET' as const,
          path: `${pipelinesPath(foreign)}/${id}${what}`,
        })),
        ...['cancel', 'retry', 'jobs'].map((what) => ({
          method: 'POST' as const,
          path: `${pipelinesPath(foreign)}/${id}/${what}`,
          body: { name: 'x' },
        })),
        { method: 'DELETE', path: `${pipelinesPath(foreign)}/${id}` },
      ],
      untouched: async () => (await as().get(`${pipelinesPath()}/${id}`)).body,
    });
  });
});

describe('POST …/cancel and POST …/retry', () => {
  const act = async (what: 'cancel' | 'retry', id: number): Promise<PipelineJson> =>
    (
      await as()
        .post(`${pipelinesPath()}/${id}/${what}`)
        .expect(what === 'cancel' ? 200 : 201)
    ).body;

  it('cancel and restore a pipeline without jobs', async () => {
    const { id } = await startPipeline();
    expect(await act('cancel', id)).toMatchObject({ status: 'canceled', finished_at: expect.any(String) });
    expect(await act('cancel', id)).toMatchObject({ status: 'canceled' });
    expect(await act('retry', id)).toMatchObject({ status: 'created', finished_at: null });
  });

  it('leave a finished pipeline as it is', async () => {
    const { id } = await startPipeline();
    await reportStatus(shaOf('1'), { state: 'success', pipeline_id: id });
    const { body: before } = await as().get(`${pipelinesPath()}/${id}`).expect(200);
    expect(await act('cancel', id)).toEqual(before);
    expect(await act('retry', id)).toEqual(before);
  });

  it('cancel reported statuses', async () => {
    const { id } = await startPipeline();
    await reportStatus(shaOf('1'), { state: 'running', name: 'a', pipeline_id: id });
    await reportStatus(shaOf('1'), { state: 'success', name: 'b', pipeline_id: id });
    expect(await act('cancel', id)).toMatchObject({ status: 'canceled' });
  });

  it('refuse reporters', async () => {
    const { id } = await startPipeline();
    const reporter = await scene.viewer('reporter', project);
    for (const what of ['cancel', 'retry'])
      await as(reporter).post(`${pipelinesPath()}/${id}/${what}`).expect(403, { message: '403 Forbidden' });
  });
});

describe('DELETE …/pipelines/:pipeline_id', () => {
  const remove = (id: number, viewer = scene.seed.viewer(owner)) => as(viewer).delete(`${pipelinesPath()}/${id}`);

  it('deletes a pipeline with its jobs and variables', async () => {
    const { id } = await startPipeline({ variables: [{ key: 'A', value: 'x' }] });
    await reportStatus(shaOf('1'), { state: 'success', pipeline_id: id });
    await remove(id).expect(204);
    await remove(id).expect(404, { message: '404 Not found' });
    const left = await scene.service.database.query(
      `select id from ci_jobs where pipeline_id = $1 union all select id from pipeline_variables where pipeline_id = $1`,
      [id],
    );
    expect(left).toEqual([]);
  });

  it('refuses everybody but owners', async () => {
    const { id } = await startPipeline();
    await remove(id, await scene.viewer('maintainer', project)).expect(403, { message: '403 Forbidden' });
    await remove(id, await scene.viewer('admin', project)).expect(204);
  });

  it('answers 412 when the pipeline changed after If-Unmodified-Since', async () => {
    const { id } = await startPipeline();
    const { body } = await remove(id).set('If-Unmodified-Since', 'Fri, 30 Jan 2015 10:00:00 GMT').expect(412);
    expect(body).toEqual({ message: '412 Precondition Failed' });
  });
});

describe('the end of a pipeline', () => {
  const eventsOf = (id: number) =>
    scene.service.database.query<{ data: Readonly<Record<string, unknown>> }>(
      `select payload as data from outbox where type like '%.pipeline.finished.v1' and aggregate_id = $1 order by id`,
      [id],
    );

  it('is announced once for each change to an end, with the status of the pipeline before', async () => {
    const at = await scene.project({ developer });
    const [first, second] = [await startPipeline({}, at), await startPipeline({}, at)];
    const move = (id: number, name: string, state: string) =>
      reportStatus(shaOf('1'), { state, name, pipeline_id: id }, at);
    await move(first.id, 'a', 'failed');
    await move(second.id, 'a', 'running');
    expect(await eventsOf(second.id)).toEqual([]);
    await move(second.id, 'a', 'success');
    await move(second.id, 'b', 'success');
    const [{ data: failed }] = (await eventsOf(first.id)) as [{ data: object }];
    expect(failed).toMatchObject({ pipeline_id: first.id, status: 'failed', previous_status: null });
    const found = await eventsOf(second.id);
    const { iid, id } = second;
    expect(found.map(({ data }) => data)).toEqual([
      {
        ...{ pipeline_id: id, project_id: at.id, iid, sha: shaOf('1'), ref: 'main', is_tag: false, source: 'api' },
        ...{ status: 'success', previous_status: 'failed', user_id: developer.id, finished_at: expect.any(String) },
      },
    ]);
    await move(second.id, 'c', 'failed');
    expect(await eventsOf(second.id)).toHaveLength(2);
  });

  it('names the last success or failure before it, also of the pipeline before a retry', async () => {
    const at = await scene.project({ developer });
    const move = (id: number, name: string, state: string) =>
      reportStatus(shaOf('1'), { state, name, pipeline_id: id }, at);
    const first = await startPipeline({}, at);
    await move(first.id, 'a', 'failed');
    const canceled = await startPipeline({}, at);
    await as()
      .post(`${pipelinesPath(at)}/${canceled.id}/cancel`)
      .expect(200);
    const third = await startPipeline({}, at);
    await move(third.id, 'a', 'success');
    await move(third.id, 'a', 'failed');
    await move(third.id, 'a', 'running');
    await move(third.id, 'a', 'success');
    expect((await eventsOf(third.id)).map(({ data }) => [data['previous_status'], data['status']])).toEqual([
      ['failed', 'success'],
      ['success', 'failed'],
      ['failed', 'success'],
    ]);
  });

  it('is announced for a canceled pipeline without jobs', async () => {
    const { id } = await startPipeline();
    await as().post(`${pipelinesPath()}/${id}/cancel`).expect(200);
    expect(await eventsOf(id)).toMatchObject([{ data: { status: 'canceled' } }]);
  });
});

it('shows no user after the user was deleted', async () => {
  const gone = await scene.seed.user();
  await scene.seed.member(gone, project, 'developer');
  const { id } = await scene.pipeline(scene.seed.viewer(gone), project);
  await scene.seed.remove('users', gone.id);
  expect((await as().get(`${pipelinesPath()}/${id}`).expect(200)).body).toMatchObject({ user: null });
});

registerProjectDeletionTests({
  service: () => scene.service,
  effect: 'drop-pipelines',
  tables: ['pipelines', 'pipeline_variables', `internal_ids where usage = 'pipelines'`],
  fill: (agent, at) =>
    agent
      .post(startPath(at))
      .send({ ref: 'main', variables: [{ key: 'A', value: 'x' }] })
      .expect(201),
});
