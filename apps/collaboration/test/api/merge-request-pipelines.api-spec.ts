import { pipelineChanged, pipelineDeleted } from '@rookery/contracts';
import { internalAuthorization, startNats } from '@rookery/testing';
import type { PrivateNats, SeededService } from '@rookery/testing';
import { AutoMergeRuns } from '../../src/work/merge-requests/pipelines/auto-merge-runs';
import { startCollaboration } from '../support/app';
import { MergeActions } from '../support/merge-actions';
import { MergeRequestScene } from '../support/merge-request-scene';
import { publish } from '../support/publish';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

type PipelineStatus = 'created' | 'pending' | 'running' | 'success' | 'failed' | 'canceled' | 'skipped';

let service: SeededService;
let scene: MergeRequestScene;
let nats: PrivateNats;
let worker: Worker;
let pipelines = 700;
let clock = Date.parse('2026-01-05T09:00:00.000Z');

beforeAll(async () => {
  service = await startCollaboration();
  scene = await MergeRequestScene.start(service);
  nats = await startNats();
  worker = await startWorker({ databaseUrl: service.databaseUrl, nats });
});
afterAll(async () => {
  await worker.stop();
  await nats.drop();
  await scene.stop();
  await service.close();
});

/** Publishes the state of a pipeline as the package service does. Returns its id. */
async function report(
  here: MergeActions,
  o: { sha: string; ref: string; status: PipelineStatus; id?: number; updatedAt?: string },
): Promise<number> {
  const id = o.id ?? ++pipelines;
  const at = new Date((clock += 1000)).toISOString();
  const event = pipelineChanged.of({
    aggregateId: id,
    actorId: null,
    data: {
      ...{ pipeline_id: id, project_id: here.place.project.id, iid: id - 700, sha: o.sha, ref: o.ref, is_tag: false },
      ...{ source: 'external', status: o.status, user_id: here.place.cast.developer.id, coverage: '81.256' },
      ...{ duration: 12, committed_at: null, started_at: at, finished_at: null, created_at: at },
      updated_at: o.updatedAt ?? at,
    },
  });
  await publish(nats, event);
  await worker.drained();
  return id;
}
/** Executes automatic merges as the jobs do. */
const runAutoMerges = () => service.app.get(AutoMergeRuns).tryAll(null);
const FORCED = { only_allow_merge_if_pipeline_succeeds: true };

test('the head pipeline is the newest one of the source branch and the head', async () => {
  const here = await MergeActions.in(service, scene);
  const { iid, source, commits } = await here.open({}, ['One', 'Two']);
  expect(await here.shown(iid)).toMatchObject({ pipeline: null, head_pipeline: null, latest_build_started_at: null });
  const [first, head] = commits as [string, string];
  const old = await report(here, { sha: first, ref: source, status: 'failed' });
  await report(here, { sha: head, ref: 'main', status: 'failed' });
  const id = await report(here, { sha: head, ref: source, status: 'running' });
  const path = `http://localhost:8080/${here.place.fullPath}/-/pipelines/${id}`;
  const basic = { id, iid: id - 700, project_id: here.place.project.id, sha: head, ref: source, web_url: path };
  const shown = await here.shown(iid);
  expect(shown['pipeline']).toEqual({
    ...basic,
    ...{ status: 'running', source: 'external', name: null },
    ...{ created_at: expect.any(String), updated_at: expect.any(String) },
  });
  expect(shown['head_pipeline']).toMatchObject({
    ...basic,
    ...{ before_sha: '0'.repeat(40), tag: false, yaml_errors: null, user: { id: here.place.cast.developer.id } },
    ...{ duration: 12, queued_duration: 0, coverage: '81.26', committed_at: null, finished_at: null },
    detailed_status: { icon: 'status_running', text: 'Running', label: 'running', group: 'running' },
  });
  await report(here, { sha: head, ref: source, status: 'success', id });
  await report(here, { sha: head, ref: source, status: 'running', id, updatedAt: '2026-01-01T00:00:00.000Z' });
  expect(await here.shown(iid)).toMatchObject({
    pipeline: { id, status: 'success' },
    head_pipeline: { detailed_status: { text: 'Passed', label: 'passed' } },
    updated_at: shown['updated_at'],
  });
  const list = `${here.path(iid)}/pipelines`;
  const listed = await here.as('guest').get(list).expect(200);
  expect((listed.body as { id: number }[]).map((one) => one.id)).toEqual([id]);
  expect((await here.as('guest').get(`${here.place.path}/999/pipelines`).expect(404)).body).toEqual({
    message: '404 Not found',
  });
  await scene.push(here.place, source, ['Three']);
  expect(await here.shown(iid)).toMatchObject({ pipeline: null });
  const third = await report(here, { sha: (await here.shown(iid)).sha, ref: source, status: 'pending' });
  const page = await here.as('guest').get(list).query({ per_page: 1 }).expect(200);
  expect([page.get('x-total'), (page.body as { id: number }[]).map((one) => one.id)]).toEqual(['2', [third]]);
  const gone = { pipeline_id: third, project_id: here.place.project.id };
  await publish(nats, pipelineDeleted.of({ aggregateId: third, actorId: null, data: gone }));
  await worker.drained();
  await report(here, { sha: (await here.shown(iid)).sha, ref: source, status: 'running', id: third });
  expect(await here.shown(iid)).toMatchObject({ pipeline: null });
  expect(old).toBeLessThan(id);
});

