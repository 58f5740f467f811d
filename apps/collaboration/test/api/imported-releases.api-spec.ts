import type { DirectoryProject } from '@rookery/contracts';
import { INTERNAL_PATHS } from '@rookery/contracts';
import { GitClient, internalAuthorization } from '@rookery/testing';
import type { SeededService, SeededUser } from '@rookery/testing';
import { startCollaboration } from '../support/app';

let service: SeededService;
let git: GitClient;
let owner: SeededUser;
let robin: SeededUser;
let places = 0;
beforeAll(async () => {
  service = await startCollaboration();
  git = await GitClient.make();
  [owner, robin] = [await service.seed.user(), await service.seed.user()];
});
afterAll(async () => {
  await git.close();
  await service.close();
});

const KEY = internalAuthorization('import', 'collaboration');
const AT = '2024-01-02T03:04:05.000Z';
const LATER = '2024-02-03T04:05:06.000Z';
const PUSH = ['-c', `http.extraHeader=Authorization: ${KEY}`, 'push', '--quiet', 'origin'];

/** A project with a commit on `main`, which the import pushed with the tags `v1` and `v2`. */
interface Place {
  readonly project: DirectoryProject;
  readonly sha: string;
}

async function place(): Promise<Place> {
  const project = await service.seed.project({ default_branch: 'main' });
  await service.seed.member(owner, project, 'owner');
  const folder = `work-${++places}`;
  await git.init(folder, `${service.app.baseUrl}/internal/repositories/${project.id}`);
  await git.ok(folder, 'tag', 'v1');
  await git.ok(folder, 'tag', '-m', 'Annotated', 'v2');
  await git.ok(folder, ...PUSH, 'main', 'v1', 'v2');
  return { project, sha: (await git.ok(folder, 'rev-parse', 'HEAD')).trim() };
}

const release = (id: number, tag: string, over: object = {}) => ({
  ...{ id, tag, name: `Release ${id}`, description: 'By @robin', author_id: robin.id },
  ...{ created_at: AT, released_at: LATER },
  ...over,
});
const importedBranch = (name: string, over: object = {}) => ({
  ...{ name, allows_force_push: false, needs_merge_request: false },
  ...over,
});
const importObjects = async ({ project }: Place, kind: string, objects: readonly object[]) => {
  const body = { project_id: project.id, import_type: 'remote', kind, objects };
  const request = service.app.bare().post(INTERNAL_PATHS.importObjects).set('authorization', KEY);
  return (await request.send(body).expect(200)).body.failed as object[];
};
const ownerClient = () => service.app.as(service.seed.viewer(owner));
const show = async ({ project }: Place, path: string) =>
  (await ownerClient().get(`/api/v4/projects/${project.id}${path}`).expect(200)).body as Record<string, unknown>[];

describe('releases', () => {
  it('are added to tags with their authors and times', async () => {
    const at = await place();
    const all = [release(1, 'v1'), release(2, 'v2', { name: null, description: null, released_at: AT })];
    expect(await importObjects(at, 'release', all)).toEqual([]);
    expect(await show(at, '/releases')).toMatchObject([
      {
        ...{ tag_name: 'v1', name: 'Release 1', description: 'By `@robin`', author: { id: robin.id } },
        ...{ created_at: AT, released_at: LATER, commit: { id: at.sha } },
      },
      { tag_name: 'v2', name: 'v2', description: null, released_at: AT, commit: { id: at.sha } },
    ]);
  });

  it('are left out without a tag, with a tag in use, and with texts that break a rule', async () => {
    const at = await place();
    await ownerClient()
      .post(`/api/v4/projects/${at.project.id}/releases`)
      .send({ tag_name: 'v1', name: 'Own' })
      .expect(201);
    expect(
      await importObjects(at, 'release', [
        release(1, 'v1'),
        release(2, 'v9'),
        release(3, 'a..b'),
        release(4, 'v2', { name: 'x'.repeat(256) }),
        release(5, 'v2'),
        release(6, 'v2'),
      ]),
    ).toEqual([
      { index: 1, message: 'Tag was not imported.' },
      { index: 2, message: 'Tag was not imported.' },
      { index: 3, message: 'Name is too long (maximum is 255 characters).' },
      { index: 0, message: 'Its tag has a release already.' },
      { index: 5, message: 'Its tag has a release already.' },
    ]);
    expect((await show(at, '/releases')).map((one) => one['name']).sort()).toEqual(['Own', 'Release 5']);
  });

  it('change nothing the second time, and do not come back', async () => {
    const at = await place();
    const [{ count: before }] = (await service.database.query('select count(*) from outbox')) as [{ count: string }];
    const answers = await Promise.all(
      [1, 2, 3].map(() => importObjects(at, 'release', [release(1, 'v1'), release(2, 'v2')])),
    );
    expect(answers).toEqual([[], [], []]);
    const [{ count: after }] = (await service.database.query('select count(*) from outbox')) as [{ count: string }];
    expect(after).toBe(before);
    await ownerClient().delete(`/api/v4/projects/${at.project.id}/releases/v1`).expect(200);
    expect(await importObjects(at, 'release', [release(1, 'v1'), release(2, 'v2', { name: 'Other' })])).toEqual([]);
    expect((await show(at, '/releases')).map((one) => one['name'])).toEqual(['Release 2']);
  });
});

describe('protected branches', () => {
  const rules = async (at: Place) =>
    (await show(at, '/protected_branches')).map((one) => [
      one['name'],
      one['allow_force_push'],
      ...['push_access_levels', 'merge_access_levels'].map((name) =>
        (one[name] as { access_level: number }[]).map((level) => level.access_level),
      ),
    ]);

  it('get rules as upstream has them, also the default branch', async () => {
    const at = await place();
    expect(await rules(at)).toEqual([['main', false, [40], [40]]]);
    expect(
      await importObjects(at, 'protected_branch', [
        importedBranch('main', { needs_merge_request: true }),
        importedBranch('release/1', { allows_force_push: true }),
        importedBranch('a*'),
        importedBranch(''),
        importedBranch('x'.repeat(256)),
      ]),
    ).toEqual([2, 3, 4].map((index) => ({ index, message: 'Name is invalid.' })));
    expect(await rules(at)).toEqual([
      ['main', false, [0], [40]],
      ['release/1', true, [40], [40]],
    ]);
  });

  it('keep a rule that was changed meanwhile', async () => {
    const at = await place();
    const all = [
      importedBranch('main', { needs_merge_request: true }),
      importedBranch('main', { needs_merge_request: true }),
    ];
    expect(await importObjects(at, 'protected_branch', all)).toEqual([]);
    const path = `/api/v4/projects/${at.project.id}/protected_branches/main`;
    await ownerClient().patch(path).send({ allow_force_push: true }).expect(200);
    const before = await rules(at);
    expect(before).toEqual([['main', true, [0], [40]]]);
    expect(await importObjects(at, 'protected_branch', all)).toEqual([]);
    expect(await rules(at)).toEqual(before);
  });
});
