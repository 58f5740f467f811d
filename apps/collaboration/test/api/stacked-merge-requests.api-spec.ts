import type { SeededService } from '@rookery/testing';
import { AutoMergeRuns } from '../../src/work/merge-requests/pipelines/auto-merge-runs';
import { eventsOf, startCollaboration } from '../support/app';
import { MergeActions } from '../support/merge-actions';
import { MergeRequestScene } from '../support/merge-request-scene';

/** Requests into the source branch of another request. Source: reference repositories 8.9. */
let service: SeededService;
let scene: MergeRequestScene;
let on: MergeActions;

beforeAll(async () => {
  service = await startCollaboration();
  scene = await MergeRequestScene.start(service);
});
afterAll(async () => {
  await scene.stop();
  await service.close();
});
beforeEach(async () => {
  on = await MergeActions.in(service, scene);
});

const versionsOf = async (iid: number): Promise<{ head: string; start: string }[]> =>
  service.database.query(
    `select v.head_sha as head, v.start_sha as start from merge_request_versions v
     join merge_requests i on i.id = v.merge_request_id where i.project_id = $1 and i.iid = $2 order by v.id`,
    [on.place.project.id, iid],
  );
const targetOf = async (iid: number) => (await on.shown(iid))['target_branch'];
const noteAbout = (branch: string): string =>
  `deleted the \`${branch}\` branch. This merge request now targets the \`main\` branch`;

test('the four oldest open requests into a removed branch get the target of the merged one', async () => {
  const base = await on.open();
  const closed = await on.open({ target_branch: base.source });
  await on.as('developer').put(on.path(closed.iid)).send({ state_event: 'close' }).expect(200);
  const stacked = [];
  for (let count = 0; count < 5; count++) stacked.push(await on.open({ target_branch: base.source }));
  await on.merge(base.iid, { should_remove_source_branch: true }, 'maintainer').expect(200);
  expect(await on.tip(base.source)).toBe('');
  const main = await on.tip('main');
  for (const { iid, commits } of stacked.slice(0, 4)) {
    expect(await on.shown(iid)).toMatchObject({
      ...{ state: 'opened', target_branch: 'main', sha: commits[0], detailed_merge_status: 'mergeable' },
      diff_refs: { start_sha: main, head_sha: commits[0] },
    });
    expect(await on.notes(iid)).toEqual([noteAbout(base.source)]);
    const versions = await versionsOf(iid);
    expect(versions.map(({ head }) => head)).toEqual([commits[0], commits[0]]);
    expect(versions[1]!.start).toBe(main);
  }
  for (const { iid } of [stacked[4]!, closed]) expect(await targetOf(iid)).toBe(base.source);
  const updates = await eventsOf(service.database, 'collaboration.merge_request.updated.v1');
  const ids = stacked.slice(0, 4).map(({ id }) => id);
  expect(updates.filter(({ merge_request_id: id }) => ids.includes(id as number))).toHaveLength(4);
});

test('a request whose branches would have a second open request keeps its target', async () => {
  const base = await on.open();
  const twice = await on.open({ target_branch: base.source });
  const sent = { title: 'Again', source_branch: twice.source, target_branch: 'main' };
  await on.as('developer').post(on.place.path).send(sent).expect(201);
  const next = await on.open({ target_branch: base.source });
  await on.merge(base.iid, { should_remove_source_branch: true }).expect(200);
  expect(await targetOf(twice.iid)).toBe(base.source);
  expect(await targetOf(next.iid)).toBe('main');
});

test('a branch that remains keeps its requests', async () => {
  const base = await on.open();
  const stacked = await on.open({ target_branch: base.source });
  await on.merge(base.iid).expect(200);
  expect(await targetOf(stacked.iid)).toBe(base.source);
  expect(await on.notes(stacked.iid)).toEqual([]);
});

test('a request that gets another target so is not merged automatically any more', async () => {
  const base = await on.open();
  const stacked = await on.open({ title: 'Draft: x', target_branch: base.source });
  await on.merge(stacked.iid, { auto_merge: true }).expect(200);
  await on.merge(base.iid, { should_remove_source_branch: true }).expect(200);
  expect(await on.shown(stacked.iid)).toMatchObject({ target_branch: 'main', merge_when_pipeline_succeeds: false });
  expect((await on.notes(stacked.iid)).slice(-2)).toEqual([
    noteAbout(base.source),
    'aborted the automatic merge because target branch was changed',
  ]);
});

test('an automatic merge retargets too', async () => {
  const base = await on.open({ title: 'Draft: base', remove_source_branch: true });
  const stacked = await on.open({ target_branch: base.source });
  await on.merge(base.iid, { auto_merge: true }).expect(200);
  await on.as('developer').put(on.path(base.iid)).send({ title: 'Base' }).expect(200);
  await service.app.get(AutoMergeRuns).tryAll(on.place.project.id);
  expect(await on.shown(base.iid)).toMatchObject({ state: 'merged' });
  expect(await targetOf(stacked.iid)).toBe('main');
  expect(await on.notes(stacked.iid)).toEqual([noteAbout(base.source)]);
});
