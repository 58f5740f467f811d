import type { DirectoryProject, PushedPipelines } from '@rookery/contracts';
import { pushCompleted } from '@rookery/contracts';
import { Unavailable } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import type { SeededUser } from '@rookery/testing';
import { CollaborationClient } from '../../src/ci/pipelines/collaboration-client';
import { PushPipelineStarts } from '../../src/ci/pushes/push-pipeline-starts';
import { PushPipelineStartsConsumer } from '../../src/ci/pushes/pushes.consumer';
import { COMMITTED_AT, shaOf } from '../support/fake-collaboration';
import { PipelineScene } from '../support/pipelines';
import type { PipelineJson } from '../support/pipelines';

let scene: PipelineScene;
let developer: SeededUser;
let project: DirectoryProject;
let pushes = 0;

beforeAll(async () => {
  scene = await PipelineScene.open();
  developer = await scene.seed.user();
});
afterAll(() => scene.close());
beforeEach(async () => void (project = await scene.project({ developer })));

const BRANCH = { sha: shaOf('2'), ref: 'feature/a', is_tag: false, committed_at: COMMITTED_AT };
const TAG = { ...BRANCH, is_tag: true };

/** Makes collaboration know a push. Returns its id. */
function addPush(over: Partial<PushedPipelines> = {}): number {
  const owner = { project_id: project.id, user_id: developer.id };
  scene.collaboration.pushes.set(++pushes, { ...owner, refs: [BRANCH], variables: [], inputs: {}, ...over });
  return pushes;
}
const startPipelinesOf = (id: number) => scene.service.app.get(PushPipelineStarts).startPipelines(id);
const client = () => scene.app.as(scene.seed.viewer(developer));
const pipelinesPath = ({ id }: DirectoryProject) => `/api/v4/projects/${id}/pipelines`;
const listPipelines = async () => (await client().get(pipelinesPath(project)).expect(200)).body as PipelineJson[];

it('starts one pipeline for each ref, as the user who pushed', async () => {
  expect(await startPipelinesOf(addPush({ refs: [BRANCH, TAG] }))).toBe(2);
  const [tag, branch] = await listPipelines();
  const common = { sha: shaOf('2'), ref: 'feature/a', status: 'created', source: 'push' };
  expect([branch, tag]).toMatchObject([
    { ...common, iid: 1 },
    { ...common, iid: 2 },
  ]);
  const { body } = await client()
    .get(`${pipelinesPath(project)}/${tag!.id}`)
    .expect(200);
  expect(body).toMatchObject({ tag: true, user: { id: developer.id }, committed_at: COMMITTED_AT, started_at: null });
  expect((await client().get(pipelinesPath(project)).query({ source: 'push' }).expect(200)).body).toHaveLength(2);
});

it('reports no variables of a push without any, and repeats a report that failed', async () => {
  scene.collaboration.stored.length = 0;
  await startPipelinesOf(addPush());
  expect(scene.collaboration.stored).toEqual([]);
  const id = addPush({ variables: [{ key: 'A', value: 'x' }] });
  const report = jest.spyOn(scene.service.app.get(CollaborationClient), 'reportStoredVariables');
  report.mockRejectedValueOnce(new Unavailable('collaboration away'));
  await expect(startPipelinesOf(id)).rejects.toThrow(Unavailable);
  expect(await startPipelinesOf(id)).toBe(0);
  report.mockRestore();
  expect(scene.collaboration.stored).toEqual([id]);
  scene.collaboration.stored.length = 0;
});

it('passes on variables and inputs', async () => {
  const pushed = addPush({ variables: [{ key: 'A', value: 'x' }], inputs: { env: 'prod' } });
  await startPipelinesOf(pushed);
  expect(scene.collaboration.stored).toEqual([pushed]);
  const [{ id }] = (await listPipelines()) as [PipelineJson];
  const { body } = await client()
    .get(`${pipelinesPath(project)}/${id}/variables`)
    .expect(200);
  expect(body).toEqual([{ key: 'A', value: 'x', variable_type: 'env_var' }]);
  const rows = await scene.service.database.query('select inputs from pipelines where id = $1', [id]);
  expect(rows).toEqual([{ inputs: { env: 'prod' } }]);
});

it('starts them once, however often the push is announced', async () => {
  const id = addPush({ refs: [BRANCH, TAG] });
  expect((await Promise.all([startPipelinesOf(id), startPipelinesOf(id), startPipelinesOf(id)])).sort()).toEqual([
    0, 0, 2,
  ]);
  expect((await listPipelines()).map(({ iid }) => iid)).toEqual([2, 1]);
  expect(await startPipelinesOf(addPush())).toBe(1);
});

it('starts none for a push without refs for pipelines, and for an unknown one', async () => {
  expect(await startPipelinesOf(addPush({ refs: [] }))).toBe(0);
  expect(await startPipelinesOf(999_999)).toBe(0);
  expect(await listPipelines()).toEqual([]);
});

it('fails, so that the job tries again, while collaboration is away or the project is unknown here', async () => {
  const id = addPush();
  scene.collaboration.isAway = true;
  await expect(startPipelinesOf(id)).rejects.toThrow(Unavailable);
  scene.collaboration.isAway = false;
  await expect(startPipelinesOf(addPush({ project_id: 999_999 }))).rejects.toThrow(Unavailable);
  expect(await startPipelinesOf(id)).toBe(1);
});

it('joins commit statuses of the same commit and ref', async () => {
  await startPipelinesOf(addPush());
  const status = { state: 'success', ref: 'feature/a' };
  await client()
    .post(`/api/v4/projects/${project.id}/statuses/${shaOf('2')}`)
    .send(status)
    .expect(201);
  expect(await listPipelines()).toMatchObject([{ source: 'push', status: 'success' }]);
});

it('is requested by the event of a push with a user', async () => {
  const consumer = scene.service.app.get(PushPipelineStartsConsumer);
  const events = [developer.id, null].map((userId) => ({
    ...pushCompleted.of({
      aggregateId: 1,
      actorId: userId,
      data: {
        ...{ push_id: (pushes += 1), project_id: project.id, user_id: userId, default_branch: 'main' },
        ...{ default_branch_changed: false, pushed_at: '2026-01-01T00:00:00.000Z' },
      },
    }),
    id: '00000000-0000-4000-8000-000000000000',
  }));
  await scene.service.app.get(Work).run((tx) => consumer.completed({ tx, events } as never));
  const jobs = await scene.service.database.query(
    `select state from background_jobs where name = 'start-push-pipelines'`,
  );
  expect(jobs).toEqual([{ state: 'waiting' }]);
});
