import { startNats } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import { MergeRequestsJob } from '../../src/work/merge-requests/merge-requests.job';
import { startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { MergeActions } from '../support/merge-actions';
import { MergeRequestScene } from '../support/merge-request-scene';
import type { MergePlace } from '../support/merge-request-scene';
import { startWorker } from '../support/worker';

let service: SeededService;
let scene: MergeRequestScene;

beforeAll(async () => {
  service = await startCollaboration();
  scene = await MergeRequestScene.start(service);
});
afterAll(async () => {
  await scene.stop();
  await service.close();
});

type ShownTodo = { readonly action_name: string; readonly author: { readonly id: number } };

async function todosOf({ project, cast }: MergePlace, who: keyof Cast, state = 'pending'): Promise<ShownTodo[]> {
  const query = { project_id: project.id, state };
  const app = service.app.as(service.seed.viewer(cast[who]));
  return (await app.get('/api/v4/todos').query(query).expect(200)).body as ShownTodo[];
}

/** Runs the merge checks that pushes requested. Returns the ids of their projects. */
async function runChecks(): Promise<number[]> {
  const rows = await service.database.query<{ params: { project_id: number } }>(
    `delete from graphile_worker._private_jobs j using graphile_worker._private_tasks t
     where t.id = j.task_id and t.identifier = 'check-merge-requests' returning j.payload as params`,
  );
  const { signal } = new AbortController();
  for (const { params } of rows) await service.app.get(MergeRequestsJob).check({ params, signal });
  return rows.map(({ params }) => params.project_id);
}

/** A merge request of the developer that changes a file, as main may do too. */
async function openMergeRequest(over: Parameters<MergeRequestScene['place']>[0] = {}) {
  const here = await MergeActions.in(service, scene, null, over);
  const { place } = here;
  await scene.files(place, 'main', { file: 'Base\n' }, 'origin/main');
  await scene.files(place, 'topic', { file: 'Topic\n' }, 'main');
  const sent = { title: 'A change', source_branch: 'topic', target_branch: 'main' };
  const { body } = await here.as('developer').post(place.path).send(sent).expect(201);
  expect(body.merge_status).toBe('can_be_merged');
  await runChecks();
  return { here, place, iid: body.iid as number };
}

const pushConflict = (place: MergePlace, text = 'Main\n') => scene.files(place, 'main', { file: text }, 'main');
/** Gives the branch the content of main and a file of its own. */
const resolve = (place: MergePlace) => scene.files(place, 'topic', { other: 'Topic\n' }, 'main');

describe('unmergeable', () => {
  test('is raised for the author and the user of the automatic merge, once for each change', async () => {
    const { here, place, iid } = await openMergeRequest();
    const { developer, maintainer } = place.cast;
    await service.database.query('update merge_requests set auto_merge_user_id = $1 where project_id = $2', [
      maintainer.id,
      place.project.id,
    ]);
    await pushConflict(place);
    expect(await runChecks()).toEqual([place.project.id]);
    for (const [who, user] of [
      ['developer', developer],
      ['maintainer', maintainer],
    ] as const)
      expect(await todosOf(place, who)).toMatchObject([
        {
          ...{ action_name: 'unmergeable', target_type: 'MergeRequest', target: { iid }, author: { id: user.id } },
          target_url: `http://localhost:8080/${place.fullPath}/-/merge_requests/${iid}`,
        },
      ]);
    expect(await todosOf(place, 'owner')).toEqual([]);
    await here.as('developer').post('/api/v4/todos/mark_as_done').expect(204);
    await pushConflict(place, 'Main again\n');
    await runChecks();
    await scene.files(place, 'topic', { file: 'Topic again\n' });
    await runChecks();
    expect(await todosOf(place, 'developer')).toEqual([]);
    expect(await todosOf(place, 'maintainer')).toHaveLength(1);
  });

  test('ends for all when the conflicts are resolved, and is raised again by the next ones', async () => {
    const { place } = await openMergeRequest();
    await pushConflict(place);
    await runChecks();
    expect(await todosOf(place, 'developer')).toHaveLength(1);
    await resolve(place);
    await runChecks();
    expect(await todosOf(place, 'developer')).toEqual([]);
    expect(await todosOf(place, 'developer', 'done')).toMatchObject([{ action_name: 'unmergeable' }]);
    await scene.files(place, 'main', { other: 'Main\n' }, 'main');
    await runChecks();
    expect(await todosOf(place, 'developer')).toHaveLength(1);
  });

  test('is raised by the check of a reader too, and once by both', async () => {
    const { here, place, iid } = await openMergeRequest();
    await pushConflict(place);
    await Promise.all([here.shown(iid, 'guest'), here.shown(iid, 'owner'), runChecks()]);
    expect(await here.shown(iid)).toMatchObject({ has_conflicts: true });
    expect(await todosOf(place, 'developer')).toHaveLength(1);
  });

  test('is not raised for other merge requests, nor for those without a branch or commits', async () => {
    const { here, place } = await openMergeRequest();
    await here.open();
    await scene.files(place, 'stable', { x: 'x' }, 'main');
    await scene.files(place, 'part', { y: 'y' }, 'main');
    const sent = { title: 'Into stable', source_branch: 'part', target_branch: 'stable' };
    await here.as('developer').post(place.path).send(sent).expect(201);
    await scene.drop(place, 'stable');
    await scene.git.ok(place.folder, 'push', '--quiet', '--force', 'origin', 'main:part');
    await runChecks();
    expect(await todosOf(place, 'developer')).toEqual([]);
  });

  test('is not raised for users without access', async () => {
    const { place } = await openMergeRequest({ visibility: 'private' });
    const { developer } = place.cast;
    const memberships = await service.database.query<{ id: number; access_level: number }>(
      'select * from directory_memberships where user_id = $1',
      [developer.id],
    );
    for (const row of memberships) await service.seed.put('memberships', { ...row, access_level: 10 });
    await pushConflict(place);
    await runChecks();
    for (const row of memberships) await service.seed.put('memberships', row);
    expect(await todosOf(place, 'developer')).toEqual([]);
  });

  test('is raised for a merge request from a fork', async () => {
    const place = await scene.place();
    await scene.files(place, 'main', { file: 'Base\n' }, 'origin/main');
    const fork = await scene.fork(place);
    await scene.files(fork, 'topic', { file: 'Topic\n' }, 'origin/main');
    const app = service.app.as(service.seed.viewer(fork.cast.developer));
    const sent = { title: 'Fork', source_branch: 'topic', target_branch: 'main', target_project_id: place.project.id };
    await app.post(fork.path).send(sent).expect(201);
    await runChecks();
    await pushConflict(place);
    expect(await runChecks()).toEqual([place.project.id]);
    const { body } = await app.get('/api/v4/todos').expect(200);
    expect(body).toMatchObject([{ action_name: 'unmergeable', project: { id: place.project.id } }]);
  });

  test('ends for all when the merge request is closed or merged, also by a worker', async () => {
    const nats = await startNats();
    const worker = await startWorker({ databaseUrl: service.databaseUrl, nats });
    try {
      for (const end of ['close', 'push'] as const) {
        const { here, place, iid } = await openMergeRequest();
        await pushConflict(place);
        await here.shown(iid);
        expect(await todosOf(place, 'developer')).toHaveLength(1);
        if (end === 'close') await here.as('owner').put(here.path(iid)).send({ state_event: 'close' }).expect(200);
        else await scene.git.ok(place.folder, 'push', '--quiet', '--force', 'origin', 'topic:main');
        await worker.drained();
        expect((await here.shown(iid))['state']).toBe(end === 'close' ? 'closed' : 'merged');
        expect(await todosOf(place, 'developer')).toEqual([]);
      }
    } finally {
      await worker.stop();
      await nats.drop();
    }
  });
});
