import { StateReportsJob } from '../../src/imports/running/state-reports.job';
import { ImportScene } from '../support/scene';

let scene: ImportScene;
beforeAll(async () => void (scene = await ImportScene.open({ IMPORT_PER_USER_COUNT: '1' })));
afterEach(async () => {
  scene.inside.beforePush = async () => undefined;
  await scene.service.database.query(`update project_imports set state = 'canceled', sealed_credential = null`);
});
afterAll(() => scene.close());

const stateOf = async (importId: number) => (await scene.row(importId))!['state'];
const countWaitingJobs = async (importId: number) =>
  (
    await scene.service.database.query<{ count: number }>(
      `select count(*)::int as count from graphile_worker._private_jobs
       where key = $1 and locked_at is null`,
      [`run-import:${importId}`],
    )
  )[0]!.count;
const clearJobs = () => scene.service.database.query('delete from graphile_worker._private_jobs');

it('runs imports of a user one after the other, in their order', async () => {
  const first = await scene.started('heron');
  const second = await scene.started('egret');
  const third = await scene.started('bittern');
  scene.inside.beforePush = async () => {
    scene.inside.beforePush = async () => undefined;
    await clearJobs();
    await scene.run(third.importId);
    await scene.run(second.importId);
    expect(await Promise.all([second, third].map(({ importId }) => stateOf(importId)))).toEqual([
      'scheduled',
      'scheduled',
    ]);
    expect(await countWaitingJobs(second.importId)).toBe(0);
  };
  await scene.run(first.importId);
  expect(await stateOf(first.importId)).toBe('finished');
  expect([await countWaitingJobs(second.importId), await countWaitingJobs(third.importId)]).toEqual([1, 0]);
  await scene.run(second.importId);
  expect([await stateOf(second.importId), await countWaitingJobs(third.importId)]).toEqual(['finished', 1]);
});

it('starts the next import when one is cancelled, and one that waits for nothing', async () => {
  const [first, second] = [await scene.started('curlew'), await scene.started('godwit')];
  await clearJobs();
  const { projectId: project_id } = first;
  await scene.as(scene.owner).post('/api/v4/import/remote/cancel').send({ project_id }).expect(200);
  expect(await countWaitingJobs(second.importId)).toBe(1);
  await clearJobs();
  await scene.service.app.get(StateReportsJob).failStuck();
  expect(await countWaitingJobs(second.importId)).toBe(0);
  await scene.service.database.query(`update project_imports set updated_at = now() - interval '11 minutes'`);
  await scene.service.app.get(StateReportsJob).failStuck();
  expect(await countWaitingJobs(second.importId)).toBe(1);
});

it('does not fail an import that waits for a long one', async () => {
  const [first, second] = [await scene.started('avocet'), await scene.started('stilt')];
  const { database, app } = scene.service;
  await database.query(`update project_imports set state = 'started' where id = $1`, [first.importId]);
  await database.query(`update project_imports set updated_at = now() - interval '25 hours' where id = $1`, [
    second.importId,
  ]);
  await app.get(StateReportsJob).failStuck();
  expect(await stateOf(second.importId)).toBe('scheduled');
});
