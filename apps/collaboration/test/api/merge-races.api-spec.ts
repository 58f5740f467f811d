import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { NO_OBJECT, objectId } from '@rookery/git';
import type { SeededService } from '@rookery/testing';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';
import { RefIntents } from '../../src/code/repositories/ref-updates/ref-intents';
import { PushSettlement } from '../../src/code/repositories/ref-updates/settlement';
import { startCollaboration } from '../support/app';
import { MergeRequestScene } from '../support/merge-request-scene';
import type { MergePlace } from '../support/merge-request-scene';

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

const MERGES = 50;
/** Merges at once with pushes and closing. */
const MIXED_MERGES = 20;
const CLOSED = 4;
const PUSHES = 4;

interface OpenedMergeRequest {
  readonly iid: number;
  readonly commit: string;
}

const as = ({ cast }: MergePlace) => service.app.as(service.seed.viewer(cast.developer));

/** Opens merge requests of one commit each, in one push. */
async function open(place: MergePlace, count: number): Promise<OpenedMergeRequest[]> {
  const { git } = scene;
  const names = Array.from({ length: count }, (_, n) => `change-${n}`);
  const commits: string[] = [];
  for (const name of names) {
    await git.ok(place.folder, 'checkout', '--quiet', '-B', name, 'origin/main');
    commits.push(await git.commit(place.folder, name, `${name}.txt`));
  }
  await git.ok(place.folder, 'push', '--quiet', 'origin', ...names);
  const requests: OpenedMergeRequest[] = [];
  for (const [n, name] of names.entries()) {
    const sent = { title: name, source_branch: name, target_branch: 'main' };
    const { body } = await as(place).post(place.path).send(sent).expect(201);
    requests.push({ iid: (body as OpenedMergeRequest).iid, commit: commits[n]! });
  }
  return requests;
}

const merge = async (place: MergePlace, { iid }: OpenedMergeRequest): Promise<number> =>
  (await as(place).put(`${place.path}/${iid}/merge`)).status;
const stateOf = async (place: MergePlace, { iid }: OpenedMergeRequest): Promise<string> =>
  ((await as(place).get(`${place.path}/${iid}`).expect(200)).body as { state: string }).state;

/** How often each commit is in the history of `main`. */
async function countCommitsById({ project }: MergePlace): Promise<ReadonlyMap<string, number>> {
  const repository = (await service.app.get(ProjectRepositories).findRepository(project.id))!;
  const counts = new Map<string, number>();
  const { stdout } = await repository.run({ args: ['rev-list', 'refs/heads/main'] });
  for (const id of stdout.toString().trim().split('\n')) counts.set(id, (counts.get(id) ?? 0) + 1);
  await repository.run({ args: ['fsck', '--strict', '--no-dangling'] });
  return counts;
}

test('of 50 merges into one branch at once, each is in the history once', async () => {
  const place = await scene.place();
  const requests = await open(place, MERGES);
  const statuses = await Promise.all(requests.map((request) => merge(place, request)));
  // A busy server may refuse some for load; the client tries again.
  for (const [n, request] of requests.entries()) {
    if (statuses[n] === 200 || (await stateOf(place, request)) === 'merged') continue;
    expect(await merge(place, request)).toBe(200);
  }
  const counts = await countCommitsById(place);
  expect(requests.map(({ commit }) => counts.get(commit))).toEqual(requests.map(() => 1));
});

test('merges at once with pushes to the branch and with closing: merged or refused, and nothing is lost', async () => {
  const place = await scene.place();
  const requests = await open(place, MIXED_MERGES);
  const closing = requests.slice(0, CLOSED).map(async ({ iid }) => {
    await as(place).put(`${place.path}/${iid}`).send({ state_event: 'close' });
  });
  const pushing = Array.from({ length: PUSHES }, async (_, n) => {
    const sent = {
      branch: 'main',
      commit_message: `Push ${n}`,
      actions: [{ action: 'create', file_path: `push-${n}`, content: 'x' }],
    };
    const { status, body } = await as(place).post(`/api/v4/projects/${place.project.id}/repository/commits`).send(sent);
    return status === 201 ? (body as { id: string }).id : null;
  });
  const statuses = await Promise.all(requests.map((request) => merge(place, request)));
  await Promise.all(closing);
  const pushed = (await Promise.all(pushing)).filter((id) => id !== null);
  const counts = await countCommitsById(place);
  for (const [n, request] of requests.entries()) {
    const state = await stateOf(place, request);
    expect([state, counts.get(request.commit) ?? 0]).toEqual([state, state === 'merged' ? 1 : 0]);
    if (statuses[n] === 200) expect(state).toBe('merged');
  }
  expect(pushed.map((id) => counts.get(id))).toEqual(pushed.map(() => 1));
  expect(statuses).toContain(200);
});

