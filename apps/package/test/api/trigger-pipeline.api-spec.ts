import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import { registerParameterEncodingTests } from '@rookery/testing';
import type { SeededUser } from '@rookery/testing';
import { shaOf } from '../support/fake-collaboration';
import { PipelineScene } from '../support/pipelines';

let scene: PipelineScene;
let maintainer: SeededUser;
let project: DirectoryProject;
let token: string;

beforeAll(async () => {
  scene = await PipelineScene.open();
  maintainer = await scene.seed.user();
  project = await scene.project({ maintainer });
  token = (await createTrigger(project)).token;
});
afterAll(() => scene.close());

const me = (): Viewer => scene.seed.viewer(maintainer);
const anonymous = () => scene.app.as(scene.seed.anonymous());
const triggerPath = (of: DirectoryProject) => `/api/v4/projects/${of.id}/trigger/pipeline`;

async function createTrigger(of: DirectoryProject, params: object = {}): Promise<{ id: number; token: string }> {
  const { body } = await scene.app
    .as(me())
    .post(`/api/v4/projects/${of.id}/triggers`)
    .send({ description: 'x', ...params })
    .expect(201);
  return body as { id: number; token: string };
}

const listVariables = async (id: number) =>
  (await scene.app.as(me()).get(`/api/v4/projects/${project.id}/pipelines/${id}/variables`).expect(200)).body;

