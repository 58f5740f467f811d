import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import {
  registerForeignParentTests,
  registerListPagingTests,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
  registerVisibilityTests,
} from '@rookery/testing';
import type { SeededUser } from '@rookery/testing';
import type { Response } from 'supertest';
import { shaOf } from '../support/fake-collaboration';
import { PipelineScene } from '../support/pipelines';

let scene: PipelineScene;
let developer: SeededUser;
let colleague: SeededUser;
let project: DirectoryProject;

beforeAll(async () => {
  scene = await PipelineScene.open();
  [developer, colleague] = [await scene.seed.user(), await scene.seed.user()];
});
beforeEach(async () => {
  project = await scene.project({ developer });
  await scene.seed.member(colleague, project, 'developer');
});
afterAll(() => scene.close());

const MAIN = shaOf('1');
const me = (): Viewer => scene.seed.viewer(developer);
const as = (viewer: Viewer = me()) => scene.app.as(viewer);
const statusesPath = (sha: string, of = project) => `/api/v4/projects/${of.id}/repository/commits/${sha}/statuses`;
const reportsPath = (sha: string, of = project) => `/api/v4/projects/${of.id}/statuses/${sha}`;
const post = (params: object, sha = MAIN, viewer = me()): Promise<Response> =>
  as(viewer).post(reportsPath(sha)).send(params);
const statusAndBody = ({ status, body }: Response): [number, unknown] => [status, body];

interface CommitStatus {
  readonly id: number;
  readonly pipeline_id: number;
  readonly [name: string]: unknown;
}
async function reportStatus(params: object, sha = MAIN, viewer = me()): Promise<CommitStatus> {
  const { status, body, text } = await post(params, sha, viewer);
  expect(status === 201 ? '' : text).toBe('');
  return body as CommitStatus;
}
const listPipelines = async () => (await as().get(`/api/v4/projects/${project.id}/pipelines`).expect(200)).body;
const showPipeline = async (id: number) =>
  (await as().get(`/api/v4/projects/${project.id}/pipelines/${id}`).expect(200)).body;

