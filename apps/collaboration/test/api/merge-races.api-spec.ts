import type { SeededService } from '@rookery/testing';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';
import { startCollaboration } from '../support/app';
import { MergeRequestScene } from '../support/merge-request-scene';
import type { MergePlace } from '../support/merge-request-scene';

let service: SeededService;
let scene: MergeRequestScene;
beforeAll(async () => {
  service = await startCollaboration();
  scene = await MergeRequestScene.start(service);
}, 60_000);
afterAll(async () => {
  await scene.stop();
  await service.close();
});

const MERGES = 20;
const CLOSED = 4;
const PUSHES = 4;

interface Request {
  readonly iid: number;
  readonly commit: string;
}

const as = ({ cast }: MergePlace) => service.app.as(service.seed.viewer(cast.developer));

/** Opens merge requests of one commit each, in one push. */
async function open(place: MergePlace): Promise<Request[]> {
  const { git } = scene;
  const names = Array.from({ length: MERGES }, (_, n) => `change-${n}`);
  const commits: string[] = [];
  for (const name of names) {
    await git.ok(place.folder, 'checkout', '--quiet', '-B', name, 'origin/main');
    commits.push(await git.commit(place.folder, name, `${name}.txt`));
  }
  await git.ok(place.folder, 'push', '--quiet', 'origin', ...names);
  const requests: Request[] = [];
  for (const [n, name] of names.entries()) {
    const sent = { title: name, source_branch: name, target_branch: 'main' };
    const { body } = await as(place).post(place.path).send(sent).expect(201);
    requests.push({ iid: (body as Request).iid, commit: commits[n]! });
  }
  return requests;
}

const merge = async (place: MergePlace, { iid }: Request): Promise<number> =>
  (await as(place).put(`${place.path}/${iid}/merge`)).status;
const stateOf = async (place: MergePlace, { iid }: Request): Promise<string> =>
  ((await as(place).get(`${place.path}/${iid}`).expect(200)).body as { state: string }).state;

/** How often each commit is in the history of `main`. */
async function history({ project }: MergePlace): Promise<ReadonlyMap<string, number>> {
  const repository = (await service.app.get(ProjectRepositories).find(project.id))!;
  const counts = new Map<string, number>();
  const { stdout } = await repository.run({ args: ['rev-list', 'refs/heads/main'] });
  for (const id of stdout.toString().trim().split('\n')) counts.set(id, (counts.get(id) ?? 0) + 1);
  await repository.run({ args: ['fsck', '--strict', '--no-dangling'] });
  return counts;
}

test('of 20 merges into one branch at once, each is in the history once', async () => {
  const place = await scene.place();
  const requests = await open(place);
  const statuses = await Promise.all(requests.map((request) => merge(place, request)));
  // A busy server may refuse some for load; the client tries again.
  for (const [n, request] of requests.entries()) {
    if (statuses[n] === 200 || (await stateOf(place, request)) === 'merged') continue;
    expect(await merge(place, request)).toBe(200);
  }
  const counts = await history(place);
  expect(requests.map(({ commit }) => counts.get(commit))).toEqual(requests.map(() => 1));
});

test('merges at once with pushes to the branch and with closing: merged or refused, and nothing is lost', async () => {
  const place = await scene.place();
  const requests = await open(place);
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
  const counts = await history(place);
  for (const [n, request] of requests.entries()) {
    const state = await stateOf(place, request);
    expect([state, counts.get(request.commit) ?? 0]).toEqual([state, state === 'merged' ? 1 : 0]);
    if (statuses[n] === 200) expect(state).toBe('merged');
  }
  expect(pushed.map((id) => counts.get(id))).toEqual(pushed.map(() => 1));
  expect(statuses).toContain(200);
});
