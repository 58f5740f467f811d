import type { DirectoryProject } from '@rookery/contracts';
import type { SeededUser } from '@rookery/testing';
import { shaOf } from '../support/fake-collaboration';
import { PipelineScene } from '../support/pipelines';

/** Requests of programs that report to a forge, in their order and encoding. Source: reference identity-and-import 7.4. */
let scene: PipelineScene;
let bot: SeededUser;
let project: DirectoryProject;
let encoded: string;

beforeAll(async () => {
  scene = await PipelineScene.open();
  bot = await scene.seed.user();
});
beforeEach(async () => {
  project = await scene.project({ developer: bot });
  const [row] = await scene.service.database.query<{ path: string }>(
    `select n.full_path || '/' || p.path as path from directory_projects p
     join directory_namespaces n on n.id = p.namespace_id where p.id = $1`,
    [project.id],
  );
  encoded = encodeURIComponent(row!.path);
});
afterAll(() => scene.close());

const as = () => scene.app.as(scene.seed.viewer(bot));
const main = shaOf('1');

test('renovate repeats a pending status, and goes on after the refusal that it knows', async () => {
  const statuses = `/api/v4/projects/${encoded}/repository/commits/${main}/statuses`;
  expect((await as().get(statuses).expect(200)).body).toEqual([]);
  const status = { context: 'renovate/stability-days', description: 'Updates have not met minimum release age' };
  const report = (state: string) =>
    as()
      .post(`/api/v4/projects/${encoded}/statuses/${main}`)
      .send({ ...status, state, target_url: 'https://docs.example/' });
  const first = await report('pending').expect(201);
  const again = await report('pending').expect(400);
  expect(again.body.message).toMatch(/^Cannot transition status via :enqueue from :pending/);
  await report('success').expect(201);
  const { body } = await as().get(statuses).expect(200);
  expect(body).toMatchObject([{ id: first.body.id, name: 'renovate/stability-days', status: 'success' }]);
});

test("flux's notifier looks for its status by name before it writes", async () => {
  const name = 'kustomization/apps/0c9c2e41';
  const look = () =>
    as().get(`/api/v4/projects/${encoded}/repository/commits/${main}/statuses`).query({ name }).expect(200);
  expect((await look()).body).toEqual([]);
  const write = (state: string) =>
    as()
      .post(`/api/v4/projects/${encoded}/statuses/${main}`)
      .send({ state, name, description: `reconciliation ${state}` });
  await write('running').expect(201);
  await write('success').expect(201);
  await write('failed').expect(201);
  const { body, headers } = await look();
  expect(body).toMatchObject([{ name, status: 'failed', description: 'reconciliation failed' }]);
  expect(headers['x-per-page']).toBe('20');
});

test('atlantis reports plan and apply on the source branch by form, into one pipeline', async () => {
  const sha = shaOf('2');
  const report = (context: string, state: string) =>
    as()
      .post(`/api/v4/projects/${encoded}/statuses/${sha}`)
      .type('form')
      .send({ state, context, ref: 'feature/a', description: `${context} ${state}`, target_url: 'https://a.example/1' })
      .expect(201);
  const { body: plan } = await report('atlantis/plan', 'running');
  const { body: apply } = await report('atlantis/apply', 'pending');
  expect(apply.pipeline_id).toBe(plan.pipeline_id);
  await report('atlantis/plan', 'success');
  const pipelineOf = async () =>
    (await as().get(`/api/v4/projects/${project.id}/pipelines/${plan.pipeline_id}`).expect(200)).body;
  expect(await pipelineOf()).toMatchObject({ ref: 'feature/a', sha, status: 'running' });
  await report('atlantis/apply', 'success');
  expect(await pipelineOf()).toMatchObject({ status: 'success' });
});

test("Jenkins' plugin reports by id, and its merge request pipeline is another than that of the branch", async () => {
  const report = (ref: string, state: string) =>
    as()
      .post(`/api/v4/projects/${project.id}/statuses/${main}`)
      .send({ state, ref, name: 'jenkinsci/pr-head', target_url: 'https://jenkins.example/job/1/', description: 'x' });
  const { body: branch } = await report('main', 'running').expect(201);
  const repeated = await report('main', 'running').expect(400);
  expect(repeated.body.message).toMatch(/^Cannot transition status via :run from :running/);
  const { body: head } = await report('refs/merge-requests/1/head', 'running').expect(201);
  expect(head.pipeline_id).not.toBe(branch.pipeline_id);
  await report('main', 'success').expect(201);
  const { body: pipeline } = await as()
    .get(`/api/v4/projects/${project.id}/pipelines/${branch.pipeline_id}`)
    .expect(200);
  expect(pipeline).toMatchObject({ status: 'success', source: 'external', ref: 'main' });
});

test('a viewer of pipelines reads jobs, then bridges and reports, which are empty', async () => {
  const { id } = await scene.pipeline(scene.seed.viewer(bot), project);
  const at = `/api/v4/projects/${project.id}/pipelines/${id}`;
  await as().post(`${at}/jobs`).send({ name: 'build' }).expect(201);
  const jobs = await as().get(`${at}/jobs?scope[]=failed&scope[]=running&include_retried=true`).expect(200);
  expect(jobs.body).toMatchObject([{ name: 'build', status: 'running' }]);
  expect((await as().get(`${at}/bridges`).expect(200)).body).toEqual([]);
  expect((await as().get(`${at}/test_report`).expect(200)).body).toMatchObject({ total_count: 0, test_suites: [] });
  expect((await as().get(`${at}/test_report_summary`).expect(200)).body).toMatchObject({ total: { count: 0 } });
});