test('a commit shows its newest pipeline, whatever its ref', async () => {
  const here = await MergeActions.in(service, scene);
  const { project, fullPath } = here.place;
  const { source, commits } = await here.open({}, ['One', 'Two']);
  const [first, head] = commits as [string, string];
  const path = `/api/v4/projects/${project.id}/repository/commits`;
  const shown = async (name: string) => (await here.as('guest').get(`${path}/${name}`).expect(200)).body as Shown;
  type Shown = { status: unknown; last_pipeline: Record<string, unknown> | null };
  await report(here, { sha: head, ref: source, status: 'failed' });
  const id = await report(here, { sha: head, ref: 'main', status: 'running' });
  const other = await MergeActions.in(service, scene);
  await report(other, { sha: head, ref: source, status: 'success' });
  expect(await shown(first)).toMatchObject({ status: null, last_pipeline: null });
  for (const name of [head, head.slice(0, 10), encodeURIComponent(source)]) {
    const { status, last_pipeline: pipeline } = await shown(name);
    expect(status).toBe('running');
    expect(pipeline).toEqual({
      ...{ id, iid: id - 700, project_id: project.id, sha: head, ref: 'main', status: 'running', source: 'external' },
      ...{ created_at: expect.any(String), updated_at: expect.any(String), name: null },
      web_url: `http://localhost:8080/${fullPath}/-/pipelines/${id}`,
    });
  }
  await report(here, { sha: head, ref: 'main', status: 'canceled', id });
  expect(await shown(head)).toMatchObject({ status: 'canceled', last_pipeline: { id, status: 'canceled' } });
  const gone = { pipeline_id: id, project_id: project.id };
  await publish(nats, pipelineDeleted.of({ aggregateId: id, actorId: null, data: gone }));
  await worker.drained();
  expect(await shown(head)).toMatchObject({ status: 'failed', last_pipeline: { status: 'failed' } });
  expect((await here.as('guest').get(path).expect(200)).body[0]).not.toHaveProperty('last_pipeline');
});

test('pipelines of a private project are for readers of its merge requests', async () => {
  const here = await MergeActions.in(service, scene, null, { visibility: 'private' });
  const { iid } = await here.open();
  const statuses = { guest: 403, planner: 403, reporter: 200, developer: 200, stranger: 404 } as const;
  for (const [who, status] of Object.entries(statuses))
    await here
      .as(who as keyof typeof statuses)
      .get(`${here.path(iid)}/pipelines`)
      .expect(status);
});