describe('POST /projects/:id/statuses/:sha', () => {
  it('adds a status and makes a pipeline for it', async () => {
    const body = await reportStatus({ state: 'pending' });
    expect(body).toEqual({
      id: expect.any(Number),
      sha: MAIN,
      ref: 'main',
      status: 'pending',
      name: 'default',
      target_url: null,
      description: null,
      created_at: expect.stringMatching(/Z$/),
      started_at: null,
      finished_at: null,
      allow_failure: false,
      coverage: null,
      pipeline_id: expect.any(Number),
      author: expect.objectContaining({ id: developer.id, username: developer.username }),
    });
    expect(await showPipeline(body.pipeline_id)).toMatchObject({
      ...{ iid: 1, source: 'external', sha: MAIN, ref: 'main', tag: false, status: 'pending' },
      user: expect.objectContaining({ id: developer.id }),
    });
  });

  it('stores every field, and keeps those that a later report omits', async () => {
    const fields = { target_url: 'https://ci.example/1', description: 'Builds', coverage: 81.5 };
    const first = await reportStatus({ state: 'running', context: 'build', ref: 'v1', ...fields });
    expect(first).toMatchObject({ name: 'build', ref: 'v1', ...fields, started_at: expect.any(String) });
    expect(await showPipeline(first.pipeline_id)).toMatchObject({ tag: true, ref: 'v1', coverage: '81.5' });
    const last = await reportStatus({ state: 'success', name: 'build', context: 'other', ref: 'v1', coverage: 30 });
    expect(last).toMatchObject({ id: first.id, status: 'success', ...fields, coverage: 30 });
    expect(await showPipeline(first.pipeline_id)).toMatchObject({
      ...{ status: 'success', coverage: '30.0', duration: expect.any(Number), queued_duration: expect.any(Number) },
      detailed_status: expect.objectContaining({ icon: 'status_success', text: 'Passed', label: 'passed' }),
    });
  });

  it('takes abbreviated ids, branches and tags as the commit', async () => {
    expect((await reportStatus({ state: 'pending', name: 'a' }, MAIN.slice(0, 8))).sha).toBe(MAIN);
    expect((await reportStatus({ state: 'pending', name: 'b' }, 'feature%2Fa')).sha).toBe(shaOf('2'));
    expect(await reportStatus({ state: 'pending', name: 'c' }, 'v1')).toMatchObject({
      sha: shaOf('3'),
      ref: 'feature/a',
    });
  });

  it('joins the newest pipeline of the commit, of any ref unless one is named', async () => {
    const branch = await scene.pipeline(me(), project);
    const other = await reportStatus({ state: 'success', name: 'a', ref: 'side' });
    expect(other.pipeline_id).not.toBe(branch.id);
    expect(await reportStatus({ state: 'success', name: 'b' })).toMatchObject({
      pipeline_id: other.pipeline_id,
      ref: 'side',
    });
    expect(await reportStatus({ state: 'success', name: 'c', ref: 'main' })).toMatchObject({ pipeline_id: branch.id });
    expect(await reportStatus({ state: 'success', name: 'd', pipeline_id: branch.id })).toMatchObject({
      ...{ pipeline_id: branch.id, ref: 'main' },
    });
    expect(await listPipelines()).toHaveLength(2);
  });

  it('makes a pipeline on a ref that does not exist', async () => {
    const { pipeline_id: id } = await reportStatus({ state: 'success', ref: 'refs/merge-requests/1/head' }, shaOf('4'));
    expect(await showPipeline(id)).toMatchObject({ ref: 'refs/merge-requests/1/head', tag: false, source: 'external' });
  });

  it('changes the open status of the same user, name and ref only', async () => {
    const own = await reportStatus({ state: 'pending', name: 'a' });
    expect((await reportStatus({ state: 'running', name: 'a' })).id).toBe(own.id);
    const others = [
      await reportStatus({ state: 'running', name: 'b' }),
      await reportStatus({ state: 'running', name: 'a', ref: 'side' }),
      await reportStatus({ state: 'running', name: 'a', ref: 'main' }, MAIN, scene.seed.viewer(colleague)),
    ];
    expect(new Set([own.id, ...others.map(({ id }) => id)]).size).toBe(4);
  });

  it('adds a status after the end of an earlier one, which counts as retried', async () => {
    const first = await reportStatus({ state: 'failed', name: 'a' });
    expect(await showPipeline(first.pipeline_id)).toMatchObject({ status: 'failed', finished_at: expect.any(String) });
    const second = await reportStatus({ state: 'failed', name: 'a' });
    const third = await reportStatus({ state: 'success', name: 'a' });
    expect(new Set([first.id, second.id, third.id]).size).toBe(3);
    expect(await showPipeline(first.pipeline_id)).toMatchObject({ status: 'success' });
    const shown = async (query: object) =>
      (await as().get(statusesPath(MAIN)).query(query).expect(200)).body.map(({ id }: CommitStatus) => id);
    expect(await shown({})).toEqual([third.id]);
    expect(await shown({ all: true })).toEqual([first.id, second.id, third.id]);
  });

  const refused = (event: string, from: string) =>
    `Cannot transition status via :${event} from :${from} (Reason(s): Status cannot transition via "${event}")`;
  it.each([
    ['pending', 'pending', refused('enqueue', 'pending')],
    ['running', 'running', refused('run', 'running')],
    ['running', 'pending', refused('enqueue', 'running')],
    ['running', 'skipped', refused('skip', 'running')],
  ])('after %s refuses %s, and changes nothing', async (from, state, message) => {
    const open = await reportStatus({ state: from, description: 'before' });
    expect(statusAndBody(await post({ state, description: 'after' }))).toEqual([400, { message }]);
    expect((await as().get(statusesPath(MAIN)).expect(200)).body).toEqual([open]);
  });

  it.each([
    ['pending', ['running', 'success', 'failed', 'canceled', 'skipped']],
    ['running', ['success', 'failed', 'canceled']],
  ])('after %s accepts %j', async (from, states) => {
    for (const state of states) {
      const { id } = await reportStatus({ state: from, name: state });
      expect(await reportStatus({ state, name: state })).toMatchObject({ id, status: state });
    }
  });

  it.each<[Readonly<Record<string, unknown>>, unknown]>([
    [{ state: undefined }, { error: 'state is missing' }],
    [{ state: 'manual' }, { error: 'state does not have a valid value' }],
    [{ coverage: 'high' }, { error: 'coverage is invalid' }],
    [{ coverage: 1e308 }, { error: 'coverage does not have a valid value' }],
    [{ pipeline_id: 'x' }, { error: 'pipeline_id is invalid' }],
    [{ target_url: 'javascript:x' }, { message: { target_url: ['is blocked: Only allowed schemes are http, https'] } }],
    [{ target_url: 'x' }, { message: { target_url: ['must be a valid URL'] } }],
    ...['ref', 'name', 'description', 'target_url'].map((field): [Readonly<Record<string, unknown>>, unknown] => [
      { [field]: 'x'.repeat(256) },
      { message: { [field]: ['is too long (maximum is 255 characters)'] } },
    ]),
  ])('answers 400 to %j', async (params, body) => {
    expect(statusAndBody(await post({ state: 'success', ...params }))).toEqual([400, body]);
  });

  it('answers 404 to unknown commits, to commits without a branch and to pipelines that do not fit', async () => {
    const message = (text: string) => [404, { message: `404 ${text} Not Found` }];
    expect(statusAndBody(await post({ state: 'success' }, shaOf('9')))).toEqual(message('Commit'));
    expect(statusAndBody(await post({ state: 'success', ref: 'main' }, 'gone'))).toEqual(message('Commit'));
    expect(statusAndBody(await post({ state: 'success' }, shaOf('4')))).toEqual(message('References for commit'));
    const { id } = await scene.pipeline(me(), project);
    const misfit = message('Pipeline for pipeline_id, sha and ref');
    expect(statusAndBody(await post({ state: 'success', pipeline_id: id + 1 }))).toEqual(misfit);
    expect(statusAndBody(await post({ state: 'success', pipeline_id: id }, shaOf('2')))).toEqual(misfit);
    expect(statusAndBody(await post({ state: 'success', pipeline_id: id, ref: 'side' }))).toEqual(misfit);
    expect(await listPipelines()).toHaveLength(1);
  });

  it('needs collaboration for the first status of a commit only', async () => {
    await reportStatus({ state: 'pending', name: 'a' });
    scene.collaboration.isAway = true;
    const answers = [
      await post({ state: 'pending', name: 'b' }),
      await as().get(statusesPath(MAIN)),
      await post({ state: 'pending' }, shaOf('2')),
      await as().get(statusesPath(shaOf('2'))),
    ];
    scene.collaboration.isAway = false;
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 503, 503]);
  });

  it('makes one pipeline for 100 concurrent statuses of a commit, and loses none', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `job ${index}`);
    const answers = await Promise.all(names.map((name) => post({ state: 'success', name })));
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 201));
    const all = await listPipelines();
    expect(all).toMatchObject([{ status: 'success', source: 'external' }]);
    expect(new Set(answers.map(({ body }) => body.pipeline_id))).toEqual(new Set([all[0].id]));
    const { body } = await as().get(statusesPath(MAIN)).query({ per_page: 100 }).expect(200);
    expect(body.map(({ name }: CommitStatus) => name).sort()).toEqual(names.sort());
  });

  it('keeps one open status for concurrent reports of the same', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => post({ state: 'running' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 9 }, () => 400)]);
    expect((await as().get(statusesPath(MAIN)).query({ all: true }).expect(200)).body).toHaveLength(1);
  });

  registerParameterEncodingTests({
    app: () => scene.app,
    to: (encoding) => ({
      ...{ viewer: me(), method: 'POST', path: reportsPath(MAIN) },
      params: { state: 'running', name: encoding, coverage: 12.5 },
    }),
    seen: (status) => [status['status'], status['coverage']],
    expected: ['running', 12.5],
  });

  registerRefusalOrderTests(
    () => scene.app,
    async () => {
      const at = await scene.project({ developer });
      const reporter = await scene.seed.user();
      await scene.seed.member(reporter, at, 'reporter');
      return {
        ...{ method: 'POST', path: reportsPath(MAIN, at), good: { state: 'success' }, bad: { state: 'x' } },
        anonymous: scene.seed.anonymous(),
        outsider: scene.seed.viewer(await scene.seed.user()),
        reader: scene.seed.viewer(reporter),
        allowed: me(),
      };
    },
  );
});

