import type { DirectoryProject } from '@rookery/contracts';
import { GitClient, startNats } from '@rookery/testing';
import type { PrivateNats, SeededService, SeededUser } from '@rookery/testing';

import { startCollaboration } from '../support/app';
import { GitFront } from '../support/git-front';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

let service: SeededService;
let nats: PrivateNats;
let worker: Worker;
let front: GitFront;
let git: GitClient;
let maintainer: SeededUser;
let guest: SeededUser;
let at = 0;

beforeAll(async () => {
  nats = await startNats();
  service = await startCollaboration();
  worker = await startWorker({ databaseUrl: service.databaseUrl, nats });
  git = await GitClient.make();
  front = await new GitFront(service.app, () => service.seed.anonymous()).start();
  [maintainer, guest] = [await service.seed.user(), await service.seed.user()];
  front.accept('maintainer', () => service.seed.viewer(maintainer));
});
afterAll(async () => {
  await front.stop();
  await git.close();
  await worker.stop();
  await service.close();
  await nats.drop();
});

async function place(over: Partial<DirectoryProject> = {}): Promise<{ project: DirectoryProject; folder: string }> {
  const { visibility = 'private' } = over;
  const group = await service.seed.group({ visibility });
  const project = await service.seed.project({ namespace_id: group.id, default_branch: null, ...over, visibility });
  await service.seed.member(maintainer, project, 'maintainer');
  await service.seed.member(guest, project, 'guest');
  const folder = `work-${++at}`;
  await git.init(folder, front.url(`${group.full_path}/${project.path}.git`, 'maintainer'));
  return { project, folder };
}

async function listEvents(user: SeededUser, path: string): Promise<Record<string, unknown>[]> {
  await worker.drained();
  const { body } = await service.app.as(service.seed.viewer(user)).get(`/api/v4${path}`).expect(200);
  return body as Record<string, unknown>[];
}

it('shows pushes of branches and tags, the newest first', async () => {
  const { project, folder } = await place();
  const first = (await git.ok(folder, 'rev-parse', 'HEAD')).trim();
  await git.ok(folder, 'push', '--quiet', 'origin', 'main');
  const second = await git.commit(folder, `Second ${'long '.repeat(20)}`);
  await git.ok(folder, 'push', '--quiet', 'origin', 'main', 'main:refs/tags/v1');
  await git.ok(folder, 'push', '--quiet', 'origin', 'main:side');
  await git.ok(folder, 'push', '--quiet', 'origin', ':side');
  const shown = await listEvents(maintainer, `/projects/${project.id}/events?action=pushed`);
  const title = expect.stringMatching(/^Second long .{57}…$/);
  const branch = { ref_type: 'branch', ref_count: null };
  expect(shown.map(({ action_name: name, push_data: data }) => [name, data])).toEqual([
    [
      'deleted',
      {
        ...branch,
        action: 'removed',
        ref: 'side',
        commit_from: second,
        commit_to: null,
        commit_count: 0,
        commit_title: null,
      },
    ],
    [
      'pushed new',
      {
        ...branch,
        action: 'created',
        ref: 'side',
        commit_from: null,
        commit_to: second,
        commit_count: 0,
        commit_title: title,
      },
    ],
    [
      'pushed new',
      {
        ...{ ref_type: 'tag', ref_count: null, action: 'created', ref: 'v1', commit_from: null, commit_to: second },
        ...{ commit_count: 0, commit_title: title },
      },
    ],
    [
      'pushed to',
      {
        ...branch,
        action: 'pushed',
        ref: 'main',
        commit_from: first,
        commit_to: second,
        commit_count: 1,
        commit_title: title,
      },
    ],
    [
      'pushed new',
      {
        ...branch,
        action: 'created',
        ref: 'main',
        commit_from: null,
        commit_to: first,
        commit_count: 1,
        commit_title: 'First',
      },
    ],
  ]);
  expect(shown[0]).toMatchObject({ target_type: null, target_id: null, target_title: null, author_id: maintainer.id });
});

it('shows more than three refs of a kind as one entry', async () => {
  const { project, folder } = await place();
  await git.ok(
    folder,
    'push',
    '--quiet',
    'origin',
    ...['a', 'b', 'c', 'd'].map((name) => `main:${name}`),
    'main:refs/tags/t',
  );
  const shown = await listEvents(maintainer, `/projects/${project.id}/events?action=pushed`);
  const nothing = { commit_from: null, commit_to: null, commit_title: null, ref: null, commit_count: 0 };
  expect(shown.map(({ push_data: data }) => data)).toEqual([
    expect.objectContaining({ ref_type: 'tag', ref: 't' }),
    { ...nothing, action: 'created', ref_type: 'branch', ref_count: 4 },
  ]);
});

it('hides pushes from members who do not read code', async () => {
  const [hidden, open] = [await place(), await place({ visibility: 'public' })];
  for (const { folder } of [hidden, open]) await git.ok(folder, 'push', '--quiet', 'origin', 'main');
  const [ofHidden, ofOpen] = [hidden, open].map(({ project: { id } }) => `/projects/${id}/events?action=pushed`);
  expect(await listEvents(guest, ofHidden!)).toEqual([]);
  expect(await listEvents(guest, ofOpen!)).toHaveLength(1);
  expect(await listEvents(maintainer, ofHidden!)).toHaveLength(1);
  const all = (await listEvents(guest, '/events?scope=all&action=pushed')).map(({ project_id: id }) => id);
  expect(all).toEqual([open.project.id]);
  const ofMaintainer = await listEvents(guest, `/users/${maintainer.id}/events?action=pushed`);
  expect(ofMaintainer.map(({ project_id: id }) => id)).not.toContain(hidden.project.id);
  const off = { ...open.project, repository_access_level: 'disabled' };
  await service.seed.put('projects', off);
  expect(await listEvents(maintainer, ofOpen!)).toEqual([]);
});
