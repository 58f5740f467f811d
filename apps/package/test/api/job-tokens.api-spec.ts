import { createHash } from 'node:crypto';
import { INTERNAL_CALLERS, INTERNAL_PATHS } from '@rookery/contracts';
import type { DirectoryProject, ServiceName } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import { internalAuthorization } from '@rookery/testing';
import type { SeededUser } from '@rookery/testing';
import { areAnswered, loseAnswers } from '../support/answers';
import { conanOf, recipeV2, uploadedRecipe } from '../support/conan';
import { DependencyScene } from '../support/dependencies';
import type { RunningJob } from '../support/dependencies';
import { PipelineScene } from '../support/pipelines';
import { upload } from '../support/pypi';

let scene: PipelineScene;
let dependencies: DependencyScene;
let developer: SeededUser;
let project: DirectoryProject;
let job: RunningJob;

beforeAll(async () => {
  scene = await PipelineScene.open();
  dependencies = new DependencyScene(scene);
  developer = await scene.seed.user();
});
beforeEach(async () => {
  project = await scene.project({ developer });
  job = await dependencies.job(scene.seed.viewer(developer), project);
});
afterAll(() => scene.close());

/** The caller whose credential is the token of the job, as the gateway describes it. */
const viewerOfJob = (of = job): Viewer => ({
  ...scene.seed.viewer(developer),
  ...{ tokenId: null, scopes: ['read_repository'], job: { id: of.id, projectId: project.id } },
});
const as = (of = job) => scene.app.as(viewerOfJob(of));
const genericFilePath = (id = project.id): string => `/api/v4/projects/${id}/packages/generic/app/1.0.0/a.txt`;

describe('GET /job', () => {
  it('shows the job of the credential while it runs', async () => {
    const { body } = await as().get('/api/v4/job').expect(200);
    expect(body).toMatchObject({ id: job.id, status: 'running', name: 'sbom', pipeline: { id: job.pipelineId } });
    expect(body).not.toHaveProperty('token');
    await dependencies.end(job);
    expect((await as().get('/api/v4/job').expect(401)).body).toEqual({ message: '401 Unauthorized' });
  });

  it('is 401 to other credentials', async () => {
    for (const viewer of [scene.seed.viewer(developer), scene.seed.anonymous()])
      expect((await scene.app.as(viewer).get('/api/v4/job').expect(401)).body).toEqual({ message: '401 Unauthorized' });
  });
});

