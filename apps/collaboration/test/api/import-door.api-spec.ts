import type { DirectoryProject } from '@rookery/contracts';
import { GitClient, internalAuthorization } from '@rookery/testing';
import type { SeededService, SeededUser } from '@rookery/testing';
import { eventsOf, startCollaboration } from '../support/app';

let service: SeededService;
let git: GitClient;
let owner: SeededUser;
let at = 0;
beforeAll(async () => {
  service = await startCollaboration();
  git = await GitClient.make();
  owner = await service.seed.user();
});
afterAll(async () => {
  await git.close();
  await service.close();
});

const KEY = internalAuthorization('import', 'collaboration');
const importUrl = ({ id }: { readonly id: number }) => `${service.app.baseUrl}/internal/repositories/${id}`;

async function place(over: Partial<DirectoryProject> = {}): Promise<{ project: DirectoryProject; folder: string }> {
  const project = await service.seed.project({ default_branch: 'trunk', ...over });
  await service.seed.member(owner, project, 'owner');
  const folder = `work-${++at}`;
  await git.init(folder, importUrl(project));
  return { project, folder };
}

const push = (folder: string, refspecs: readonly string[], authorization = KEY) =>
  git.run(folder, '-c', `http.extraHeader=Authorization: ${authorization}`, 'push', 'origin', ...refspecs);
const branchesOf = async ({ id }: DirectoryProject): Promise<Record<string, unknown>[]> => {
  const client = service.app.as(service.seed.viewer(owner));
  return (await client.get(`/api/v4/projects/${id}/repository/branches`).expect(200)).body as Record<string, unknown>[];
};

it('stores pushes of the import service, and settles them without a user', async () => {
  const { project, folder } = await place();
  await git.ok(folder, 'tag', 'v1');
  expect(await push(folder, ['main', 'main:trunk', 'v1'])).toMatchObject({ code: 0 });
  expect((await branchesOf(project)).map((branch) => [branch['name'], branch['default'], branch['protected']])).toEqual(
    [
      ['main', false, false],
      ['trunk', true, true],
    ],
  );
  const events = (await eventsOf(service.database, 'collaboration.push.completed.v1')) as Record<string, unknown>[];
  expect(events.filter((event) => event['project_id'] === project.id)).toEqual([
    expect.objectContaining({ user_id: null, default_branch: 'trunk' }),
  ]);
});

it('accepts the same push again, and later commits of a protected branch', async () => {
  const { folder } = await place();
  expect(await push(folder, ['main:trunk'])).toMatchObject({ code: 0 });
  expect(await push(folder, ['main:trunk'])).toMatchObject({ code: 0 });
  await git.commit(folder, 'Second');
  expect(await push(folder, ['main:trunk'])).toMatchObject({ code: 0 });
});

it('applies the rules of pushes', async () => {
  const { project, folder } = await place();
  for (const ref of ['refs/merge-requests/1/head', 'refs/keep-around/x', `refs/heads/${'a'.repeat(40)}`]) {
    expect(await push(folder, [`main:${ref}`])).toMatchObject({ code: 1 });
  }
  expect(await branchesOf(project)).toEqual([]);
});

it('refuses other callers, other services of git, and projects that are missing or archived', async () => {
  const { project, folder } = await place();
  const refs = (id: number, name: string, authorization = KEY) =>
    service.app
      .bare()
      .get(`/internal/repositories/${id}/info/refs`)
      .query({ service: name })
      .set('authorization', authorization);
  await refs(project.id, 'git-receive-pack', '').expect(401);
  await refs(project.id, 'git-receive-pack', internalAuthorization('package', 'collaboration')).expect(403);
  await refs(project.id, 'git-upload-pack').expect(404);
  await refs(999_999, 'git-receive-pack').expect(404);
  await refs(project.id, 'git-receive-pack')
    .expect(200)
    .expect('content-type', 'application/x-git-receive-pack-advertisement');
  const packs = `/internal/repositories/${project.id}/git-receive-pack`;
  await service.app
    .bare()
    .post(packs)
    .set('authorization', internalAuthorization('identity', 'collaboration'))
    .expect(403);
  await service.app.bare().post(`/internal/repositories/x/git-receive-pack`).set('authorization', KEY).expect(404);
  await service.seed.put('projects', { ...project, archived: true });
  expect(await push(folder, ['main'])).toMatchObject({ code: 128 });
});
