import type { DirectoryProject } from '@rookery/contracts';
import type { Role, Viewer } from '@rookery/kernel';
import { registerParameterEncodingTests, registerRefusalOrderTests } from '@rookery/testing';
import type { SeededUser } from '@rookery/testing';
import { COMMITTED_AT, shaOf } from '../support/fake-collaboration';
import { PipelineScene } from '../support/pipelines';

let scene: PipelineScene;
let developer: SeededUser;
let project: DirectoryProject;

beforeAll(async () => {
  scene = await PipelineScene.open();
  developer = await scene.seed.user();
  project = await scene.project({ developer });
  const head = { sha: shaOf('2'), committed_at: COMMITTED_AT };
  scene.collaboration.heads.set(7, { is_found: true, head });
  scene.collaboration.heads.set(8, { is_found: true, head: null });
});
afterAll(() => scene.close());

const as = (viewer: Viewer = scene.seed.viewer(developer)) => scene.app.as(viewer);
const pipelinesPath = (iid: number | string = 7, of: { readonly id: number | string } = project): string =>
  `/api/v4/projects/${of.id}/merge_requests/${iid}/pipelines`;

it('starts a pipeline on the head, one with each call', async () => {
  const fresh = await scene.project({ developer });
  const { status, body } = await as().post(pipelinesPath(7, fresh));
  expect([status, body]).toEqual([
    200,
    expect.objectContaining({
      ...{ id: expect.any(Number), iid: 1, project_id: fresh.id, sha: shaOf('2'), ref: 'refs/merge-requests/7/head' },
      ...{ status: 'created', source: 'merge_request_event', tag: false, committed_at: COMMITTED_AT },
      user: expect.objectContaining({ id: developer.id }),
    }),
  ]);
  expect((await as().post(pipelinesPath(7, fresh)).expect(200)).body).toMatchObject({ iid: 2 });
  const [event] = await scene.service.database.query(
    `select payload from outbox where type like '%.pipeline.changed.v1' and aggregate_id = $1`,
    [(body as { id: number }).id],
  );
  expect(event).toMatchObject({ payload: { ref: 'refs/merge-requests/7/head', source: 'merge_request_event' } });
});

it('takes the encoded path of the project', async () => {
  const { path_with_namespace: path } = (
    await scene.service.database.query<{ path_with_namespace: string }>(
      `select n.full_path || '/' || p.path as path_with_namespace from directory_projects p
       join directory_namespaces n on n.id = p.namespace_id where p.id = $1`,
      [project.id],
    )
  )[0]!;
  await as()
    .post(pipelinesPath(7, { id: encodeURIComponent(path) }))
    .expect(200);
});

it('answers 202 with the pipeline if async is set', async () => {
  const { body, headers } = await as().post(pipelinesPath()).send({ async: true }).expect(202);
  expect(body).toMatchObject({ status: 'created', source: 'merge_request_event' });
  expect(headers['poll-interval']).toBe('1000');
});

it('is listed by its ref and source, and not among branches', async () => {
  const fresh = await scene.project({ developer });
  const { body } = await as().post(pipelinesPath(7, fresh)).expect(200);
  const { id } = body as { id: number };
  const found = async (query: object): Promise<number[]> => {
    const response = await as().get(`/api/v4/projects/${fresh.id}/pipelines`).query(query).expect(200);
    return (response.body as { id: number }[]).map((one) => one.id);
  };
  expect(await found({ ref: 'refs/merge-requests/7/head' })).toEqual([id]);
  expect(await found({ source: 'merge_request_event' })).toEqual([id]);
  expect(await found({ scope: 'branches' })).toEqual([]);
});

it.each<[string, number | string, number, object]>([
  ['an unknown merge request', 6, 404, { message: '404 Not found' }],
  ['one without a head for pipelines', 8, 405, { message: '405 Method Not Allowed' }],
  ['a number that is none', 'x', 400, { error: 'merge_request_iid is invalid' }],
])('refuses %s', async (_, iid, status, body) => {
  const response = await as().post(pipelinesPath(iid));
  expect([response.status, response.body]).toEqual([status, body]);
});

it.each<[Role | 'anonymous' | 'outsider' | 'admin', number]>([
  ['anonymous', 401],
  ['outsider', 404],
  ['guest', 403],
  ['planner', 403],
  ['reporter', 403],
  ['developer', 200],
  ['maintainer', 200],
  ['owner', 200],
  ['admin', 200],
])('answers %s of a private project with %d', async (standing, status) => {
  const response = await as(await scene.viewer(standing, project)).post(pipelinesPath());
  expect(response.status).toBe(status);
});

it('refuses archived projects and projects without a repository', async () => {
  for (const over of [{ archived: true }, { repository_access_level: 'disabled' as const }]) {
    const closed = await scene.project({ developer }, over);
    const { status } = await as().post(pipelinesPath(7, closed));
    expect([over, status]).toEqual([over, 403]);
  }
});

it('answers 503 while collaboration is away', async () => {
  scene.collaboration.isAway = true;
  const { status, body } = await as().post(pipelinesPath());
  scene.collaboration.isAway = false;
  expect([status, body]).toEqual([503, { message: '503 Service Unavailable' }]);
});

registerParameterEncodingTests({
  app: () => scene.app,
  to: () => ({
    viewer: scene.seed.viewer(developer),
    method: 'POST',
    path: pipelinesPath(),
    params: { async: 'false' },
  }),
  seen: (pipeline) => pipeline['ref'],
  expected: 'refs/merge-requests/7/head',
});

registerRefusalOrderTests(
  () => scene.app,
  async () => {
    const reporter = await scene.seed.user();
    await scene.seed.member(reporter, project, 'reporter');
    return {
      method: 'POST',
      path: pipelinesPath(),
      good: {},
      bad: { async: 'perhaps' },
      anonymous: scene.seed.anonymous(),
      outsider: scene.seed.viewer(await scene.seed.user()),
      reader: scene.seed.viewer(reporter),
      allowed: scene.seed.viewer(developer),
    };
  },
);