describe('a to-do about a failed pipeline', () => {
  type Shown = { action_name: string; target_url: string; target: { iid: number }; author: { id: number } };
  const todosOf = async (here: MergeActions, who: 'developer' | 'maintainer', state = 'pending') => {
    const query = { project_id: here.place.project.id, state };
    return (await here.as(who).get('/api/v4/todos').query(query).expect(200)).body as Shown[];
  };

  test('is raised for the author and the user of the automatic merge, once, and ends with success', async () => {
    const here = await MergeActions.in(service, scene);
    const { iid, source, commits } = await here.open();
    const [sha] = commits as [string];
    const id = await report(here, { sha, ref: source, status: 'running' });
    await here.merge(iid, { auto_merge: true }, 'maintainer').expect(200);
    await report(here, { sha, ref: source, status: 'failed', id });
    for (const who of ['developer', 'maintainer'] as const) {
      const [todo, ...others] = await todosOf(here, who);
      expect(todo).toMatchObject({
        ...{ action_name: 'build_failed', target_type: 'MergeRequest', target: { iid } },
        ...{ author: { id: here.place.cast[who].id }, body: (await here.shown(iid))['title'] },
        target_url: `http://localhost:8080/${here.place.fullPath}/-/merge_requests/${iid}/pipelines`,
      });
      expect(others).toEqual([]);
    }
    await report(here, { sha, ref: source, status: 'failed', id });
    const next = await report(here, { sha, ref: source, status: 'failed' });
    expect(await todosOf(here, 'developer')).toHaveLength(1);
    await report(here, { sha, ref: source, status: 'success', id });
    expect(await todosOf(here, 'developer')).toHaveLength(1);
    await report(here, { sha, ref: source, status: 'success', id: next });
    expect(await todosOf(here, 'developer')).toEqual([]);
    expect(await todosOf(here, 'maintainer')).toEqual([]);
    expect(await todosOf(here, 'maintainer', 'done')).toMatchObject([{ action_name: 'build_failed' }]);
  });

  test('is not raised for other commits, branches, tags and closed merge requests, nor without access', async () => {
    const here = await MergeActions.in(service, scene, null, { visibility: 'private' });
    const { iid, source, commits } = await here.open({}, ['One', 'Two']);
    const [first, head] = commits as [string, string];
    await report(here, { sha: first, ref: source, status: 'failed' });
    await report(here, { sha: head, ref: 'main', status: 'failed' });
    await report(here, { sha: head, ref: source, status: 'canceled' });
    await report(here, { sha: head, ref: 'refs/merge-requests/999/head', status: 'failed' });
    expect(await todosOf(here, 'developer')).toEqual([]);
    await here.as('developer').put(here.path(iid)).send({ state_event: 'close' }).expect(200);
    await report(here, { sha: head, ref: source, status: 'failed' });
    await here.as('developer').put(here.path(iid)).send({ state_event: 'reopen' }).expect(200);
    expect(await todosOf(here, 'developer')).toEqual([]);
    // Closing it completed the author's to-dos of before.
    clock = Math.max(clock, Date.now());
    await report(here, { sha: head, ref: `refs/merge-requests/${iid}/head`, status: 'failed' });
    expect(await todosOf(here, 'developer')).toHaveLength(1);
    const { iid: other, commits: others, source: branch } = await here.open();
    const memberships = await service.database.query<{ id: number; access_level: number }>(
      'select * from directory_memberships where user_id = $1',
      [here.place.cast.developer.id],
    );
    for (const row of memberships) await service.seed.put('memberships', { ...row, access_level: 10 });
    await report(here, { sha: others[0]!, ref: branch, status: 'failed' });
    for (const row of memberships) await service.seed.put('memberships', row);
    expect((await todosOf(here, 'developer')).filter(({ target }) => target.iid === other)).toEqual([]);
  });

  test('ends with all others of the author there when the pipeline is repeated', async () => {
    const here = await MergeActions.in(service, scene);
    const { iid, source, commits } = await here.open();
    await here
      .as('developer')
      .post(`${here.path(iid)}/todo`)
      .expect(201);
    const id = await report(here, { sha: commits[0]!, ref: source, status: 'failed' });
    expect((await todosOf(here, 'developer')).map((todo) => todo.action_name).sort()).toEqual([
      'build_failed',
      'marked',
    ]);
    clock = Math.max(clock, Date.now());
    await report(here, { sha: commits[0]!, ref: source, status: 'pending', id });
    expect(await todosOf(here, 'developer')).toEqual([]);
  });
});

