import { rm, writeFile } from 'node:fs/promises';
import type { SeededService } from '@rookery/testing';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';
import { startCollaboration } from '../support/app';
import { MergeActions } from '../support/merge-actions';
import { MergeRequestScene } from '../support/merge-request-scene';

/** Rebases of source branches. Source: reference repositories 8.9. */
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

const rebase = (iid: number, body: object = {}) =>
  on
    .as('developer')
    .put(`${on.path(iid)}/rebase`)
    .send(body);
const optionsOfLastPush = async (): Promise<unknown> => {
  const rows: { options: string[] }[] = await service.database.query(
    'select options from pushes where project_id = $1 order by id desc limit 1',
    [on.place.project.id],
  );
  return rows[0]?.options;
};
const protect = (name: string, allowsForce: boolean, level = 30) =>
  service.database.query(
    `insert into protected_branches (project_id, name, push_levels, merge_levels, unprotect_levels, allow_force_push)
     values ($1, $2, $3, $3, '{40}', $4)`,
    [on.place.project.id, name, [level], allowsForce],
  );

test('skip_ci is recorded as the push option ci.skip', async () => {
  const { iid } = await on.open();
  await on.pushMain('One');
  await rebase(iid).expect(202);
  expect(await optionsOfLastPush()).toEqual([]);
  await on.pushMain('Two');
  await rebase(iid, { skip_ci: true }).expect(202);
  expect(await optionsOfLastPush()).toEqual(['ci.skip']);
});

test('a protected source branch without force pushes refuses', async () => {
  const { iid, source, commits } = await on.open();
  await on.pushMain('Other');
  await protect(source, false);
  expect((await rebase(iid).expect(403)).body).toEqual({
    message: '403 Forbidden - Source branch is protected from force push',
  });
  expect(await on.shown(iid)).toMatchObject({ sha: commits[0], merge_error: null });
  await service.database.query('delete from protected_branches where project_id = $1', [on.place.project.id]);
  await protect(source, false, 40);
  expect((await rebase(iid).expect(403)).body).toEqual({ message: '403 Forbidden - Cannot push to source branch' });
  await service.database.query('delete from protected_branches where project_id = $1', [on.place.project.id]);
  await protect(source, true);
  await rebase(iid).expect(202);
  expect((await on.shown(iid)).sha).not.toBe(commits[0]);
});

test('another refusal of the push is the merge_error', async () => {
  const { iid, source, commits } = await on.open();
  await on.pushMain('Other');
  const repository = (await service.app.get(ProjectRepositories).findRepository(on.place.project.id))!;
  const lock = `${repository.directory}/refs/heads/${source}.lock`;
  await writeFile(lock, '');
  await rebase(iid).expect(202);
  await rm(lock);
  expect(await on.shown(iid)).toMatchObject({
    sha: commits[0],
    merge_error: `Could not update refs/heads/${source}. Please refresh and try again.`,
  });
});

test('commits that the target has already are dropped, even if the target has changed their lines again', async () => {
  const { iid, source } = await on.open({}, ['Own']);
  const picked = await scene.files(on.place, source, { 'shared.txt': 'first\n' });
  const { git } = scene;
  const { folder } = on.place;
  await git.ok(folder, 'fetch', '--quiet', 'origin');
  await git.ok(folder, 'checkout', '--quiet', '-B', 'main', 'origin/main');
  await git.ok(folder, 'cherry-pick', picked);
  const target = await scene.files(on.place, 'main', { 'shared.txt': 'second\n' });
  await rebase(iid).expect(202);
  const shown = await on.shown(iid);
  expect(shown['merge_error']).toBeNull();
  expect(await on.commit(shown.sha)).toEqual({ parents: [target], message: 'Own' });
});