describe('POST /projects/:id/trigger/pipeline', () => {
  it('starts a pipeline as the owner of the token, without another credential', async () => {
    const at = await scene.project({ maintainer });
    const own = await createTrigger(at);
    const { body } = await anonymous().post(triggerPath(at)).send({ ref: 'main', token: own.token }).expect(201);
    expect(body).toMatchObject({ iid: 1, source: 'trigger', ref: 'main', sha: shaOf('1'), status: 'created' });
    expect(body.user).toMatchObject({ id: maintainer.id });
    const { body: used } = await scene.app.as(me()).get(`/api/v4/projects/${at.id}/triggers/${own.id}`).expect(200);
    expect(used.last_used).toEqual(expect.any(String));
  });

  it('keeps the variables and the request itself', async () => {
    const params = { ref: 'v1', token, variables: { A: 'x', B: '1' }, inputs: { n: 1 } };
    const { body } = await anonymous().post(triggerPath(project)).send(params).expect(201);
    const variables = await listVariables(body.id);
    expect(variables).toEqual([
      { key: 'A', value: 'x', variable_type: 'env_var' },
      { key: 'B', value: '1', variable_type: 'env_var' },
      {
        key: 'TRIGGER_PAYLOAD',
        value: `{"ref":"v1","id":"${project.id}","variables":{"A":"x","B":"1"},"inputs":{"n":1}}`,
        variable_type: 'file',
      },
    ]);
  });

  it('takes the ref from the path, and ignores the body of a webhook', async () => {
    const { body } = await anonymous()
      .post(`/api/v4/projects/${project.id}/ref/feature%2Fa/trigger/pipeline`)
      .query({ token })
      .send({ object_kind: 'push', ref: 'refs/heads/main', commits: [] })
      .expect(201);
    expect(body).toMatchObject({ ref: 'feature/a', sha: shaOf('2') });
    const [payload] = await listVariables(body.id);
    expect(JSON.parse(payload.value)).toEqual({ ref: 'feature/a', id: `${project.id}`, variables: {} });
  });

  it('finds the project by its encoded path, ignoring case', async () => {
    const group = await scene.seed.group({ path: 'heron' });
    const at = await scene.seed.project({ namespace_id: group.id, path: 'marsh', visibility: 'private' });
    await scene.seed.member(maintainer, at, 'maintainer');
    const own = await createTrigger(at);
    await anonymous()
      .post('/api/v4/projects/Heron%2FMarsh/trigger/pipeline')
      .send({ ref: 'main', token: own.token })
      .expect(201);
  });

  it('is not disturbed by a credential of the request', async () => {
    const stranger = { ...scene.seed.viewer(await scene.seed.user()), scopes: ['read_registry'] };
    const { body } = await scene.app.as(stranger).post(triggerPath(project)).send({ ref: 'main', token }).expect(201);
    expect(body.user).toMatchObject({ id: maintainer.id });
  });

  registerParameterEncodingTests({
    app: () => scene.app,
    to: () => ({
      viewer: scene.seed.anonymous(),
      method: 'POST',
      path: triggerPath(project),
      params: { ref: 'main', token, variables: { A: 'x' } },
    }),
    seen: (pipeline) => [pipeline['ref'], pipeline['source']],
    expected: ['main', 'trigger'],
  });

  it.each([
    [{ ref: undefined, token: undefined }, { error: 'ref is missing, token is missing' }],
    [{ ref: '' }, { error: 'ref is empty' }],
    [{ variables: 'x' }, { error: 'variables is invalid' }],
    [{ variables: ['x'] }, { error: 'variables is invalid' }],
    [{ variables: { A: 1 } }, { message: 'variables needs to be a map of key-valued strings' }],
    [{ variables: { A: ['x'] } }, { message: 'variables needs to be a map of key-valued strings' }],
    [{ variables: { A: { b: 'x' } } }, { message: 'variables needs to be a map of key-valued strings' }],
    [{ variables: { A: null } }, { message: 'variables needs to be a map of key-valued strings' }],
    [{ ref: 'gone' }, { message: { base: ['Reference not found'] } }],
    [{ variables: { TRIGGER_PAYLOAD: 'x' } }, { message: { base: ['Duplicate variable name: TRIGGER_PAYLOAD'] } }],
    [
      { inputs: Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`i${index}`, 'x'])) },
      { message: { base: ['There cannot be more than 20 inputs'] } },
    ],
  ])('answers 400 to %j', async (params, body) => {
    const response = await anonymous()
      .post(triggerPath(project))
      .send({ ref: 'main', token, ...params });
    expect([response.status, response.body]).toEqual([400, body]);
  });

  it('refuses webhooks of pipelines, which would loop', async () => {
    const send = (event: string) =>
      anonymous().post(triggerPath(project)).set('X-Gitlab-Event', event).send({ ref: 'main', token });
    expect((await send('Pipeline Hook').expect(403)).body).toEqual({ message: '403 Forbidden' });
    await send('Push Hook').expect(201);
  });

  it('answers 404 to unknown tokens and projects, and to tokens of other projects', async () => {
    const foreign = await scene.project({ maintainer }, { visibility: 'public' });
    const expired = await createTrigger(project, { expires_at: '2020-01-01' });
    const cases: [string, string][] = [
      [triggerPath(project), 'glptt-unknown'],
      [triggerPath(project), ''],
      [triggerPath(project), expired.token],
      [triggerPath(foreign), token],
      ['/api/v4/projects/987654321/trigger/pipeline', token],
      ['/api/v4/projects/no%2Fwhere/trigger/pipeline', token],
      [triggerPath(project), 'glcbt-unknown'],
    ];
    for (const [path, given] of cases) {
      const { status, body } = await anonymous().post(path).send({ ref: 'main', token: given });
      expect([path, given, status, body]).toEqual([path, given, 404, { message: '404 Not Found' }]);
    }
  });

  it('refuses tokens whose owner may not run pipelines any more', async () => {
    const refused = { message: { base: ['Insufficient permissions to create a new pipeline'] } };
    const cases: [(at: DirectoryProject, owner: SeededUser) => Promise<unknown>][] = [
      [(_, owner) => scene.seed.remove('users', owner.id)],
      [(_, { namespace_id: _own, ...owner }) => scene.seed.put('users', { ...owner, state: 'blocked' })],
      [(at) => scene.seed.put('projects', { ...at, archived: true })],
      [(at) => scene.seed.put('projects', { ...at, repository_access_level: 'disabled' })],
    ];
    for (const [change] of cases) {
      const owner = await scene.seed.user();
      const at = await scene.project({ maintainer: owner });
      const { body: own } = await scene.app
        .as(scene.seed.viewer(owner))
        .post(`/api/v4/projects/${at.id}/triggers`)
        .send({ description: 'x' })
        .expect(201);
      await change(at, owner);
      const { status, body } = await anonymous().post(triggerPath(at)).send({ ref: 'main', token: own.token });
      expect([status, body]).toEqual([400, refused]);
    }
  });

  it('starts 50 pipelines for 50 concurrent requests', async () => {
    const at = await scene.project({ maintainer });
    const own = await createTrigger(at);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => anonymous().post(triggerPath(at)).send({ ref: 'main', token: own.token })),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    const iids = answers.map(({ body }) => body.iid as number).sort((a, b) => a - b);
    expect(iids).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
  });
});