describe('a project that requires pipelines', () => {
  test.each([
    [null, 'ci_must_pass', 405],
    ['created', 'ci_still_running', 405],
    ['running', 'ci_still_running', 405],
    ['failed', 'ci_must_pass', 405],
    ['canceled', 'ci_must_pass', 405],
    ['skipped', 'ci_must_pass', 405],
    ['success', 'mergeable', 200],
  ] as const)('with the status %s is %s', async (status, detailed, answer) => {
    const here = await MergeActions.in(service, scene, FORCED);
    const { iid, source, commits } = await here.open();
    if (status) await report(here, { sha: commits[0]!, ref: source, status });
    expect(await here.shown(iid)).toMatchObject({ detailed_merge_status: detailed });
    const { body } = await here.merge(iid).expect(answer);
    if (answer === 405) expect(body).toEqual({ message: '405 Method Not Allowed' });
  });

  test('may allow skipped ones', async () => {
    const here = await MergeActions.in(service, scene, { ...FORCED, allow_merge_on_skipped_pipeline: true });
    const { iid, source, commits } = await here.open();
    await report(here, { sha: commits[0]!, ref: source, status: 'skipped' });
    expect(await here.shown(iid)).toMatchObject({ detailed_merge_status: 'mergeable' });
    await here.merge(iid).expect(200);
  });
});

describe('an automatic merge', () => {
  test('waits for the pipeline and then merges as its user, once', async () => {
    const here = await MergeActions.in(service, scene);
    const { iid, source, commits } = await here.open({}, ['One', 'Two']);
    const id = await report(here, { sha: commits[1]!, ref: source, status: 'running' });
    const sent = { auto_merge: true, squash: true, squash_commit_message: 'Mine', should_remove_source_branch: true };
    expect((await here.merge(iid, sent, 'maintainer').expect(200)).body).toMatchObject({
      state: 'opened',
      merge_when_pipeline_succeeds: true,
    });
    await runAutoMerges();
    expect(await here.shown(iid)).toMatchObject({ state: 'opened' });
    await report(here, { sha: commits[1]!, ref: source, status: 'success', id });
    expect(
      await service.database.query(`select 1 from background_jobs where name = 'merge-automatically'`),
    ).not.toEqual([]);
    await Promise.all([runAutoMerges(), runAutoMerges(), runAutoMerges()]);
    const merged = await here.shown(iid);
    expect(merged).toMatchObject({
      state: 'merged',
      merged_by: { id: here.place.cast.maintainer.id },
      squash: true,
      merge_error: null,
    });
    expect((await here.commit(merged.squash_commit_sha)).message).toBe('Mine');
    expect(await here.tip(source)).toBe('');
    expect((await here.notes(iid)).filter((note) => note === 'merged')).toHaveLength(1);
  });

  test.each([
    ['failed', 'the pipeline failed'],
    ['canceled', 'the pipeline was canceled'],
  ] as const)('ends when the pipeline %s', async (status, reason) => {
    const here = await MergeActions.in(service, scene);
    const { iid, source, commits } = await here.open();
    const id = await report(here, { sha: commits[0]!, ref: source, status: 'running' });
    await here.merge(iid, { auto_merge: true }).expect(200);
    await report(here, { sha: commits[0]!, ref: source, status, id });
    await runAutoMerges();
    expect(await here.shown(iid)).toMatchObject({ state: 'opened', merge_when_pipeline_succeeds: false });
    expect((await here.notes(iid)).at(-1)).toBe(`aborted the automatic merge because ${reason}`);
    expect((await here.merge(iid, { auto_merge: true }).expect(405)).body).toEqual({
      message: '405 Method Not Allowed',
    });
  });

  test('is decided by the rights that its user has then', async () => {
    const here = await MergeActions.in(service, scene);
    const make = async () => {
      const made = await here.open();
      const id = await report(here, { sha: made.commits[0]!, ref: made.source, status: 'running' });
      await here.merge(made.iid, { auto_merge: true }).expect(200);
      return { ...made, id };
    };
    const [demoted] = [await make()];
    const [member] = await service.database.query<{ id: number }>(
      `select * from directory_memberships where user_id = $1`,
      [here.place.cast.developer.id],
    );
    await service.seed.put('memberships', { ...member!, access_level: 20 });
    await report(here, { sha: demoted.commits[0]!, ref: demoted.source, status: 'success', id: demoted.id });
    await runAutoMerges();
    expect(await here.shown(demoted.iid)).toMatchObject({ state: 'opened', merge_when_pipeline_succeeds: false });
    expect((await here.notes(demoted.iid)).at(-1)).toBe(
      'aborted the automatic merge because its user may not merge any more',
    );
  });

  test('waits for a draft and for approvals too', async () => {
    const here = await MergeActions.in(service, scene);
    const rules = `/api/v4/projects/${here.place.project.id}/approval_rules`;
    const rule = { name: 'All', rule_type: 'any_approver', approvals_required: 1 };
    await here.as('maintainer').post(rules).send(rule).expect(201);
    const { iid } = await here.open({ title: 'Draft: x' });
    await here.merge(iid, { auto_merge: true }).expect(200);
    await runAutoMerges();
    await here
      .as('maintainer')
      .post(`${here.path(iid)}/approve`)
      .expect(201);
    await runAutoMerges();
    expect(await here.shown(iid)).toMatchObject({ state: 'opened', merge_when_pipeline_succeeds: true });
    await here.as('developer').put(here.path(iid)).send({ title: 'x' }).expect(200);
    await runAutoMerges();
    expect(await here.shown(iid)).toMatchObject({ state: 'merged' });
  });
});