describe('the token of a job as a credential', () => {
  it('publishes, reads and lists packages of its project', async () => {
    await as().put(genericFilePath()).send('x').expect(201);
    expect(String((await as().get(genericFilePath()).expect(200)).body)).toBe('x');
    const { body } = await as().get(`/api/v4/projects/${project.id}/packages`).expect(200);
    expect(body).toMatchObject([{ name: 'app', version: '1.0.0' }]);
    const encoded = encodeURIComponent(body[0]._links.web_path.split('/-/')[0].slice(1));
    await as().get(`/api/v4/projects/${encoded}/packages`).expect(200);
  });

  it('repeats an upload of its job after a lost answer, and no upload of another job', async () => {
    const file = `lost_${project.id}-1.0.tar.gz`;
    const send = (of = job) =>
      upload(scene.app, viewerOfJob(of), project, { name: `lost-${project.id}`, content: 'x' });
    await send().expect(201);
    await areAnswered(scene.service, file);
    await send().expect(400);
    await loseAnswers(scene.service, file, -job.id);
    const other = await dependencies.job(scene.seed.viewer(developer), project);
    await send(other).expect(400);
    await send().expect(201);
  });

  it('logs in to the registry of Conan, and publishes recipes', async () => {
    const conan = conanOf(project);
    await as().get(`${conan}/v2/users/check_credentials`).expect(200);
    await uploadedRecipe(scene.app, viewerOfJob(), conan);
    await as()
      .get(`${recipeV2(conan)}/latest`)
      .expect(200);
    await as().delete(recipeV2(conan)).expect(403);
  });

  it('has the rights of its user, and no more', async () => {
    await as().put(genericFilePath()).send('x').expect(201);
    const { body } = await as().get(`/api/v4/projects/${project.id}/packages`).expect(200);
    await as().delete(`/api/v4/projects/${project.id}/packages/${body[0].id}`).expect(403);
  });

  it.each(['private', 'internal', 'public'] as const)('is 403 in another project that is %s', async (visibility) => {
    const other = await scene.project({ developer }, { visibility });
    const { body } = await as().get(genericFilePath(other.id)).expect(403);
    expect(JSON.stringify(body)).toContain('The project does not admit the token of this job');
    const hidden = await scene.project({}, { visibility });
    await as().get(`/api/v4/projects/${hidden.id}/packages`).expect(403);
    await as().get('/api/v4/projects/987654321/packages').expect(403);
  });

  describe('in another project that admits jobs', () => {
    const none = { all: false, projects: [], groups: [] };
    const admitting = (admission: object, over: Partial<DirectoryProject> = {}) =>
      scene.project({ developer }, { job_admission: { ...none, ...admission }, ...over });

    it('works there with the role of its user, if the project is in the list, a group above it, or all are admitted', async () => {
      const above = await scene.seed.group();
      const below = await scene.seed.group({ parent: above });
      project = await scene.project({ developer }, { namespace_id: below.id });
      job = await dependencies.job(scene.seed.viewer(developer), project);
      for (const admission of [
        { projects: [project.id] },
        { groups: [above.id] },
        { groups: [below.id] },
        { all: true },
      ]) {
        const other = await admitting(admission);
        await as().put(genericFilePath(other.id)).send('x').expect(201);
        const { body } = await as().get(`/api/v4/projects/${other.id}/packages`).expect(200);
        await as().delete(`/api/v4/projects/${other.id}/packages/${body[0].id}`).expect(403);
        await as().get(`/api/v4/projects/${other.id}/pipelines`).expect(403);
      }
    });

    it('is 403 if only others are admitted, and in a hidden project that admits all', async () => {
      const group = await scene.seed.group();
      for (const admission of [none, { projects: [project.id + 1e6] }, { groups: [group.id] }]) {
        const other = await admitting(admission, { visibility: 'public' });
        const { body } = await as().get(genericFilePath(other.id)).expect(403);
        expect(JSON.stringify(body)).toContain('The project does not admit the token of this job');
      }
      const hidden = await scene.project({}, { job_admission: { ...none, all: true } });
      await as().get(genericFilePath(hidden.id)).expect(403);
    });
  });

  it.each<['GET' | 'POST', () => string]>([
    ['GET', () => `/api/v4/projects/${project.id}/pipelines`],
    ['POST', () => `/api/v4/projects/${project.id}/pipeline`],
    ['GET', () => `/api/v4/projects/${project.id}/packages/protection/rules`],
    ['GET', () => `/api/v4/projects/${project.id}/triggers`],
    ['GET', () => '/api/v4/packages/npm/app'],
    ['GET', () => '/api/v4/packages/conan/v1/ping'],
    ['GET', () => '/api/v4/groups/1/packages'],
    ['POST', () => `/api/v4/projects/${project.id}/dependency_list_exports`],
  ])('does not open %s %s', async (method, path) => {
    const request = method === 'GET' ? as().get(path()) : as().post(path());
    const { status, body } = await request;
    expect(status).toBe(403);
    expect(JSON.stringify(body)).toContain('The token of a job is not accepted here');
  });

  it('hands in documents of its own job, until the job ends', async () => {
    const hand = (to: RunningJob, name: string) =>
      as()
        .post(`/api/v4/jobs/${to.id}/artifacts`)
        .query({ artifact_type: 'cyclonedx' })
        .attach('file', Buffer.from('{}'), name);
    await hand(job, 'a.json').expect(201);
    const other = await dependencies.job(scene.seed.viewer(developer), project);
    await hand(other, 'b.json').expect(401);
    await dependencies.end(job);
    expect((await hand(job, 'c.json').expect(401)).body).toEqual({ message: '401 Unauthorized' });
  });
});

describe('the internal route for running jobs', () => {
  const ask = (question: object, caller: 'gateway' | ServiceName = 'identity') =>
    scene.app
      .bare()
      .post(INTERNAL_PATHS.runningJob)
      .set('authorization', internalAuthorization(caller, 'package'))
      .send(question);
  const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex');
  const running = async (question: object) => (await ask(question).expect(200)).body.job;

  it('finds a job by token and by id while it runs', async () => {
    const expected = { id: job.id, project_id: project.id, user_id: developer.id };
    expect(await running({ digest: digestOf(job.token) })).toEqual(expected);
    expect(await running({ id: job.id })).toEqual(expected);
    await dependencies.end(job);
    expect(await running({ digest: digestOf(job.token) })).toBeNull();
    expect(await running({ id: job.id })).toBeNull();
  });

  it('finds no job whose token has expired, and none for other questions', async () => {
    await scene.service.database.query(`update ci_jobs set token_until = now() where id = $1`, [job.id]);
    expect(await running({ id: job.id })).toBeNull();
    expect(await running({ digest: digestOf(job.token) })).toBeNull();
    for (const question of [{}, { digest: 'x' }, { digest: 5 }, { id: 'x' }, { id: 987654321 }])
      expect(await running(question)).toBeNull();
  });

  it('answers identity alone', async () => {
    expect(INTERNAL_CALLERS.runningJob).toEqual(['identity']);
    for (const caller of ['gateway', 'collaboration', 'admin', 'import'] as const)
      expect((await ask({ id: job.id }, caller)).status).toBe(403);
    await scene.app.bare().post(INTERNAL_PATHS.runningJob).send({ id: job.id }).expect(401);
  });
});