describe('a process that is slow or dead after it moved the target branch', () => {
  /** Squashes a request as a process does that never settles. Returns the commit and the id of the push. */
  async function squashUnsettled(place: MergePlace, { iid, commit }: OpenedMergeRequest) {
    const git = (await service.app.get(ProjectRepositories).findRepository(place.project.id))!;
    const variables = Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((role) => [
        [`GIT_${role}_NAME`, 'Wren'],
        [`GIT_${role}_EMAIL`, 'wren@example.org'],
      ]),
    );
    const before = objectId(place.mainSha);
    const args = ['commit-tree', `${commit}^{tree}`, '-p', before, '-m', 'Squashed'];
    const squashed = objectId((await git.run({ args, variables })).stdout.toString().trim());
    const intent = JSON.stringify({ tip: squashed, mergeCommitSha: null, squashCommitSha: squashed });
    const set = 'update merge_requests set merge_intent = $3 where project_id = $1 and iid = $2';
    await service.database.query(set, [place.project.id, iid, intent]);
    const by = { projectId: place.project.id, userId: place.cast.maintainer.id, source: 'api' } as const;
    const update = { ref: 'refs/heads/main', oldId: before, newId: squashed };
    const pushId = await service.app.get(RefIntents).recordUpdates(by, [update]);
    const move = () => git.run({ args: ['update-ref', update.ref, squashed, before] });
    return { squashed, pushId, move, git };
  }
  const shown = async (place: MergePlace, { iid }: OpenedMergeRequest) =>
    (await as(place).get(`${place.path}/${iid}`).expect(200)).body as Record<string, unknown>;
  const open1 = async (place: MergePlace): Promise<OpenedMergeRequest> => {
    const [commit] = await scene.branch(place, 'change', ['A change']);
    const sent = { title: 'A change', source_branch: 'change', target_branch: 'main' };
    const { body } = await as(place).post(place.path).send(sent).expect(201);
    return { iid: (body as OpenedMergeRequest).iid, commit: commit! };
  };

  test('a second call completes its merge, and adds no commit', async () => {
    const place = await scene.place();
    const request = await open1(place);
    const { squashed, move } = await squashUnsettled(place, request);
    await move();
    const { body } = await as(place).put(`${place.path}/${request.iid}/merge`).send({ squash: true }).expect(200);
    expect(body).toMatchObject({
      ...{ state: 'merged', squash_commit_sha: squashed, merge_commit_sha: null },
      merged_by: { id: place.cast.maintainer.id },
    });
    expect([...(await countCommitsById(place)).keys()]).toEqual([squashed, place.mainSha]);
  });

  test('it moves the branch after git has refused the attempt of another process: its merge counts', async () => {
    const place = await scene.place();
    const request = await open1(place);
    const { squashed, pushId, move, git } = await squashUnsettled(place, request);
    const lock = join(git.directory, 'refs/heads/main.lock');
    await writeFile(lock, '');
    await as(place).put(`${place.path}/${request.iid}/merge`).send({ squash: true }).expect(422);
    await rm(lock);
    await move();
    await service.app.get(PushSettlement).settlePush(git, pushId, null);
    expect(await shown(place, request)).toMatchObject({ state: 'merged', squash_commit_sha: squashed });
  });

  test('a request that is closed before the settlement is merged', async () => {
    const place = await scene.place();
    const request = await open1(place);
    const { squashed, pushId, move, git } = await squashUnsettled(place, request);
    await as(place).put(`${place.path}/${request.iid}`).send({ state_event: 'close' }).expect(200);
    await move();
    await service.app.get(PushSettlement).settlePush(git, pushId, null);
    expect(await shown(place, request)).toMatchObject({
      ...{ state: 'merged', squash_commit_sha: squashed, closed_at: null, closed_by: null },
    });
    const events = await as(place).get(`${place.path}/${request.iid}/resource_state_events`).expect(200);
    expect((events.body as { state: string }[]).map(({ state }) => state)).toEqual(['closed', 'merged']);
  });

  /** Stores an attempt to merge by a fast-forward that was refused. */
  const refuseFastForward = (place: MergePlace, { iid, commit }: OpenedMergeRequest) =>
    service.database.query('update merge_requests set merge_intent = $3 where project_id = $1 and iid = $2', [
      ...[place.project.id, iid],
      JSON.stringify({
        ...{ tip: commit, head: commit, userId: place.cast.maintainer.id },
        ...{ mergeCommitSha: null, squashCommitSha: null },
      }),
    ]);

  test('a refused fast-forward merges no request with a later head, and none that was closed', async () => {
    const place = await scene.place();
    const request = await open1(place);
    await refuseFastForward(place, request);
    await scene.push(place, 'change', ['A later change']);
    const { git } = scene;
    await git.ok(place.folder, 'push', '--quiet', 'origin', `${request.commit}:main`);
    expect(await stateOf(place, request)).toBe('opened');

    const other = await scene.place();
    const closed = await open1(other);
    await refuseFastForward(other, closed);
    await as(other).put(`${other.path}/${closed.iid}`).send({ state_event: 'close' }).expect(200);
    await git.ok(other.folder, 'push', '--quiet', 'origin', `${closed.commit}:main`);
    expect(await stateOf(other, closed)).toBe('closed');
  });

  test('a fast-forward that moved the branch merges a request that was closed before the settlement', async () => {
    const place = await scene.place();
    const request = await open1(place);
    await refuseFastForward(place, request);
    const git = (await service.app.get(ProjectRepositories).findRepository(place.project.id))!;
    const update = { ref: 'refs/heads/main', oldId: objectId(place.mainSha), newId: objectId(request.commit) };
    const by = { projectId: place.project.id, userId: place.cast.maintainer.id, source: 'api' } as const;
    const pushId = await service.app.get(RefIntents).recordUpdates(by, [update]);
    await as(place).put(`${place.path}/${request.iid}`).send({ state_event: 'close' }).expect(200);
    await git.run({ args: ['update-ref', update.ref, update.newId, update.oldId] });
    await service.app.get(PushSettlement).settlePush(git, pushId, null);
    expect(await stateOf(place, request)).toBe('merged');
  });

  test('a fast-forward merges no request of the same head that was closed before', async () => {
    const place = await scene.place({ merge_settings: { merge_method: 'ff' } });
    const request = await open1(place);
    await refuseFastForward(place, request);
    await as(place).put(`${place.path}/${request.iid}`).send({ state_event: 'close' }).expect(200);
    const long = `update merge_requests set closed_at = closed_at - interval '2 minutes' where project_id = $1 and iid = $2`;
    await service.database.query(long, [place.project.id, request.iid]);
    const sent = { title: 'The same change', source_branch: 'change', target_branch: 'main' };
    const { body } = await as(place).post(place.path).send(sent).expect(201);
    const maintainer = service.app.as(service.seed.viewer(place.cast.maintainer));
    await maintainer.put(`${place.path}/${(body as OpenedMergeRequest).iid}/merge`).expect(200);
    expect(await stateOf(place, request)).toBe('closed');
  });

  test('a merge leaves a push of git alone that has not moved all its refs yet', async () => {
    const place = await scene.place({ merge_settings: { merge_method: 'ff' } });
    const request = await open1(place);
    await refuseFastForward(place, request);
    const git = (await service.app.get(ProjectRepositories).findRepository(place.project.id))!;
    const newId = objectId(request.commit);
    const updates = [
      { ref: 'refs/heads/main', oldId: objectId(place.mainSha), newId },
      { ref: 'refs/heads/second', oldId: NO_OBJECT, newId },
    ];
    const by = { projectId: place.project.id, userId: place.cast.maintainer.id, source: 'git' } as const;
    const pushId = await service.app.get(RefIntents).recordUpdates(by, updates);
    await git.run({ args: ['update-ref', 'refs/heads/main', newId] });
    await as(place).put(`${place.path}/${request.iid}/merge`);
    await git.run({ args: ['update-ref', 'refs/heads/second', newId] });
    await service.app.get(PushSettlement).settlePush(git, pushId, new Set(updates.map(({ ref }) => ref)));
    const states = 'select state from ref_updates where push_id = $1';
    expect(await service.database.query(states, [pushId])).toEqual([{ state: 'done' }, { state: 'done' }]);
    expect(await stateOf(place, request)).toBe('merged');
  });
});