describe('with the token of a job', () => {
  const open = async (): Promise<{ id: number; token: string; pipeline: { id: number } }> => {
    const { id } = await scene.pipeline(me(), project);
    const { body } = await scene.app
      .as(me())
      .post(`/api/v4/projects/${project.id}/pipelines/${id}/jobs`)
      .send({ name: 'deploy' })
      .expect(201);
    return body as Awaited<ReturnType<typeof open>>;
  };

  it('starts a pipeline of the same project as the user of the job', async () => {
    const job = await open();
    const { body } = await anonymous().post(triggerPath(project)).send({ ref: 'main', token: job.token }).expect(201);
    expect(body).toMatchObject({ source: 'pipeline', user: expect.objectContaining({ id: maintainer.id }) });
    const rows = await scene.service.database.query('select upstream_job_id from pipelines where id = $1', [body.id]);
    expect(rows).toEqual([{ upstream_job_id: job.id }]);
  });

  it('starts pipelines of projects that admit the project of the job, if its user may', async () => {
    const job = await open();
    const admits = { job_admission: { all: false, projects: [project.id], groups: [] } };
    const admitting = await scene.project({ maintainer }, admits);
    const start = (of: DirectoryProject) => anonymous().post(triggerPath(of)).send({ ref: 'main', token: job.token });
    expect((await start(admitting).expect(201)).body).toMatchObject({ project_id: admitting.id, source: 'pipeline' });
    const ofReporters = await scene.project({ reporter: maintainer }, admits);
    expect((await start(ofReporters).expect(400)).body).toEqual({
      message: { base: ['Insufficient permissions to create a new pipeline'] },
    });
    expect((await start(await scene.project({}, admits)).expect(404)).body).toEqual({ message: '404 Not Found' });
  });

  it('starts nothing if the job ends while its commit is looked for', async () => {
    const job = await open();
    const ended = { token: job.token, state: 'success' };
    scene.collaboration.beforeNext = async () => anonymous().put(`/api/v4/jobs/${job.id}`).send(ended).expect(200);
    const { body } = await anonymous().post(triggerPath(project)).send({ ref: 'main', token: job.token }).expect(401);
    expect(body).toEqual({ message: '401 Unauthorized - Job is not running' });
  });

  it('is refused in other projects', async () => {
    const foreign = await scene.project({ maintainer });
    const job = await open();
    const { body } = await anonymous().post(triggerPath(foreign)).send({ ref: 'main', token: job.token }).expect(404);
    expect(body).toEqual({ message: '404 Not Found' });
  });

  it('is refused once the job has ended', async () => {
    const job = await open();
    await anonymous().put(`/api/v4/jobs/${job.id}`).send({ token: job.token, state: 'success' }).expect(200);
    const { status, body } = await anonymous().post(triggerPath(project)).send({ ref: 'main', token: job.token });
    expect([status, body]).toEqual([401, { message: '401 Unauthorized - Job is not running' }]);
  });
});