describe('the head on which a pipeline starts', () => {
  const ask = (body: object, caller: 'package' | 'identity' = 'package') =>
    service.app
      .bare()
      .post('/internal/merge-requests/head')
      .set('authorization', internalAuthorization(caller, 'collaboration'))
      .send(body);

  test('is that of an open merge request whose source branch exists', async () => {
    const here = await MergeActions.in(service, scene);
    const { iid, source, commits } = await here.open({}, ['One', 'Two']);
    const asked = { project_id: here.place.project.id, iid };
    const { body } = await ask(asked).expect(200);
    expect(body).toEqual({
      is_found: true,
      head: { sha: commits.at(-1), committed_at: expect.stringMatching(/^\d{4}-.*Z$/) },
    });
    const own = `refs/merge-requests/${iid}/head`;
    const branch = await report(here, { sha: commits.at(-1)!, ref: source, status: 'success' });
    const id = await report(here, { sha: commits.at(-1)!, ref: own, status: 'created' });
    await report(here, { sha: commits.at(-1)!, ref: source, status: 'success' });
    expect(await here.shown(iid)).toMatchObject({ head_pipeline: { id, ref: own, status: 'created' } });
    const listed = await here
      .as('developer')
      .get(`${here.path(iid)}/pipelines`)
      .expect(200);
    expect((listed.body as { id: number }[]).map((one) => one.id)).toEqual([id + 1, id, branch]);

    await here.as('developer').put(here.path(iid)).send({ state_event: 'close' }).expect(200);
    expect((await ask(asked).expect(200)).body).toEqual({ is_found: true, head: null });
    await here.as('developer').put(here.path(iid)).send({ state_event: 'reopen' }).expect(200);
    await here.as('owner').delete(`/api/v4/projects/${asked.project_id}/repository/branches/${source}`).expect(204);
    expect((await ask(asked).expect(200)).body).toEqual({ is_found: true, head: null });
  });

  test('does not exist for an unknown merge request, nor where merge requests are disabled', async () => {
    const here = await MergeActions.in(service, scene);
    const { iid } = await here.open();
    const other = await MergeActions.in(service, scene);
    const missing = { is_found: false, head: null };
    expect((await ask({ project_id: other.place.project.id, iid: 999 }).expect(200)).body).toEqual(missing);
    const asked = { project_id: here.place.project.id, iid };
    await service.seed.put('projects', { ...here.place.project, merge_requests_access_level: 'disabled' });
    expect((await ask(asked).expect(200)).body).toEqual(missing);
    await ask({ ...asked, iid: 'x' }).expect(400);
    await ask({ ...asked, project_id: null }).expect(400);
    await ask(asked, 'identity').expect(403);
  });
});
