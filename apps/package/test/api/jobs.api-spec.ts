import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import {
  registerProjectDeletionTests,
  registerForeignParentTests,
  linksOf,
  registerListPagingTests,
  registerRefusalOrderTests,
  registerVisibilityTests,
} from '@rookery/testing';
import type { SeededUser } from '@rookery/testing';
import { FailOverdueCiJobsJob } from '../../src/ci/jobs/overdue-jobs.job';
import { shaOf } from '../support/fake-collaboration';
import { PipelineScene } from '../support/pipelines';

let scene: PipelineScene;
let developer: SeededUser;
let project: DirectoryProject;

beforeAll(async () => {
  scene = await PipelineScene.open();
  developer = await scene.seed.user();
});
beforeEach(async () => {
  project = await scene.project({ developer });
});
afterAll(() => scene.close());

const me = (): Viewer => scene.seed.viewer(developer);
const as = (viewer: Viewer = me()) => scene.app.as(viewer);
const anonymous = () => scene.app.as(scene.seed.anonymous());
const jobsPath = (id: number, of = project) => `/api/v4/projects/${of.id}/pipelines/${id}/jobs`;
const startPipeline = async (of = project, params: object = {}): Promise<number> =>
  (await scene.pipeline(me(), of, params)).id;

interface Job {
  readonly id: number;
  readonly token: string;
  readonly status: string;
  readonly [name: string]: unknown;
}
async function openJob(pipelineId: number, params: object = {}, of = project): Promise<Job> {
  const { body } = await as()
    .post(jobsPath(pipelineId, of))
    .send({ name: 'build', ...params })
    .expect(201);
  return body as Job;
}
const reportJob = ({ id, token }: Job, params: object) =>
  anonymous()
    .put(`/api/v4/jobs/${id}`)
    .send({ token, ...params });
const showPipeline = async (id: number) =>
  (await as().get(`/api/v4/projects/${project.id}/pipelines/${id}`).expect(200)).body;

describe('POST …/pipelines/:pipeline_id/jobs', () => {
  it('opens a running job, and shows its token once', async () => {
    const id = await startPipeline(project, { variables: [{ key: 'A', value: 'x' }], inputs: { n: 1, s: 'x' } });
    const { body } = await as().post(jobsPath(id)).send({ name: 'build' }).expect(201);
    const { token, variables, inputs, ...job } = body;
    expect(token).toMatch(/^glcbt-[\w-]{27}$/);
    expect(variables).toEqual([{ key: 'A', value: 'x', variable_type: 'env_var' }]);
    expect(inputs).toEqual({ n: '1', s: '"x"' });
    expect(job).toEqual({
      ...{ id: expect.any(Number), status: 'running', stage: 'test', name: 'build', ref: 'main', tag: false },
      ...{ coverage: null, allow_failure: false, erased_at: null, duration: null, commit: null },
      ...{ created_at: expect.any(String), started_at: expect.any(String), finished_at: null },
      queued_duration: expect.any(Number),
      user: expect.objectContaining({ id: developer.id }),
      pipeline: expect.objectContaining({ id, status: 'running', sha: shaOf('1'), source: 'api' }),
      failure_reason: null,
      web_url: expect.stringMatching(/\/-\/jobs\/\d+$/),
      project: { ci_job_token_scope_enabled: true },
      ...{ artifacts: [], runner: null, artifacts_expire_at: null, archived: false, tag_list: [] },
    });
    const { body: shown } = await as().get(`/api/v4/projects/${project.id}/jobs/${job.id}`).expect(200);
    expect(shown).toEqual(job);
    expect(await showPipeline(id)).toMatchObject({
      status: 'running',
      started_at: job.started_at,
      queued_duration: expect.any(Number),
    });
  });

  it('replaces an earlier job of the same name', async () => {
    const id = await startPipeline();
    const [first, second] = [await openJob(id), await openJob(id)];
    const list = async (query: object) => (await as().get(jobsPath(id)).query(query).expect(200)).body;
    expect((await list({})).map((job: Job) => job.id)).toEqual([second.id]);
    expect((await list({ include_retried: true })).map((job: Job) => job.id)).toEqual([second.id, first.id]);
  });

  it.each([
    [{ name: undefined }, { error: 'name is missing' }],
    [{ name: ' ' }, { error: 'name is empty' }],
    [{ name: 'x'.repeat(256) }, { message: { name: ['is too long (maximum is 255 characters)'] } }],
    [{ stage: 'x'.repeat(256) }, { message: { stage: ['is too long (maximum is 255 characters)'] } }],
  ])('answers 400 to %j', async (params, body) => {
    const response = await as()
      .post(jobsPath(await startPipeline()))
      .send({ name: 'x', ...params });
    expect([response.status, response.body]).toEqual([400, body]);
  });

  it('refuses a canceled pipeline, until it is retried', async () => {
    const id = await startPipeline();
    await as().post(`/api/v4/projects/${project.id}/pipelines/${id}/cancel`).expect(200);
    const { status, body } = await as().post(jobsPath(id)).send({ name: 'x' });
    expect([status, body]).toEqual([400, { message: '400 Bad request - Pipeline is canceled' }]);
    await as().post(`/api/v4/projects/${project.id}/pipelines/${id}/retry`).expect(201);
    await openJob(id);
  });

  registerRefusalOrderTests(
    () => scene.app,
    async () => {
      const reporter = await scene.viewer('reporter', project);
      return {
        ...{ method: 'POST', path: jobsPath(await startPipeline()), good: { name: 'x' }, bad: { name: '' } },
        anonymous: scene.seed.anonymous(),
        outsider: await scene.viewer('outsider', project),
        reader: reporter,
        allowed: me(),
      };
    },
  );
});