describe('GET /projects/:id/repository/commits/:sha/statuses', () => {
  it('filters and orders', async () => {
    const first = await reportStatus({ state: 'success', name: 'a', ref: 'main' });
    const second = await reportStatus({ state: 'success', name: 'b', ref: 'side' });
    const third = await reportStatus({ state: 'success', name: 'c', ref: 'main' });
    await reportStatus({ state: 'success', name: 'a' }, shaOf('2'));
    const { body: job } = await as()
      .post(`/api/v4/projects/${project.id}/pipelines/${first.pipeline_id}/jobs`)
      .send({ name: 'd' })
      .expect(201);
    const ids = [first.id, second.id, third.id, job.id];
    const list = async (query: object) =>
      (await as().get(statusesPath(MAIN)).query(query).expect(200)).body.map(({ id }: CommitStatus) => ids.indexOf(id));
    const cases: [object, number[]][] = [
      [{}, [0, 1, 2, 3]],
      [{ sort: 'desc' }, [3, 2, 1, 0]],
      [{ ref: 'side' }, [1]],
      [{ name: 'c' }, [2]],
      [{ name: 'none' }, []],
      [{ stage: 'external' }, [0, 1, 2]],
      [{ stage: 'test' }, [3]],
      [{ pipeline_id: second.pipeline_id }, [1]],
      [{ order_by: 'pipeline_id', sort: 'desc' }, [1, 3, 2, 0]],
    ];
    for (const [query, found] of cases) expect([query, await list(query)]).toEqual([query, found]);
  });

  it('shows no status of a commit without any, also by other names of the commit', async () => {
    for (const sha of [MAIN, 'main', MAIN.slice(0, 10)])
      expect((await as().get(statusesPath(sha)).expect(200)).body).toEqual([]);
    const status = await reportStatus({ state: 'success' });
    expect((await as().get(statusesPath('main')).expect(200)).body).toEqual([status]);
  });

  it('answers 404 to an unknown commit', async () => {
    expect(
      (
        await as()
          .get(statusesPath(shaOf('9')))
          .expect(404)
      ).body,
    ).toEqual({ message: '404 Commit Not Found' });
  });

  it.each([
    [{ order_by: 'name' }, 'order_by does not have a valid value'],
    [{ sort: 'up' }, 'sort does not have a valid value'],
    [{ all: 'x' }, 'all is invalid'],
    [{ pipeline_id: 'x' }, 'pipeline_id is invalid'],
  ])('answers 400 to %j', async (query, error) => {
    expect(statusAndBody(await as().get(statusesPath(MAIN)).query(query))).toEqual([400, { error }]);
  });

  describe('as a list', () => {
    beforeEach(async () => {
      for (let index = 0; index < 6; index += 1) await reportStatus({ state: 'success', name: `${index}` });
    });
    registerListPagingTests(() => ({
      app: scene.app,
      viewer: me(),
      path: statusesPath(MAIN),
      query: { sort: 'desc' },
      rows: 6,
    }));
  });

  registerVisibilityTests({
    app: () => scene.app,
    from: async (level, standing) => {
      const at = await scene.seed.project({ visibility: level });
      return { viewer: await scene.viewer(standing, at), path: statusesPath(MAIN, at) };
    },
    seen: (standing, level) => (level === 'private' && ['guest', 'planner'].includes(standing) ? 403 : 200),
  });

  it('shows statuses of the own project only', async () => {
    await reportStatus({ state: 'success' });
    const other = await scene.project({ developer });
    expect((await as().get(statusesPath(MAIN, other)).expect(200)).body).toEqual([]);
  });
});

describe('a pipeline of another project', () => {
  let foreign: DirectoryProject;
  let id: number;
  beforeEach(async () => {
    foreign = await scene.project({ developer });
    ({ id } = await scene.pipeline(me(), project));
  });
  registerForeignParentTests({
    app: () => scene.app,
    viewer: me,
    requests: () => [{ method: 'POST', path: reportsPath(MAIN, foreign), body: { state: 'success', pipeline_id: id } }],
    untouched: () => showPipeline(id),
  });
});