describe('PUT /jobs/:id', () => {
  it('ends a job and its pipeline', async () => {
    const id = await startPipeline();
    const [first, second] = [await openJob(id), await openJob(id, { name: 'test' })];
    const { body: kept } = await reportJob(first, { state: 'running' }).expect(200);
    expect(kept).toMatchObject({ id: first.id, status: 'running' });
    const { body } = await reportJob(first, { state: 'success' }).expect(200);
    expect(body).toMatchObject({ status: 'success', finished_at: expect.any(String), duration: expect.any(Number) });
    expect(body).not.toHaveProperty('token');
    expect(await showPipeline(id)).toMatchObject({ status: 'running', duration: null });
    await reportJob(second, { state: 'success' }).expect(200);
    expect(await showPipeline(id)).toMatchObject({ status: 'success', duration: expect.any(Number) });
  });

  it('keeps the reason of a failure', async () => {
    const id = await startPipeline();
    const fail = async (params: object) =>
      (await reportJob(await openJob(id), { state: 'failed', ...params }).expect(200)).body.failure_reason;
    expect(await fail({})).toBe('unknown_failure');
    expect(await fail({ failure_reason: 'script_failure' })).toBe('script_failure');
    expect(await showPipeline(id)).toMatchObject({ status: 'failed' });
  });

  it('takes a form, the query and JSON', async () => {
    const id = await startPipeline();
    const [form, query] = [await openJob(id, { name: 'a' }), await openJob(id, { name: 'b' })];
    await anonymous()
      .put(`/api/v4/jobs/${form.id}`)
      .type('form')
      .send({ token: form.token, state: 'success' })
      .expect(200);
    await anonymous().put(`/api/v4/jobs/${query.id}`).query({ token: query.token, state: 'canceled' }).expect(200);
    expect(await showPipeline(id)).toMatchObject({ status: 'canceled' });
  });

  it.each([
    [{ token: undefined, state: undefined }, 'token is missing, state is missing'],
    [{ state: 'pending' }, 'state does not have a valid value'],
    [{ failure_reason: 'x'.repeat(256) }, 'failure_reason is too long (maximum is 255 characters)'],
  ])('answers 400 to %j', async (params, error) => {
    const job = await openJob(await startPipeline());
    const { status, body } = await reportJob(job, { state: 'success', ...params });
    expect([status, body]).toEqual([400, { error }]);
  });

  it('answers 401 to unknown tokens, to those of other jobs and after the end of the job', async () => {
    const id = await startPipeline();
    const [job, other] = [await openJob(id, { name: 'a' }), await openJob(id, { name: 'b' })];
    const refused = async (params: object, of = job) => {
      const { status, body } = await reportJob(of, { state: 'success', ...params });
      expect([params, status, body]).toEqual([params, 401, { message: '401 Unauthorized' }]);
    };
    await refused({ token: 'glcbt-unknown' });
    await refused({ token: '' });
    await refused({ token: other.token });
    await refused({}, { ...job, id: 987654321 });
    await reportJob(job, { state: 'success' }).expect(200);
    await refused({});
    await refused({ state: 'running' });
    await as().post(`/api/v4/projects/${project.id}/pipelines/${id}/cancel`).expect(200);
    await refused({}, other);
  });

  it('lets one of two concurrent reports win', async () => {
    const job = await openJob(await startPipeline());
    const answers = await Promise.all(['success', 'failed'].map((state) => reportJob(job, { state })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
  });

  it('answers 403 once the user of the job may not run pipelines any more', async () => {
    const gone = await scene.seed.user();
    await scene.seed.member(gone, project, 'developer');
    const id = await startPipeline();
    const { body: job } = await as(scene.seed.viewer(gone)).post(jobsPath(id)).send({ name: 'x' }).expect(201);
    await scene.seed.put('projects', { ...project, archived: true });
    expect((await reportJob(job, { state: 'success' }).expect(403)).body).toEqual({ message: '403 Forbidden' });
    await scene.seed.put('projects', project);
    await scene.seed.remove('users', gone.id);
    await reportJob(job, { state: 'success' }).expect(403);
  });

  it('fails jobs that run too long, once', async () => {
    const id = await startPipeline();
    const [late, early] = [await openJob(id, { name: 'a' }), await openJob(id, { name: 'b' })];
    await scene.service.database.query(`update ci_jobs set token_until = now() - interval '1 s' where id = $1`, [
      late.id,
    ]);
    expect((await reportJob(late, { state: 'success' }).expect(401)).body).toEqual({ message: '401 Unauthorized' });
    const job = scene.app.get(FailOverdueCiJobsJob);
    const { signal } = new AbortController();
    for (const _ of [1, 2]) await job.failOverdue({ signal });
    const read = async (of: Job) => (await as().get(`/api/v4/projects/${project.id}/jobs/${of.id}`).expect(200)).body;
    expect(await read(late)).toMatchObject({ status: 'failed', failure_reason: 'job_execution_timeout' });
    expect(await read(early)).toMatchObject({ status: 'running' });
    await reportJob(early, { state: 'success' }).expect(200);
    expect(await showPipeline(id)).toMatchObject({ status: 'failed' });
  });
});

describe('POST …/retry', () => {
  it('adds a pending job for each failed or canceled job, which a runner opens', async () => {
    const id = await startPipeline();
    const [failed, canceled, done] = [
      await openJob(id, { name: 'a', stage: 'build' }),
      await openJob(id, { name: 'b' }),
      await openJob(id, { name: 'c' }),
    ];
    await reportJob(failed, { state: 'failed' }).expect(200);
    await reportJob(done, { state: 'success' }).expect(200);
    await reportJob(canceled, { state: 'canceled' }).expect(200);
    const { body } = await as().post(`/api/v4/projects/${project.id}/pipelines/${id}/retry`).expect(201);
    expect(body).toMatchObject({ status: 'running', finished_at: null });
    const { body: jobs } = await as().get(jobsPath(id)).expect(200);
    expect(jobs.map(({ name, status, stage }: Job) => [name, status, stage])).toEqual([
      ['b', 'pending', 'test'],
      ['a', 'pending', 'build'],
      ['c', 'success', 'test'],
    ]);
    const again = await openJob(id, { name: 'a', stage: 'build' });
    expect(again).toMatchObject({ id: jobs[1].id, status: 'running' });
    await reportJob(again, { state: 'success' }).expect(200);
    await reportJob(failed, { state: 'success' }).expect(401);
  });
});

describe('GET /projects/:id/jobs and GET …/pipelines/:pipeline_id/jobs', () => {
  it('filter by status, and leave reported statuses out', async () => {
    const id = await startPipeline();
    const [first, second] = [await openJob(id, { name: 'a' }), await openJob(id, { name: 'b' })];
    await reportJob(first, { state: 'failed' }).expect(200);
    await as()
      .post(`/api/v4/projects/${project.id}/statuses/${shaOf('1')}`)
      .send({ state: 'failed', name: 'c' })
      .expect(201);
    for (const path of [`/api/v4/projects/${project.id}/jobs`, jobsPath(id)]) {
      const list = async (query: object) =>
        (await as().get(path).query(query).expect(200)).body.map((job: Job) => job.id);
      expect(await list({})).toEqual([second.id, first.id]);
      expect(await list({ scope: 'failed' })).toEqual([first.id]);
      expect(await list({ 'scope[]': ['failed', 'running'] })).toEqual([second.id, first.id]);
      expect(await list({ 'scope[]': ['manual'] })).toEqual([]);
      const { body } = await as().get(path).query({ scope: 'x' }).expect(400);
      expect(body).toEqual({ error: 'scope does not have a valid value' });
    }
  });

  it('continue by keyset', async () => {
    const id = await startPipeline();
    const ids: number[] = [];
    for (const name of ['a', 'b', 'c']) ids.unshift((await openJob(id, { name })).id);
    const path = `/api/v4/projects/${project.id}/jobs`;
    const query = { pagination: 'keyset', per_page: 2, order_by: 'id', sort: 'desc' };
    const first = await as().get(path).query(query).expect(200);
    expect(first.body.map((job: Job) => job.id)).toEqual(ids.slice(0, 2));
    const next = new URL(linksOf(first)['next']!);
    const second = await as().get(`${next.pathname}${next.search}`).expect(200);
    expect([second.body.map((job: Job) => job.id), linksOf(second)]).toEqual([ids.slice(2), {}]);
    const { body } = await as()
      .get(path)
      .query({ ...query, sort: 'asc' })
      .expect(405);
    expect(body).toEqual({ error: 'Keyset pagination is not yet available for this type of request' });
  });

  describe('as lists', () => {
    let id: number;
    beforeEach(async () => {
      id = await startPipeline();
      for (let index = 0; index < 5; index += 1) await openJob(id, { name: `${index}` });
    });
    registerListPagingTests(() => ({
      app: scene.app,
      viewer: me(),
      path: `/api/v4/projects/${project.id}/jobs`,
      rows: 5,
    }));
    registerListPagingTests(() => ({
      app: scene.app,
      viewer: me(),
      path: jobsPath(id),
      query: { include_retried: 'true' },
      rows: 5,
    }));
  });

  registerVisibilityTests({
    app: () => scene.app,
    from: async (level, standing) => {
      const at = await scene.seed.project({ visibility: level });
      return { viewer: await scene.viewer(standing, at), path: `/api/v4/projects/${at.id}/jobs` };
    },
    seen: (standing, level) => (level === 'private' && ['guest', 'planner'].includes(standing) ? 403 : 200),
  });

  it('answer 404 to an unknown job, and to a reported status', async () => {
    const { body: status } = await as()
      .post(`/api/v4/projects/${project.id}/statuses/${shaOf('1')}`)
      .send({ state: 'success' })
      .expect(201);
    for (const id of [987654321, status.id]) {
      const { body } = await as().get(`/api/v4/projects/${project.id}/jobs/${id}`).expect(404);
      expect(body).toEqual({ message: '404 Not found' });
    }
  });
});

describe('a job of another project', () => {
  let job: Job;
  let foreign: DirectoryProject;
  beforeEach(async () => {
    foreign = await scene.project({ developer });
    job = await openJob(await startPipeline());
  });
  registerForeignParentTests({
    app: () => scene.app,
    viewer: me,
    requests: () => [{ method: 'GET', path: `/api/v4/projects/${foreign.id}/jobs/${job.id}` }],
  });
});

it('stores no token', async () => {
  const { token } = await openJob(await startPipeline());
  const rows = await scene.service.database.query<{ text: string }>('select j::text as text from ci_jobs j');
  for (const { text } of rows) expect(text).not.toContain(token.slice('glcbt-'.length));
});

registerProjectDeletionTests({
  service: () => scene.service,
  effect: 'drop-ci-jobs',
  tables: ['ci_jobs'],
  fill: async (agent, at) => {
    const { body } = await agent.post(`/api/v4/projects/${at.id}/pipeline`).send({ ref: 'main' }).expect(201);
    await agent.post(jobsPath(body.id, at)).send({ name: 'x' }).expect(201);
  },
});
